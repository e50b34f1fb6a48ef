"""A receiver of callbacks: `python -m bench.peers.receiver PORT`; POST takes one, GET tells what came, as JSON."""

import asyncio
import sys
import time
from dataclasses import dataclass, field
from datetime import datetime

import orjson

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"


@dataclass
class Received:
    """What came: how many callbacks, of how many events, and how long after its event each came, in milliseconds."""

    callbacks: int = 0
    events: set[bytes] = field(default_factory=set)
    late: list[float] = field(default_factory=list)

    def take(self, identity: bytes, body: bytes) -> None:
        """One callback; only the first of an event counts for its lateness."""
        self.callbacks += 1
        if identity not in self.events:
            self.events.add(identity)
            at = datetime.fromisoformat(orjson.loads(body)["timestamp"]).timestamp()
            self.late.append((time.time() - at) * 1000)

    def told(self) -> bytes:
        """The counts and the percentiles."""
        late = sorted(self.late)
        found = {"callbacks": self.callbacks, "events": len(self.events)}
        shares = {f"p{share}": round(late[share * (len(late) - 1) // 100], 1) for share in (50, 99)} if late else {}
        return orjson.dumps({**found, **shares})

    def forget(self) -> None:
        """Begins to count anew."""
        self.callbacks = 0
        self.events.clear()
        self.late.clear()


async def serve(port: int) -> None:
    """Answers until the process is ended; DELETE begins to count anew."""
    received = Received()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                method = head.partition(b" ")[0]
                fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
                fields = {name.lower(): value for name, value in fields.items()}
                body = await reader.readexactly(int(fields.get(b"content-length", b"0")))
                if method == b"POST":
                    received.take(fields[b"webhook-id"], body)
                told = received.told() if method == b"GET" else b"{}"
                if method == b"DELETE":
                    received.forget()
                writer.write(OK % (len(told), told))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
