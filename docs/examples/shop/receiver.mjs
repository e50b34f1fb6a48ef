// Receives callbacks and prints each event once: GEAR_WEBHOOK_SECRET=whsec_… node receiver.mjs PORT
//
// It verifies the text as it came and responds; put events into a queue where this prints them. A callback that comes
// again has the same id: a real receiver keeps the ids where they outlive the process.
import { createServer } from "node:http";

import { CallbackError, verifyCallback } from "gear-client";

const seen = new Set();

const server = createServer(async (request, response) => {
  let body = "";
  for await (const part of request.setEncoding("utf8")) body += part;
  try {
    const event = verifyCallback(body, request.headers, process.env.GEAR_WEBHOOK_SECRET);
    if (!seen.has(request.headers["webhook-id"])) console.log(event.type, (event.data.order ?? event.data.search).id);
    seen.add(request.headers["webhook-id"]);
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(error instanceof CallbackError ? 401 : 500).end();
  }
});
server.listen(Number(process.argv[2]), "127.0.0.1", () => console.log("listening"));
