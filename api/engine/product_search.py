"""Looks up the products that searches ask for, before the listings are searched."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import orjson

from api.engine.answers import Answer, Hit, Json, Products, hits_of
from api.engine.product_lookups import Hits, Lookup, Lookups, places_of, with_keys
from mappings.names import generation_of

MAX_KEYS: Final = 50_000
"""Keys in one answer; where there are more, they are asked for in several."""
SAMPLE_KEYS: Final = 200

# The answers to several search bodies in these indices, in one round trip.
Ask = Callable[[Sequence[str], Sequence[Json]], Awaitable[list[Answer]]]


class MovedError(Exception):
    """The catalogue was replaced between two lookups of one search."""


@dataclass(frozen=True)
class Found:
    """What lookups have found; `sampled` are those of which there may be more."""

    lookups: Lookups
    hits: Sequence[Hits]
    flat: tuple[int, ...]
    generations: Mapping[str, str] = field(default_factory=dict)  # the serving one, by its alias
    sampled: frozenset[int] = frozenset()

    @property
    def bodies(self) -> list[Json]:
        """The search bodies with the keys."""
        return [with_keys(body, self.hits, self.lookups.lookups, self.flat) for body in self.lookups.bodies]

    def undecided(self, answers: Sequence[Answer]) -> list[int]:
        """The places of the bodies whose sample has no items, though other products may have some."""
        return [
            place
            for place, (body, answer) in enumerate(zip(self.lookups.bodies, answers, strict=True))
            if not self.sampled.isdisjoint(places_of(body)) and not answer["hits"]["total"]["value"]
        ]


async def find(lookups: Lookups, products: Products, ask: Ask, *, all_keys: bool = False) -> Found:
    """Asks for the keys of all lookups at once; raises MovedError, NotLoadedError, ApiError `search_unavailable`.

    `all_keys`: also of those for which a sample is enough.
    """
    if not products.indices:
        return Found(lookups, [[] for _ in lookups.lookups], products.flat)
    sizes = [MAX_KEYS if all_keys or not lookup.is_sample else SAMPLE_KEYS for lookup in lookups.lookups]
    bodies = [lookup.request(size) for lookup, size in zip(lookups.lookups, sizes, strict=True)]
    answers = await ask(products.indices, bodies)
    pages = [hits_of(answer) for answer in answers]
    sampled = frozenset(
        number for number, (page, size) in enumerate(zip(pages, sizes, strict=True)) if len(page) == size < MAX_KEYS
    )
    complete = await asyncio.gather(
        *(_all_hits(lookup, page, products.indices, ask) for lookup, page in zip(lookups.lookups, pages, strict=True))
    )
    hits = [lookup.hits(hit["sort"] for hit in page) for lookup, page in zip(lookups.lookups, complete, strict=True)]
    return Found(lookups, hits, products.flat, _generations(complete), sampled)


async def _all_hits(lookup: Lookup, first: list[Hit], indices: Sequence[str], ask: Ask) -> list[Hit]:
    hits, page = first, first
    while len(page) == MAX_KEYS:
        (answer,) = await ask(indices, [lookup.request(MAX_KEYS, page[-1]["sort"])])
        page = hits_of(answer)
        hits = hits + page
    return hits


def _generations(pages: Sequence[Sequence[Hit]]) -> dict[str, str]:
    """The generations that the products are of, by the alias of the listings."""
    generations: dict[str, str] = {}
    for index in {hit["_index"] for page in pages for hit in page}:
        generation = generation_of(index)
        alias = generation.rsplit("-", 2)[0]
        if generations.setdefault(alias, generation) != generation:
            raise MovedError
    return generations


def header(indices: Sequence[str], *, cached: bool) -> bytes:
    """The line in front of a search body in a multi-search; without the cache the engine caches answers without hits
    alone.
    """
    return orjson.dumps({"index": list(indices), "allow_partial_search_results": False, "request_cache": cached})
