"""Looks up the products that searches ask for, and remembers what it has found while no product has come."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from cachetools import LRUCache

from api.engine.errors import NotLoadedError
from api.engine.product_keys import MIN_MANY, Keys, keys_of, placeholders_in, with_keys
from api.engine.product_lookups import Fields, Lookup, Lookups
from api.engine.responses import EngineResponse, Hit, Json, Products, hits_of
from mappings.names import alias_of_generation, generation_of

MAX_KEYS: Final = 50_000
"""Keys in one response; where there are more, they are asked for in several."""
SAMPLE_KEYS: Final = 200
CACHED_KEYS: Final = 100_000
"""Of all cached lookups of a worker together: 20 bytes each."""
MIN_ENTRY_KEYS: Final = 50  # what a cached lookup takes besides, as keys
MAX_REVISIONS: Final = 64
MAX_LOOKED_UP: Final = 10_000

# The responses to several search bodies in these indices, in one round trip.
Ask = Callable[[Sequence[str], Sequence[Json]], Awaitable[list[EngineResponse]]]
Detail = tuple[Json, frozenset[str]]
"""The query for a detail, and the keys of all products that have it."""
LookupHits = tuple[Lookup, list[Hit], bool]
"""A lookup, its hits, and whether there may be more."""
ProductsRevision = tuple[tuple[str, int], ...]
"""The indices of products, and the number of the last one written to each: no product ever changes or goes."""

REVISION_REQUEST: Final[Json] = {
    "size": 0,
    "query": {"exists": {"field": "platform"}},  # which texts are matched with: other shared documents have none
    "track_total_hits": False,
    "aggs": {"indices": {"terms": {"field": "_index", "size": 1000}, "aggs": {"last": {"max": {"field": "_seq_no"}}}}},
}


class StaleLookupError(Exception):
    """The catalogue was replaced, or a product has come, within one search."""


@dataclass(frozen=True)
class FoundKeys:
    """What one lookup has found, and how many keys that is; `is_truncated`: there may be more."""

    keys: Keys
    size: int
    is_truncated: bool = False


@dataclass(frozen=True)
class LookupResult:
    """What all lookups of a search have found in the indices or aliases `products`.

    `indices` are the indices of the products that it names. `revision` is the state of `products`, where that was read.
    With `needs_revision` the result holds only for that revision. Without, it names every key and holds for any.
    """

    lookups: Lookups
    entries: Sequence[FoundKeys]
    products: Products
    indices: frozenset[str]
    revision: ProductsRevision | None = None
    needs_revision: bool = False

    @property
    def bodies(self) -> list[Json]:
        keys = [entry.keys for entry in self.entries]
        return [with_keys(body, keys) for body in self.lookups.bodies]

    @property
    def generations(self) -> set[str]:
        return {generation_of(index) for index in (*self.indices, *(index for index, _ in self.revision or ()))}

    def check(self, serving: Iterable[str]) -> None:
        """Raises StaleLookupError if these indices are of another generation than the products."""
        generations = {alias_of_generation(generation): generation for generation in self.generations}
        if len(generations) < len(self.generations) or any(
            generations.get(alias_of_generation(index), index) != index for index in serving
        ):
            raise StaleLookupError

    def has_hits(self, responses: Sequence[EngineResponse]) -> bool:
        """Whether there is a hit, or none was asked for."""
        are_asked = any(body.get("size") != 0 for body in self.lookups.bodies)
        return not are_asked or any(map(hits_of, responses))

    def undecided(self, responses: Sequence[EngineResponse]) -> list[int]:
        """The positions of the bodies that the first keys alone give no items, though others may."""
        return [
            position
            for position, (body, response) in enumerate(zip(self.lookups.bodies, responses, strict=True))
            if self.truncated([body]) and not response["hits"]["total"]["value"]
        ]

    def truncated(self, bodies: Iterable[Json]) -> list[int]:
        """The numbers of the lookups that these bodies name and that may have found more."""
        truncated = [number for number, entry in enumerate(self.entries) if entry.is_truncated]
        # most searches have none, and their bodies need not be looked at
        named = set[int]().union(*map(placeholders_in, bodies)) if truncated else ()
        return [number for number in truncated if number in named]


class ProductSearch:
    """Lookups in the indices of products of one worker."""

    def __init__(self, ask: Ask, fields: Fields) -> None:
        self._ask = ask
        self._fields = fields
        self._entries: LRUCache[tuple[Products, bytes], FoundKeys] = LRUCache(
            CACHED_KEYS, getsizeof=lambda entry: MIN_ENTRY_KEYS + entry.size
        )
        self._revisions: LRUCache[Products, ProductsRevision] = LRUCache(MAX_REVISIONS)
        self._looked_up: LRUCache[int, bool] = LRUCache(MAX_LOOKED_UP)

    def cached(self, lookups: Lookups, products: Products) -> LookupResult | None:
        """What the lookups found before; true only if the products still have its revision."""
        revision = self._revisions.get(products)
        if revision is None:
            return None
        entries = [self._entries.get((products, lookup.identity)) for lookup in lookups.lookups]
        complete = [entry for entry in entries if entry is not None]
        if len(complete) < len(entries):
            return None
        return LookupResult(lookups, complete, products, frozenset(), revision, needs_revision=True)

    def is_current(self, result: LookupResult, response: EngineResponse) -> bool:
        """Whether the products still are as they were for what was found, by the response to REVISION_REQUEST."""
        revision = revision_of(response)
        if revision != result.revision:
            self._set_revision(result.products, revision)
        return revision == result.revision

    async def find(
        self, lookups: Lookups, products: Products, *, all_keys: bool = False, needs_revision: bool = False
    ) -> LookupResult:
        """Asks for the keys of all lookups at once; raises NotLoadedError, ApiError `search_unavailable`.

        `all_keys`: also of those for which a part is enough. `needs_revision`: what is found need hold only while the
        products have its revision; the revision is asked for, and what is found remembered, from the second time on. It
        is asked for where something is excluded, too: what excludes nothing names no generation.
        """
        if not products:
            return LookupResult(lookups, [FoundKeys((), 0)] * len(lookups.lookups), products, frozenset())
        are_repeated = self._are_repeated(lookups)
        excludes = any(lookup.excludes for lookup in lookups.lookups)
        with_revision = excludes or (needs_revision and are_repeated)
        needs_revision = needs_revision and with_revision
        before = self._revisions.get(products)
        results, revision = await self._look_up(
            lookups.lookups, products, all_keys=all_keys, with_revision=with_revision
        )
        entries = await self._new_entries(results, products, by_details=needs_revision)
        if revision is not None and revision != self._revisions.get(products):
            self._set_revision(products, revision)  # a product may have come in between: what was found may lack it
        elif needs_revision and revision == before:  # else another search has seen it come
            for lookup, entry in zip(lookups.lookups, entries, strict=True):
                if entry.size + MIN_ENTRY_KEYS <= CACHED_KEYS // 4:
                    self._entries[products, lookup.identity] = entry
        indices = frozenset(hit["_index"] for _, hits, _ in results for hit in hits)
        return LookupResult(lookups, entries, products, indices, revision, needs_revision)

    async def _look_up(
        self, lookups: Sequence[Lookup], products: Products, *, all_keys: bool, with_revision: bool
    ) -> tuple[list[LookupHits], ProductsRevision | None]:
        """What the lookups find, and the revision of the products where that is asked for."""
        sizes = [MAX_KEYS if all_keys or not lookup.is_sample else SAMPLE_KEYS for lookup in lookups]
        bodies = [lookup.request(size) for lookup, size in zip(lookups, sizes, strict=True)]
        responses = await self._ask(products, [*bodies, REVISION_REQUEST] if with_revision else bodies)
        revision = revision_of(responses.pop()) if with_revision else None
        results: list[LookupHits] = []
        for lookup, size, response in zip(lookups, sizes, responses, strict=True):
            page = hits_of(response)
            hits = await self._all_hits(lookup, page, products)  # more than one page is rare
            results.append((lookup, hits, len(page) == size < MAX_KEYS))
        return results, revision

    async def complete(self, result: LookupResult, positions: Sequence[int]) -> LookupResult:
        """What was found for the bodies at these positions, with all keys of what was found in part.

        Raises StaleLookupError where products have come or gone since, and ApiError `search_unavailable`.
        """
        bodies = [result.lookups.bodies[position] for position in positions]
        numbers = result.truncated(bodies)
        parts = replace(result.lookups, lookups=[result.lookups.lookups[number] for number in numbers])
        # only what is remembered is worth the requests that say keys by details
        try:
            rest = await self.find(parts, result.products, all_keys=True, needs_revision=result.needs_revision)
        except NotLoadedError as error:
            raise StaleLookupError from error
        if None not in (result.revision, rest.revision) and result.revision != rest.revision:
            raise StaleLookupError
        entries = list(result.entries)
        for number, entry in zip(numbers, rest.entries, strict=True):
            entries[number] = entry
        lookups, indices = replace(result.lookups, bodies=bodies), result.indices | rest.indices
        return replace(result, lookups=lookups, entries=entries, indices=indices)

    def _are_repeated(self, lookups: Lookups) -> bool:
        """Whether all of the lookups were asked before."""
        hashes = [hash(lookup.identity) for lookup in lookups.lookups]
        are_repeated = all(each in self._looked_up for each in hashes)
        self._looked_up.update(dict.fromkeys(hashes, True))
        return are_repeated

    async def _all_hits(self, lookup: Lookup, first: list[Hit], products: Products) -> list[Hit]:
        """All hits of a lookup, of which these are the first."""
        hits, page = first, first
        while len(page) == MAX_KEYS:
            (response,) = await self._ask(products, [lookup.request(MAX_KEYS, page[-1]["sort"])])
            page = hits_of(response)
            hits = hits + page
        return hits

    async def _new_entries(
        self, results: Sequence[LookupHits], products: Products, *, by_details: bool
    ) -> list[FoundKeys]:
        """The entries of what was found; very many keys are said by details where that is wanted."""
        many = [lookup for lookup, hits, _ in results if by_details and len(hits) >= MIN_MANY]
        details = await self._details(many, products)
        entries = []
        for lookup, hits, is_truncated in results:
            scored_keys = lookup.hits(hit["sort"] for hit in hits)
            keys, count = keys_of(lookup, scored_keys, details.get(lookup.identity, ()))
            entries.append(FoundKeys(keys, count, is_truncated))
        return entries

    async def _details(self, lookups: Sequence[Lookup], products: Products) -> dict[bytes, list[Detail]]:
        """What lookups say of details, by identity; in two round trips for all of them."""
        if not lookups:
            return {}
        counted = await self._ask(products, [lookup.types_request() for lookup in lookups])
        details: dict[bytes, list[Lookup]] = {}
        for lookup, response in zip(lookups, counted, strict=True):
            types = [bucket["key"] for bucket in response["aggregations"]["types"]["buckets"]]
            details[lookup.identity] = lookup.details(self._fields, types)
        unique = {detail.identity: detail for each in details.values() for detail in each}
        bodies = [detail.request(MAX_KEYS) for detail in unique.values()]
        pages = map(hits_of, await self._ask(products, bodies) if bodies else [])
        keys = {
            name: frozenset(hit["sort"][-1] for hit in page)
            for name, page in zip(unique, pages, strict=True)
            if len(page) < MAX_KEYS
        }
        return {
            lookup: [(detail.query, keys[detail.identity]) for detail in each if detail.identity in keys]
            for lookup, each in details.items()
        }

    def _set_revision(self, products: Products, revision: ProductsRevision) -> None:
        for key in [key for key in self._entries if key[0] == products]:
            del self._entries[key]
        self._revisions[products] = revision


def revision_of(response: EngineResponse) -> ProductsRevision:
    """The revision in the response to REVISION_REQUEST."""
    buckets = response["aggregations"]["indices"]["buckets"]
    return tuple(sorted((bucket["key"], int(bucket["last"]["value"])) for bucket in buckets))
