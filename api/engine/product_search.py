"""Looks up the products that searches ask for, and remembers what it has found while no product has come."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from cachetools import LRUCache

from api.engine.answers import Answer, Hit, Json, Products, hits_of
from api.engine.product_keys import MIN_MANY, Keys, keys_of, places_of, with_keys
from api.engine.product_lookups import Fields, Lookup, Lookups
from mappings.names import alias_of_generation, generation_of

MAX_KEYS: Final = 50_000
"""Keys in one answer; where there are more, they are asked for in several."""
SAMPLE_KEYS: Final = 200
CACHED_KEYS: Final = 100_000
"""Of all cached lookups of a worker together: 20 bytes each."""
MIN_ENTRY_KEYS: Final = 50  # what a cached lookup takes besides, as keys
MAX_STAMPS: Final = 64
MAX_LOOKED_UP: Final = 10_000

# The answers to several search bodies in these indices, in one round trip.
Ask = Callable[[Sequence[str], Sequence[Json]], Awaitable[list[Answer]]]
Stamp = tuple[tuple[str, int], ...]
"""The indices of products, and the number of the last one written to each: no product ever changes or goes."""

STAMP_REQUEST: Final[Json] = {
    "size": 0,
    "query": {"exists": {"field": "platform"}},  # which texts are matched with: parts have none
    "track_total_hits": False,
    "aggs": {"indices": {"terms": {"field": "_index", "size": 1000}, "aggs": {"last": {"max": {"field": "_seq_no"}}}}},
}


class MovedError(Exception):
    """The catalogue was replaced, or a product has come, within one search."""


@dataclass(frozen=True)
class Entry:
    """What one lookup has found, and how many keys that is; `is_part`: there may be more."""

    keys: Keys
    size: int
    is_part: bool = False


@dataclass(frozen=True)
class LookupResult:
    """What all lookups of a search have found.

    `indices` are those of the products that it names, `stamp` the state of all, where that was asked for. `may_change`:
    it holds for products of this stamp; else it is named key by key and holds whatever comes.
    """

    lookups: Lookups
    entries: Sequence[Entry]
    indices: frozenset[str]
    stamp: Stamp | None = None
    flat: tuple[int, ...] = ()
    may_change: bool = False

    @property
    def bodies(self) -> list[Json]:
        """The search bodies with the keys."""
        keys = [entry.keys for entry in self.entries]
        return [with_keys(body, keys, self.lookups.lookups, self.flat) for body in self.lookups.bodies]

    @property
    def generations(self) -> set[str]:
        """Those that the products are of."""
        return {generation_of(index) for index in (*self.indices, *(index for index, _ in self.stamp or ()))}

    def check_hits(self, answers: Sequence[Answer]) -> None:
        """Raises MovedError if there are hits of another generation than the products."""
        self.check({hit["_index"] for answer in answers for hit in _hits_of(answer) if "_index" in hit})

    def check(self, serving: Iterable[str]) -> None:
        """Raises MovedError if these indices are of another generation than the products."""
        generations = {alias_of_generation(generation): generation for generation in self.generations}
        if len(generations) < len(self.generations) or any(
            generations.get(alias_of_generation(index), index) != index for index in serving
        ):
            raise MovedError

    def has_hits(self, answers: Sequence[Answer]) -> bool:
        """Whether there is a hit, or none was asked for."""
        are_asked = any(body.get("size") != 0 for body in self.lookups.bodies)
        return not are_asked or any(_hits_of(answer) for answer in answers)

    def undecided(self, answers: Sequence[Answer]) -> list[int]:
        """The places of the bodies that a part of the keys gives no items, though others may."""
        parts = {number for number, entry in enumerate(self.entries) if entry.is_part}
        return [
            place
            for place, (body, answer) in enumerate(zip(self.lookups.bodies, answers, strict=True))
            if not parts.isdisjoint(places_of(body)) and not answer["hits"]["total"]["value"]
        ]


class ProductSearch:
    """Lookups in the indices of products of one worker."""

    def __init__(self, ask: Ask, fields: Fields) -> None:
        self._ask = ask
        self._fields = fields
        self._entries: LRUCache[tuple[tuple[str, ...], bytes], Entry] = LRUCache(
            CACHED_KEYS, getsizeof=lambda entry: MIN_ENTRY_KEYS + entry.size
        )
        self._stamps: LRUCache[tuple[str, ...], Stamp] = LRUCache(MAX_STAMPS)
        self._looked_up: LRUCache[int, bool] = LRUCache(MAX_LOOKED_UP)

    def cached(self, lookups: Lookups, products: Products) -> LookupResult | None:
        """What the lookups found before; true only if the products still have its stamp."""
        stamp = self._stamps.get(products.indices)
        if stamp is None or products.flat:
            return None
        entries = [self._entries.get((products.indices, lookup.identity)) for lookup in lookups.lookups]
        complete = [entry for entry in entries if entry is not None]
        if len(complete) < len(entries):
            return None
        return LookupResult(lookups, complete, frozenset(index for index, _ in stamp), stamp, may_change=True)

    def is_current(self, result: LookupResult, products: Products, answer: Answer) -> bool:
        """Whether the products still are as they were for what was found, by the answer to STAMP_REQUEST."""
        stamp = stamp_of(answer)
        if stamp != result.stamp:
            self._set_stamp(products, stamp)
        return stamp == result.stamp

    async def find(
        self, lookups: Lookups, products: Products, *, all_keys: bool = False, may_change: bool = False
    ) -> LookupResult:
        """Asks for the keys of all lookups at once; raises NotLoadedError, ApiError `search_unavailable`.

        `all_keys`: also of those for which a part is enough. `may_change`: what is found need hold only while the
        products have its stamp; the stamp is asked for, and what is found remembered, from the second time on. It is
        where something is excluded, too: what excludes nothing names no generation.
        """
        if not products.indices:
            return LookupResult(lookups, [Entry((), 0)] * len(lookups.lookups), frozenset(), flat=products.flat)
        # flat listings have the details, and their texts are not looked up here
        are_repeated = self._are_repeated(lookups)
        excludes = any(lookup.excludes for lookup in lookups.lookups)
        with_stamp = not products.flat and (excludes or (may_change and are_repeated))
        may_change = may_change and with_stamp
        sizes = [MAX_KEYS if all_keys or not lookup.is_sample else SAMPLE_KEYS for lookup in lookups.lookups]
        bodies = [lookup.request(size) for lookup, size in zip(lookups.lookups, sizes, strict=True)]
        answers = await self._ask(products.indices, [*bodies, STAMP_REQUEST] if with_stamp else bodies)
        stamp = stamp_of(answers.pop()) if with_stamp else None
        entries_and_indices = await asyncio.gather(
            *(
                self._entry(lookup, hits_of(answer), size, products, by_details=may_change)
                for lookup, answer, size in zip(lookups.lookups, answers, sizes, strict=True)
            )
        )
        entries = [entry for entry, _ in entries_and_indices]
        if stamp is not None and stamp != self._stamps.get(products.indices):
            self._set_stamp(products, stamp)  # a product may have come in between: what was found may lack it
        elif may_change:
            for lookup, entry in zip(lookups.lookups, entries, strict=True):
                self._remember(lookup, entry, products)
        indices = frozenset[str]().union(*(each for _, each in entries_and_indices))
        return LookupResult(lookups, entries, indices, stamp, products.flat, may_change)

    def _are_repeated(self, lookups: Lookups) -> bool:
        """Whether all of the lookups were asked before."""
        hashes = [hash(lookup.identity) for lookup in lookups.lookups]
        are_repeated = all(each in self._looked_up for each in hashes)
        self._looked_up.update(dict.fromkeys(hashes, True))
        return are_repeated

    def _remember(self, lookup: Lookup, entry: Entry, products: Products) -> None:
        if entry.size + MIN_ENTRY_KEYS <= CACHED_KEYS // 4:
            self._entries[products.indices, lookup.identity] = entry

    async def _entry(
        self, lookup: Lookup, first: list[Hit], size: int, products: Products, *, by_details: bool
    ) -> tuple[Entry, set[str]]:
        """The entry of a lookup, and the indices that its hits are in."""
        hits, page = first, first
        while len(page) == MAX_KEYS:
            (answer,) = await self._ask(products.indices, [lookup.request(MAX_KEYS, page[-1]["sort"])])
            page = hits_of(answer)
            hits = hits + page
        details = await self._details(lookup, products) if by_details and len(hits) >= MIN_MANY else []
        keys, count = keys_of(lookup, lookup.hits(hit["sort"] for hit in hits), details)
        return Entry(keys, count, is_part=len(first) == size < MAX_KEYS), {hit["_index"] for hit in hits}

    async def _details(self, lookup: Lookup, products: Products) -> list[tuple[Json, frozenset[str]]]:
        """What the lookup says of details, each with the keys of all products that have it."""
        (counted,) = await self._ask(products.indices, [lookup.types_request()])
        types = [bucket["key"] for bucket in counted["aggregations"]["types"]["buckets"]]
        details = lookup.details(self._fields, types)
        bodies = [detail.request(MAX_KEYS) for detail in details]
        answers = await self._ask(products.indices, bodies) if bodies else []
        pages = [(detail.query, hits_of(answer)) for detail, answer in zip(details, answers, strict=True)]
        return [(query, frozenset(hit["sort"][-1] for hit in page)) for query, page in pages if len(page) < MAX_KEYS]

    def _set_stamp(self, products: Products, stamp: Stamp) -> None:
        for key in [key for key in self._entries if key[0] == products.indices]:
            del self._entries[key]
        self._stamps[products.indices] = stamp


def _hits_of(answer: Answer) -> list[Hit]:
    """The hits of an answer that may have been limited to other parts."""
    return hits_of(answer) if "hits" in answer else []


def stamp_of(answer: Answer) -> Stamp:
    """The stamp in the answer to STAMP_REQUEST."""
    buckets = answer["aggregations"]["indices"]["buckets"]
    return tuple(sorted((bucket["key"], int(bucket["last"]["value"])) for bucket in buckets))
