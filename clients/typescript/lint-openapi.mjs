// Lints an OpenAPI description by Redocly's strict rules: node lint-openapi.mjs FILE; exit code 1 with the problems.
import { createConfig, lint } from "@redocly/openapi-core";

const problems = await lint({
  ref: process.argv[2],
  config: await createConfig({ extends: ["recommended-strict"] }),
});
for (const { ruleId, message, location } of problems) {
  console.log(`${location[0]?.pointer}: ${message} (${ruleId})`);
}
process.exit(problems.length ? 1 : 0);
