"""Receives callbacks and keeps each event once: GEAR_WEBHOOK_SECRET=whsec_… python receiver.py PORT DATABASE

It verifies the raw bytes, stores the event under its id and responds; what is to be done with an event reads the table
`events` and may take its time. A callback that comes again has the same id and changes nothing.
"""

import os
import sqlite3
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from gear_client import CallbackError, verify_callback

MAX_BYTES = 1 << 20
SECRET = os.environ["GEAR_WEBHOOK_SECRET"]


class Receiver(BaseHTTPRequestHandler):
    """One callback."""

    timeout = 10  # seconds that a sender may take for its request

    def do_POST(self) -> None:
        """204 where the event is stored, 401 where it is not one of the service."""
        size = int(self.headers.get("Content-Length", 0))
        if size > MAX_BYTES:
            self.respond(413)
            return
        body = self.rfile.read(size)
        try:
            event = verify_callback(body, dict(self.headers.items()), SECRET)
        except CallbackError:
            self.respond(401)
            return
        with database:  # a commit: the response goes out once the event is on the disk
            data = event["data"]
            subject = data["search"] if event["type"] == "search.matched" else data["order"]
            row = (self.headers["webhook-id"], event["type"], subject["id"], body)
            database.execute("INSERT OR IGNORE INTO events (id, type, about, body) VALUES (?, ?, ?, ?)", row)
        self.respond(204)

    def respond(self, status: int) -> None:
        """An empty response."""
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


port, file = int(sys.argv[1]), sys.argv[2]
database = sqlite3.connect(file)
database.execute("CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, type TEXT, about TEXT, body BLOB)")
print(f"listening on http://127.0.0.1:{port}", flush=True)
HTTPServer(("127.0.0.1", port), Receiver).serve_forever()
