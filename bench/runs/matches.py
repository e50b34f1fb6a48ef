"""The time of a search by how many items match it, for one client and bodies that are sent once.

A body is a price range and two exteriors, by price; a price range alone where more are to match than two exteriors
have. The ranges are found in the index itself.
"""

import json
import math
import random
import statistics
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from bench.clients.connection import Connection, request_json
from bench.data import PLATFORM
from bench.figures import percentile
from bench.peers import own_index
from bench.peers.search_peers import Peer
from bench.runs.search import clear_request_cache
from bench.workloads.bodies import pools

Json = dict[str, Any]

MIN_MATCHES: Final = 100
MAX_SHARE_OF_TWO_EXTERIORS: Final = 0.1  # of the items
TOLERANCE: Final = 1.5  # how many times more or fewer items than wanted may match
MAX_ATTEMPTS: Final = 1_000  # for one body
MAX_CENTS: Final = 10_000_000  # above every price


class NoRangeError(RuntimeError):
    """No range of prices has so many items."""


@dataclass
class SearchTimes:
    """One peer's searches that about `matches` items match: how many did, and milliseconds by round."""

    matches: int
    peer: str
    totals: list[int] = field(default_factory=list)
    rounds: list[list[float]] = field(default_factory=list)

    def as_json(self) -> Json:
        """The medians of all and of each round, and of how many items matched."""
        times = sorted(ms for round_ in self.rounds for ms in round_)
        return {
            "matches": self.matches,
            "peer": self.peer,
            "found": round(statistics.median(self.totals)),
            "ms": round(statistics.median(times), 3),
            "p90": round(percentile(times, 0.9), 3),
            "medians": [round(statistics.median(round_), 3) for round_ in self.rounds],
            "searches": len(times),
        }


def decades(items: int) -> list[int]:
    """How many are to match: by decade from 100, and all."""
    return [*(10**power for power in range(int(math.log10(MIN_MATCHES)), math.ceil(math.log10(items)))), items]


class BodySource:
    """Draws bodies that so many items match of the index at the address, whose prices are in cents."""

    def __init__(self, address: str, items: int, chance: random.Random, max_attempts: int = MAX_ATTEMPTS) -> None:
        self._address = address
        self._items = items
        self._chance = chance
        self._max_attempts = max_attempts
        self._exteriors: list[str] = pools()["exteriors"]
        percentiles = {"percentiles": {"field": "price", "percents": list(range(100))}}
        response = request_json("POST", f"{address}/_search", {"size": 0, "aggs": {"prices": percentiles}})
        self._prices = [round(cents) for cents in response["aggregations"]["prices"]["values"].values()]
        self._drawn: set[str] = set()

    def body(self, matches: int) -> Json:
        """A body that about so many match, another one each time; raises NoRangeError where there is none."""
        with_exteriors = matches <= MAX_SHARE_OF_TWO_EXTERIORS * self._items
        for _ in range(self._max_attempts):
            # above a high price too few items are left for many matches
            starts = self._prices[: max(10, round(100 * (1 - matches / self._items)))]
            filters: Json = {"exterior": self._chance.sample(self._exteriors, 2)} if with_exteriors else {}
            low = self._chance.choice(starts)
            body = _body(filters, low, self._upper_bound(filters, low, matches))
            is_new = json.dumps(body) not in self._drawn
            if is_new and matches / TOLERANCE <= self._count(body) <= matches * TOLERANCE:
                self._drawn.add(json.dumps(body))
                return body
        message = f"none of {self._max_attempts} price ranges has about {matches:,} of {self._items:,} items"
        raise NoRangeError(message)

    def _upper_bound(self, filters: Json, low: int, matches: int) -> int:
        """The lowest upper bound by which so many match; a random one above all prices where there is none."""
        cents = range(low, MAX_CENTS)
        at = bisect_left(cents, matches, key=lambda high: self._count(_body(filters, low, high)))
        return low + at if at < len(cents) else MAX_CENTS + self._chance.randrange(MAX_CENTS)

    def _count(self, body: Json) -> int:
        query = {"query": own_index.query_of(body)["query"]}
        return int(request_json("POST", f"{self._address}/_count", query)["count"])


def _body(filters: Json, low: int, high: int) -> Json:
    price = {"min": low / 100, "max": high / 100}
    return {"platform": PLATFORM, "filters": {"price": price, **filters}, "sort": "price_asc", "limit": 20}


def measure(
    opensearch_url: str, peers: Sequence[Peer], bodies: Mapping[int, Sequence[Json]], rounds: int
) -> Iterator[SearchTimes]:
    """Sends each peer each body once, a round's share of a decade at a stretch; the first round warms up."""
    measured = {(matches, peer.name): SearchTimes(matches, peer.name) for matches in bodies for peer in peers}
    for number in range(rounds + 1):
        for matches, drawn in bodies.items():
            share = drawn[number :: rounds + 1]
            for peer in peers:
                clear_request_cache(opensearch_url)
                # a connection of its own: the server would close one that waits for the other peers
                with closing(Connection(peer.address, peer.headers)) as connection:
                    answers = [_timed(connection, peer, body) for body in share]
                if number:
                    times = measured[matches, peer.name]
                    times.totals += [total for total, _ in answers]
                    times.rounds.append([ms for _, ms in answers])
    yield from measured.values()


def _timed(connection: Connection, peer: Peer, body: Json) -> tuple[int, float]:
    """How many items match, and the milliseconds of the search."""
    content = orjson.dumps(body if peer.translate is None else peer.translate(body))
    response, seconds = connection.request("POST", peer.path, content)
    answer = orjson.loads(response)
    total = answer["total"] if "total" in answer else answer["hits"]["total"]["value"]
    return int(total), seconds * 1000
