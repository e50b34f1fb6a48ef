"""Readers who wait for changes, each on a connection of its own: run as a process by `bench.runs.feed`."""

import asyncio
import json
import sys
from typing import Any
from urllib.parse import urlsplit

OPENING = 100  # connections opened at once
RETRY_SECONDS = 1.0


async def _wait(request: bytes, host: str, port: int, opening: asyncio.Semaphore, waits: asyncio.Event) -> None:
    """Asks again whenever it is answered; reads a stream without end."""
    async with opening:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(request)
        await writer.drain()
    waits.set()
    while True:
        head = await reader.readuntil(b"\r\n\r\n")
        if b"text/event-stream" in head:
            while await reader.read(65536):
                pass
            sys.exit("a stream has ended")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        content = await reader.readexactly(length)
        if head.startswith(b"HTTP/1.1 503"):  # so many at once are answered one after the other
            await asyncio.sleep(RETRY_SECONDS)
        elif not head.startswith(b"HTTP/1.1 200"):
            sys.exit(f"{head!r} {content[:300]!r}")
        writer.write(request)


async def main(target: dict[str, Any], bodies: list[dict[str, Any]], count: int) -> None:
    """Keeps so many readers waiting until the process is ended; says `waiting` once all of them wait."""
    address = urlsplit(target["address"])
    heads = "".join(f"{name}: {value}\r\n" for name, value in target["headers"].items())
    requests = []
    for body in bodies:
        content = json.dumps(body)
        head = f"POST {target['path']} HTTP/1.1\r\nHost: {address.netloc}\r\n{heads}Content-Length: {len(content)}"
        requests.append(f"{head}\r\n\r\n{content}".encode())
    opening, events = asyncio.Semaphore(OPENING), [asyncio.Event() for _ in range(count)]
    async with asyncio.TaskGroup() as tasks:
        for number, waits in enumerate(events):
            request = requests[number % len(requests)]
            tasks.create_task(_wait(request, str(address.hostname), address.port or 80, opening, waits))
        for waits in events:
            await waits.wait()
        sys.stdout.write("waiting\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3])))
