"""Reads whole results page by page, as a process of its own; prints what it counted as one JSON line.

Each client reads the results of one body after the other until the time is over: by the service's cursor where the
body has one, else by a point in time and `search_after`, as the engine's documentation shows it. A page's time is that
from its request to its last byte. Opening and closing a point in time are no pages, but take their time from the run.
"""

import json
import sys
import time
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import click
import orjson

from bench.clients.connection import Connection
from bench.clients.wrk import Run, run_generator
from bench.figures import percentile

KEEP_ALIVE = "5m"  # as long as the service keeps its points in time

Json = dict[str, Any]


@dataclass
class Reader:
    """One client: its connection, the microseconds of each page, and what the pages held."""

    connection: Connection
    page_times: list[int] = field(default_factory=list)
    items: int = 0
    bytes: int = 0

    def close(self) -> None:
        """Closes the connection."""
        self.connection.close()

    def pages(self, path: str, body: Json) -> Generator[list[Any], None, None]:
        """The pages of one body."""
        return self._by_cursor(path, body) if "cursor" in body else self._by_point_in_time(path, body)

    def read(self, path: str, bodies: Iterator[Json], deadline: float) -> None:
        """Reads the results of the bodies until the deadline."""
        for body in bodies:
            with closing(self.pages(path, body)) as pages:
                for page in pages:
                    self.items += len(page)
                    if time.perf_counter() >= deadline:
                        return

    def _page(self, path: str, body: Json) -> Json:
        content, seconds = self.connection.request("POST", path, orjson.dumps(body))
        self.page_times.append(round(seconds * 1e6))
        self.bytes += len(content)
        page: Json = orjson.loads(content)
        return page

    def _by_cursor(self, path: str, body: Json) -> Generator[list[Any], None, None]:
        cursor, count = body["cursor"], 0
        while cursor is not None:
            response = self._page(path, {**body, "cursor": cursor})
            cursor = response["nextCursor"]
            count += len(response["gear"])
            if cursor is None and count != response["total"]:
                message = f"the pages ended after {count} of {response['total']} items: {body}"
                raise OSError(message)
            yield response["gear"]

    def _by_point_in_time(self, path: str, body: Json) -> Generator[list[Any], None, None]:
        content, _ = self.connection.request("POST", f"{path}/point_in_time?keep_alive={KEEP_ALIVE}")
        pit_id = orjson.loads(content)["pit_id"]
        query = {**body, "pit": {"id": pit_id, "keep_alive": KEEP_ALIVE}}
        try:
            while hits := self._page("/_search", query)["hits"]["hits"]:
                yield hits
                if len(hits) < body["size"]:
                    break
                query["search_after"] = hits[-1]["sort"]
        finally:
            self.connection.request("DELETE", "/_search/point_in_time", orjson.dumps({"pit_id": [pit_id]}))


def read_all(
    address: str, path: str, bodies: list[Json], clients: int, seconds: float, headers: Mapping[str, str]
) -> Run:
    """Reads with so many clients, each beginning at another body."""
    started = time.perf_counter()
    with ExitStack() as stack:
        readers = [stack.enter_context(closing(Reader(Connection(address, headers)))) for _ in range(clients)]
        pool = stack.enter_context(ThreadPoolExecutor(clients))
        starts = (number * len(bodies) // clients for number in range(clients))
        turns = [islice(cycle(bodies), start, None) for start in starts]
        futures = [
            pool.submit(reader.read, path, turn, started + seconds) for reader, turn in zip(readers, turns, strict=True)
        ]
        for future in futures:
            future.result()
    microseconds = round((time.perf_counter() - started) * 1e6)
    page_times = sorted(page_time for reader in readers for page_time in reader.page_times)
    return Run(
        requests=len(page_times),
        microseconds=microseconds,
        p50=round(percentile(page_times, 0.5)),
        p90=round(percentile(page_times, 0.9)),
        p99=round(percentile(page_times, 0.99)),
        max=page_times[-1],
        status_errors=0,
        socket_errors=0,
        bytes=sum(reader.bytes for reader in readers),
        items=sum(reader.items for reader in readers),
    )


def run(
    address: str, path: str, bodies: Path, *, first: int, clients: int, seconds: float, headers: Mapping[str, str]
) -> Run:
    """Starts the process, from the `first` body on; raises FailedRunError where any page failed."""
    numbers = (str(first), str(clients), str(seconds))
    command = [sys.executable, "-m", "bench.clients.cursor", address, path, str(bodies), *numbers]
    for name, value in headers.items():
        command += ["--header", name, value]
    return run_generator(command)


@click.command()
@click.argument("address")
@click.argument("path")
@click.argument("bodies", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("first", type=int)
@click.argument("clients", type=int)
@click.argument("seconds", type=float)
@click.option("--header", "headers", multiple=True, type=(str, str))
def main(
    address: str,
    path: str,
    bodies: Path,
    first: int,
    clients: int,
    seconds: float,
    headers: tuple[tuple[str, str], ...],
) -> None:
    """Reads the results of BODIES, from the one numbered FIRST on."""
    lines = bodies.read_bytes().splitlines()
    rotated = [orjson.loads(line) for line in (*lines[first:], *lines[:first])]
    click.echo(json.dumps(asdict(read_all(address, path, rotated, clients, seconds, dict(headers)))))


if __name__ == "__main__":
    main()
