"""A receiver of callbacks: `python -m bench.peers.receiver PORT`.

POST takes a callback, GET returns what came, DELETE begins to count anew.
"""

import sys
import time
from dataclasses import dataclass, field
from datetime import datetime

import orjson
from aiohttp import web

from bench.figures import percentile


@dataclass
class Received:
    """How many callbacks came, of which events, and the milliseconds from each event to its first callback."""

    callbacks: int = 0
    events: set[str] = field(default_factory=set)
    delays: list[float] = field(default_factory=list)

    async def take(self, request: web.Request) -> web.Response:
        """Counts a callback; only the first of an event counts for its delay."""
        body = await request.read()
        self.callbacks += 1
        event = request.headers["webhook-id"]
        if event not in self.events:
            self.events.add(event)
            at = datetime.fromisoformat(orjson.loads(body)["timestamp"]).timestamp()
            self.delays.append((time.time() - at) * 1000)
        return web.json_response({})

    async def counts(self, request: web.Request) -> web.Response:
        """The counts, and percentiles of the delays."""
        delays = sorted(self.delays)
        shares = {f"p{share}": round(percentile(delays, share / 100), 1) for share in (50, 99)} if delays else {}
        return web.json_response({"callbacks": self.callbacks, "events": len(self.events), **shares})

    async def reset(self, request: web.Request) -> web.Response:
        """Begins to count anew."""
        self.callbacks = 0
        self.events.clear()
        self.delays.clear()
        return web.json_response({})


def main(port: int) -> None:
    """Serves until the process is ended."""
    received = Received()
    app = web.Application()
    app.add_routes(
        [
            web.post("/{path:.*}", received.take),
            web.get("/", received.counts),
            web.delete("/", received.reset),
        ]
    )
    web.run_app(app, host="127.0.0.1", port=port, access_log=None, print=None)


if __name__ == "__main__":
    main(int(sys.argv[1]))
