"""Walks over whole results: bodies of searches in; pages, items and times a page of one run, as one JSON line, out.

A process of its own, as wrk is. Each client walks one body after the other, page after page to the end, until the time
is over: a body with a cursor by the service's cursors, any other as the engine's pages show it, by a point in time and
`search_after`. A page's time is that from its request to its last byte; opening and closing a point in time are no
pages, but take their time from the run.
"""

import json
import sys
import time
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import click
import orjson

from bench.peers.connection import Connection
from bench.report.figures import percentile
from bench.runs.wrk import Run, told_by

KEEP_ALIVE = "5m"  # as long as the service keeps its cursors

Json = dict[str, Any]


@dataclass
class Walker:
    """One client: a connection of its own, and what its pages took (microseconds)."""

    connection: Connection
    took: list[int] = field(default_factory=list)
    items: int = 0
    bytes: int = 0

    def close(self) -> None:
        """Ends the connection."""
        self.connection.close()

    def page(self, path: str, body: Json) -> Json:
        """A page, counted by its bytes and its time."""
        told, seconds = self.connection.ask("POST", path, orjson.dumps(body))
        self.took.append(round(seconds * 1e6))
        self.bytes += len(told)
        page: Json = orjson.loads(told)
        return page

    def pages(self, path: str, body: Json) -> Generator[list[Any], None, None]:
        """The pages of one body, in either way."""
        return self._by_cursor(path, body) if "cursor" in body else self._by_point_in_time(path, body)

    def _by_cursor(self, path: str, body: Json) -> Generator[list[Any], None, None]:
        cursor, seen = body["cursor"], 0
        while cursor is not None:
            told = self.page(path, {**body, "cursor": cursor})
            cursor = told["nextCursor"]
            seen += len(told["gear"])
            if cursor is None and seen != told["total"]:
                message = f"a walk ended after {seen} of {told['total']} items: {body}"
                raise OSError(message)
            yield told["gear"]

    def _by_point_in_time(self, path: str, body: Json) -> Generator[list[Any], None, None]:
        opened, _ = self.connection.ask("POST", f"{path}/point_in_time?keep_alive={KEEP_ALIVE}", b"")
        view = orjson.loads(opened)["pit_id"]
        asked = {**body, "pit": {"id": view, "keep_alive": KEEP_ALIVE}}
        try:
            # without hits on a page there are none behind it; a page that is not full is the last one
            while hits := self.page("/_search", asked)["hits"]["hits"]:
                yield hits
                if len(hits) < body["size"]:
                    break
                asked["search_after"] = hits[-1]["sort"]
        finally:
            self.connection.ask("DELETE", "/_search/point_in_time", orjson.dumps({"pit_id": [view]}))

    def walk(self, path: str, bodies: Iterator[Json], until: float) -> None:
        """Walks through bodies until the time is over."""
        for body in bodies:
            pages = self.pages(path, body)
            try:
                for page in pages:
                    self.items += len(page)
                    if time.perf_counter() >= until:
                        return
            finally:
                pages.close()


def walked(
    address: str, path: str, bodies: list[Json], clients: int, seconds: float, headers: Mapping[str, str]
) -> Run:
    """Walks with so many clients, each from another body on."""
    began = time.perf_counter()
    with ExitStack() as stack:
        walkers = [stack.enter_context(closing(Walker(Connection(address, headers)))) for _ in range(clients)]
        pool = stack.enter_context(ThreadPoolExecutor(clients))
        starts = (number * len(bodies) // clients for number in range(clients))
        turns = [(bodies[(start + at) % len(bodies)] for at in count()) for start in starts]
        done = [
            pool.submit(walker.walk, path, turn, began + seconds) for walker, turn in zip(walkers, turns, strict=True)
        ]
        for one in done:
            one.result()
    microseconds = round((time.perf_counter() - began) * 1e6)
    took = sorted(one for walker in walkers for one in walker.took)
    return Run(
        requests=len(took),
        microseconds=microseconds,
        p50=round(percentile(took, 0.5)),
        p90=round(percentile(took, 0.9)),
        p99=round(percentile(took, 0.99)),
        most=took[-1],
        refused=0,
        broken=0,
        bytes=sum(walker.bytes for walker in walkers),
        items=sum(walker.items for walker in walkers),
    )


def run(
    address: str, path: str, bodies: Path, *, first: int, clients: int, seconds: float, headers: Mapping[str, str]
) -> Run:
    """Starts the walk from the `first` body on as a process; raises BrokenRunError where any page was not answered."""
    command = [
        sys.executable,
        "-m",
        "bench.runs.walk",
        address,
        path,
        str(bodies),
        str(first),
        str(clients),
        str(seconds),
    ]
    for name, value in headers.items():
        command += ["--header", name, value]
    return told_by(command)


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
    """Walks through the results of BODIES, from the one numbered FIRST on."""
    lines = bodies.read_bytes().splitlines()
    turned = [orjson.loads(line) for line in (*lines[first:], *lines[:first])]
    found = walked(address, path, turned, clients, seconds, dict(headers))
    click.echo(json.dumps(asdict(found)))


if __name__ == "__main__":
    main()
