// A request as code: JSON, curl, Python and TypeScript that work as they stand.
const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const ESCAPES = { "\u2028": "\\u2028", "\u2029": "\\u2029" };
const quoted = (text) => JSON.stringify(text).replace(/[\u2028\u2029]/g, (mark) => ESCAPES[mark]);

/** JSON with short objects and lists on one line, as a person would write it. */
export function pretty(value, indent = "", write = quoted) {
  if (value === null || typeof value !== "object") return write(value);
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((part) => [null, part])
    : Object.entries(value).filter(([, part]) => part !== undefined);
  const [open, close] = isList ? "[]" : "{}";
  const line = (inner) => parts.map(([name, part]) => (name === null ? "" : `${quoted(name)}: `) + pretty(part, inner, write));
  const short = open + line(indent).join(", ") + close;
  if (short.length + indent.length <= 76 && !short.includes("\n")) return short;
  const inner = `${indent}  `;
  return `${open}\n${line(inner).map((part) => inner + part).join(",\n")}\n${indent}${close}`;
}

const pythonValue = (value) => ({ true: "True", false: "False", null: "None" })[String(value)] ?? quoted(value);
const python = (value) => pretty(value, "", (part) => (typeof part === "string" ? quoted(part) : pythonValue(part)));
const extra = (entry) => Object.entries(entry.headers);

function curl(entry, url, key) {
  const lines = [`curl -s${entry.method === "GET" || entry.body !== null ? "" : ` -X ${entry.method}`} ${shell(url)}`];
  lines.push(`  -H "Authorization: Bearer ${key ?? "$GEAR_TOKEN"}"`);
  for (const [name, value] of extra(entry)) lines.push(`  -H ${shell(`${name}: ${value}`)}`);
  if (entry.body !== null) lines.push("  -H 'Content-Type: application/json'", `  -d ${shell(pretty(entry.body))}`);
  return lines.join(" \\\n");
}

function inPython(entry, url, key) {
  const token = key === null ? 'f"Bearer {os.environ[\'GEAR_TOKEN\']}"' : quoted(`Bearer ${key}`);
  const headers = [`        "Authorization": ${token},`, ...extra(entry).map(([name, value]) => `        ${quoted(name)}: ${quoted(value)},`)];
  if (entry.body !== null) headers.push('        "Content-Type": "application/json",');
  return [
    `import json${key === null ? "\nimport os" : ""}`, "import urllib.request", "",
    ...(entry.body === null ? [] : [`body = ${python(entry.body)}`]),
    "request = urllib.request.Request(", `    ${quoted(url)},`, `    method="${entry.method}",`,
    "    headers={", ...headers, "    },", ...(entry.body === null ? [] : ["    data=json.dumps(body).encode(),"]), ")",
    "with urllib.request.urlopen(request) as response:", "    print(json.dumps(json.load(response), indent=2))", "",
  ].join("\n");
}

function typescript(entry, url, key) {
  const token = key === null ? "`Bearer ${process.env.GEAR_TOKEN}`" : quoted(`Bearer ${key}`);
  const headers = [`    Authorization: ${token},`, ...extra(entry).map(([name, value]) => `    ${quoted(name)}: ${quoted(value)},`)];
  if (entry.body !== null) headers.push('    "Content-Type": "application/json",');
  return [
    `const response = await fetch(${quoted(url)}, {`, `  method: "${entry.method}",`, "  headers: {", ...headers, "  },",
    ...(entry.body === null ? [] : [`  body: JSON.stringify(${pretty(entry.body, "  ")}),`]), "});",
    "if (!response.ok) throw new Error(await response.text());", "console.log(JSON.stringify(await response.json(), null, 2));", "",
  ].join("\n");
}

export const LANGUAGES_OF_CODE = { json: "JSON", curl: "curl", python: "Python", typescript: "TypeScript" };

/** The request in a language; `key` null: from the environment. */
export function codeOf(language, entry, origin, key) {
  const url = origin + entry.path;
  if (language === "curl") return curl(entry, url, key);
  if (language === "python") return inPython(entry, url, key);
  if (language === "typescript") return typescript(entry, url, key);
  return entry.body === null ? `${entry.method} ${entry.path}` : pretty(entry.body);
}

const TOKENS = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)|\b(import|with|as|const|await|if|throw|new|print|True|False|None|true|false|null|curl)\b|(-?\b\d+(?:\.\d+)?\b)/g;

/** The code in parts of a kind each: strings, keywords, numbers and the rest. */
export function highlighted(code) {
  const parts = [];
  let at = 0;
  for (const match of code.matchAll(TOKENS)) {
    if (match.index > at) parts.push(["", code.slice(at, match.index)]);
    const kind = match[1] !== undefined ? (/^\s*:/.test(code.slice(match.index + match[0].length)) ? "name" : "string") : match[2] !== undefined ? "keyword" : "number";
    parts.push([kind, match[0]]);
    at = match.index + match[0].length;
  }
  parts.push(["", code.slice(at)]);
  return parts;
}
