"""The cost of a search by how many items match it: an index and peers in; median times by number of matches out.

One client asks each peer in turn for what nobody asked before: a price range and two exteriors, the cheapest first; a
price range alone where more are to match than two exteriors leave. The ranges are found in the index itself.
"""

import json
import math
import random
import statistics
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click
import orjson
from rich.console import Console
from rich.table import Table

from bench import data
from bench.peers.connection import Connection, ask
from bench.report import results
from bench.report.figures import percentile
from bench.runs.search import Peer, forget, own_query_of, peers
from bench.workloads.bodies import pools

Json = dict[str, Any]

LEAST: Final = 100
BY_EXTERIORS: Final = 0.1  # of the items: more are not sought among those of two exteriors
NEAR: Final = 1.5  # how many times more or fewer items than wanted may match
MOST_STARTS: Final = 1_000  # tried for one body
DEAREST: Final = 10_000_000  # cents; no listing costs as much
JSON: Final = {"Content-Type": "application/json"}


class NoRangeError(RuntimeError):
    """No range of prices holds so many items."""


@dataclass
class Cost:
    """What the searches of one peer took that match about `matches` items: milliseconds, round by round."""

    matches: int
    peer: str
    found: list[int] = field(default_factory=list)
    rounds: list[list[float]] = field(default_factory=list)

    def as_json(self) -> Json:
        """The medians of all and of each round, and of how many items matched."""
        held = sorted(one for took in self.rounds for one in took)
        return {
            "matches": self.matches,
            "peer": self.peer,
            "found": round(statistics.median(self.found)),
            "ms": round(statistics.median(held), 3),
            "p90": round(percentile(held, 0.9), 3),
            "medians": [round(statistics.median(took), 3) for took in self.rounds],
            "searches": len(held),
        }


def classes(items: int) -> list[int]:
    """How many are to match: by decade from 100, and all."""
    return [*(10**power for power in range(int(math.log10(LEAST)), math.ceil(math.log10(items)))), items]


class Ranges:
    """Bodies that so many of an index's items match; `address` is the index's own, with prices in cents."""

    def __init__(self, address: str, items: int, chance: random.Random) -> None:
        self._address = address
        self._items = items
        self._chance = chance
        self._exteriors: list[str] = pools()["exteriors"]
        percents = {"field": "price", "percents": list(range(100))}
        told = ask("POST", f"{address}/_search", {"size": 0, "aggs": {"held": {"percentiles": percents}}}, JSON)
        self._starts = [round(cents) for cents in told["aggregations"]["held"]["values"].values()]
        self._drawn: set[str] = set()

    def body(self, matches: int) -> Json:
        """A body that about so many match, another one each time; raises NoRangeError where there is none."""
        few = matches <= BY_EXTERIORS * self._items
        for _ in range(MOST_STARTS):
            # the dearer end of the prices has no room for many
            starts = self._starts[: max(10, round(100 * (1 - matches / self._items)))]
            filters: Json = {"exterior": self._chance.sample(self._exteriors, 2)} if few else {}
            low = self._chance.choice(starts)
            high = self._highest(filters, low, matches)
            body = _body(filters, low, high)
            if matches / NEAR <= self._count(body) <= matches * NEAR and json.dumps(body) not in self._drawn:
                self._drawn.add(json.dumps(body))
                return body
        message = f"{MOST_STARTS} ranges of prices were tried and none holds about {matches:,} of {self._items:,} items"
        raise NoRangeError(message)

    def _highest(self, filters: Json, low: int, matches: int) -> int:
        """The least upper bound by which so many match; a random one above all prices where there is none."""
        held = range(low, DEAREST)
        at = bisect_left(held, matches, key=lambda high: self._count(_body(filters, low, high)))
        return low + at if at < len(held) else DEAREST + self._chance.randrange(DEAREST)

    def _count(self, body: Json) -> int:
        query = {"query": own_query_of(body)["query"]}
        return int(ask("POST", f"{self._address}/_count", query, JSON)["count"])


def _body(filters: Json, low: int, high: int) -> Json:
    price = {"min": low / 100, "max": high / 100}
    return {"platform": 730, "filters": {"price": price, **filters}, "sort": "price_asc", "limit": 20}


def measure(opensearch_url: str, asked: Sequence[Peer], bodies: dict[int, list[Json]], rounds: int) -> Iterator[Cost]:
    """Asks each peer each body once, a round's share of a class at a stretch; the first round is the warm-up."""
    costs = {(matches, peer.name): Cost(matches, peer.name) for matches in bodies for peer in asked}
    for number in range(-1, rounds):
        for matches, held in bodies.items():
            share = held[number + 1 :: rounds + 1]
            for peer in asked:
                forget(opensearch_url)
                # a connection of its own: one that had to wait for the other peers would be closed by the server
                with closing(Connection(peer.address, peer.headers)) as connection:
                    answers = [_timed(connection, peer, body) for body in share]
                if number >= 0:
                    costs[matches, peer.name].rounds.append([took for _, took in answers])
                    costs[matches, peer.name].found += [found for found, _ in answers]
    yield from costs.values()


def _timed(connection: Connection, peer: Peer, body: Json) -> tuple[int, float]:
    """How many items the peer finds, and its milliseconds."""
    content = orjson.dumps(body if peer.said is None else peer.said(body))
    told, seconds = connection.ask("POST", peer.path, content)
    answer = orjson.loads(told)
    found = answer["total"] if "total" in answer else answer["hits"]["total"]["value"]
    return int(found), seconds * 1000


def show(costs: Sequence[Cost]) -> None:
    """Prints the medians."""
    table = Table("matches", "peer", "found", "median ms", "p90 ms")
    for cost in costs:
        told = cost.as_json()
        table.add_row(f"{cost.matches:,}", cost.peer, f"{told['found']:,}", f"{told['ms']:.2f}", f"{told['p90']:.2f}")
    Console().print(table)


@click.command()
@click.option("--items", default=1_000_000, show_default=True, help="Listings in the index.")
@click.option("--bodies", default=25, show_default=True, help="Searches of each number of matches in one round.")
@click.option("--rounds", default=3, show_default=True, help="Runs of each peer, in turn.")
@click.option(
    "--plain/--no-plain", default=True, help="Without: only this service, and the engine asked for its index."
)
@click.option("--opensearch-url", default="http://127.0.0.1:9200", show_default=True, help="The engine for all peers.")
@click.option("--folder", type=click.Path(path_type=Path), default=Path("var/bench"), show_default=True)
def command(items: int, bodies: int, rounds: int, plain: bool, opensearch_url: str, folder: Path) -> None:
    """Searches that few and many items match: what one client waits for a page with its number."""
    folder = folder.resolve()
    file, prefix, index = data.indices(items, opensearch_url, folder, with_plain=plain)
    drawn = Ranges(f"{opensearch_url}/{prefix}-730", items, random.Random(data.SEED))
    held = {matches: [drawn.body(matches) for _ in range(bodies * (rounds + 1))] for matches in classes(items)}
    click.echo(f"{sum(map(len, held.values())):,} bodies drawn", err=True)
    with peers(opensearch_url, prefix, index, folder, 1) as (asked, _):
        costs = list(measure(opensearch_url, asked, held, rounds))
    about = results.circumstances(items=items, data=data.digest(file))
    results.write_json(folder / f"matches-{items}.json", about, [cost.as_json() for cost in costs])
    show(costs)
