"""Searches of listings with their product lookups, points in time, and the index revision."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, Unpack

import orjson

from api.engine.calls import CallOptions, Calls
from api.engine.documents import PRODUCT_DOCUMENTS, ProductDocument, read_documents
from api.engine.errors import (
    REPAIR,
    ForbiddenError,
    MissingError,
    NotLoadedError,
    PitGoneError,
    all_responses,
)
from api.engine.items import ItemAssembler
from api.engine.product_lookups import Fields, Lookups, lookups_of
from api.engine.product_search import REVISION_REQUEST, LookupResult, ProductSearch, StaleLookupError
from api.engine.requests import multi_search, multi_search_params, search_params
from api.engine.responses import (
    LISTINGS,
    EngineResponse,
    Json,
    OpenedPit,
    Products,
    hits_of,
    partial_response,
    read_json,
    read_multi_search,
)
from api.errors import ApiError
from api.log import log
from mappings.connection import SearchSettings
from mappings.definition import read_definition
from mappings.names import Generation, parse_generation, products_of
from mappings.platforms import Platform

# What tells one state of an index from another: the number of shard copies, and for each copy its node, its commit and
# its count of refreshes. The commit differs between copies whose count began anew.
_SHARD = "indices.*.shards.*"
_REVISION = (
    "_shards",
    "indices.*.uuid",
    f"{_SHARD}.routing.node",
    f"{_SHARD}.commit.id",
    f"{_SHARD}.refresh.external_total",
)
MAX_TRIES: Final = 3  # of a search under which the catalogue is replaced, or products come


Request = tuple[Sequence[str], Json]
"""The indices or aliases to search, and the search body."""


class Searches(Calls):
    """Searches OpenSearch through the platforms' aliases."""

    def __init__(
        self, settings: SearchSettings, timeout: float, *, cached_bytes: int = 0, **options: Unpack[CallOptions]
    ) -> None:
        """As `Calls` with these options; `cached_bytes` of shared documents are cached."""
        super().__init__(settings, timeout, **options)
        self._definition = read_definition()
        self._fields = Fields.of(self._definition)
        self._products = ProductSearch(self._ask_products, self._fields)
        self._items = ItemAssembler(self._get_products, cached_bytes)

    async def search(self, platforms: Sequence[Platform], body: Json, *filter_path: str) -> EngineResponse:
        """The complete response to a search body; raises ApiError `search_unavailable`.

        A single platform must have been loaded; of several, those never loaded have no items. `filter_path` limits the
        response to what every caller reads and the named parts; a part with a leading `-` is left out.
        """
        (response,) = await self.search_all(platforms, [body], *filter_path)
        return response

    async def search_all(
        self, platforms: Sequence[Platform], bodies: Sequence[Json], *filter_path: str
    ) -> list[EngineResponse]:
        """The complete responses to several search bodies, in one round trip; otherwise as `search`.

        What the bodies ask of products is looked up before, in a round trip of its own. Products and listings are of
        one generation. Then reads the shared documents of the hits that are not cached.
        """
        responses = await self._responses(platforms, bodies, filter_path)
        try:
            return await self._with_items(responses)
        except NotLoadedError:  # the catalogue was replaced meanwhile, and its indices removed
            return await self._with_items(await self._responses(platforms, bodies, filter_path))

    async def _responses(
        self, platforms: Sequence[Platform], bodies: Sequence[Json], filter_path: Sequence[str]
    ) -> list[EngineResponse]:
        """The responses to search bodies, without the items of the hits."""
        lookups = lookups_of(bodies, self._fields)
        if not lookups.lookups:
            return await self._ask_platforms(platforms, bodies, filter_path)
        result = self._products.cached(lookups, self._product_aliases(platforms))
        for tries_left in reversed(range(MAX_TRIES)):
            with suppress(StaleLookupError):
                # what the last one finds holds whatever comes meanwhile
                result = result or await self._find(platforms, lookups, needs_revision=tries_left > 0)
                return await self._decided(platforms, result, filter_path)
            result = None
        log.error("listings and products are of two generations, or replaced all the time: gear-indexer doctor tells")
        raise ApiError("search_unavailable", "the catalogue is replaced faster than it can be read")

    async def _decided(
        self, platforms: Sequence[Platform], result: LookupResult, filter_path: Sequence[str]
    ) -> list[EngineResponse]:
        """The responses of the listings, from all keys where the first ones find none; raises as `_of_listings`."""
        responses = await self._of_listings(platforms, result, filter_path)
        if undecided := result.undecided(responses):
            complete = await self._products.complete(result, undecided)
            for at, response in zip(undecided, await self._of_listings(platforms, complete, filter_path), strict=True):
                responses[at] = response
        return responses

    async def _of_listings(
        self, platforms: Sequence[Platform], result: LookupResult, filter_path: Sequence[str]
    ) -> list[EngineResponse]:
        """The responses of the listings to what was found; raises StaleLookupError if that does not hold any more."""
        check = result.products if result.needs_revision else ()
        responses = await self._ask_platforms(platforms, result.bodies, filter_path, check)
        if check and not self._products.is_current(result, responses.pop()):
            raise StaleLookupError
        result.check({hit["_index"] for response in responses for hit in hits_of(response) if "_index" in hit})
        if not result.has_hits(responses) and result.generations:  # an empty page does not tell of which it is
            result.check(each.index for each in (await self.generations(platforms)).values())
        return responses

    async def _find(
        self, platforms: Sequence[Platform], lookups: Lookups, *, all_keys: bool = False, needs_revision: bool = False
    ) -> LookupResult:
        find = partial(self._products.find, lookups, all_keys=all_keys, needs_revision=needs_revision)
        try:
            return await find(self._product_aliases(platforms))
        except NotLoadedError:
            serving = await self.generations(platforms)
        try:
            return await find(self._product_aliases([platform for platform in platforms if platform.id in serving]))
        except NotLoadedError as error:
            log.error("a generation has no products: run gear-indexer doctor", index=error.index)
            raise ApiError("search_unavailable", f"{error.index} is missing: {REPAIR}") from error

    async def check_products(self, platforms: Sequence[Platform]) -> None:
        """Raises ApiError `search_unavailable` unless the products of each loaded platform are those of what serves."""
        expected = set(_product_indices(await self.generations(platforms)))
        indices = await self._aliased_indices(self._product_aliases(platforms))
        if missing := sorted(expected - indices.keys()):
            log.error("a generation has no products: run gear-indexer doctor", index=missing[0])
            raise ApiError("search_unavailable", f"{missing[0]} is missing or does not serve: {REPAIR}")

    def _product_aliases(self, platforms: Sequence[Platform]) -> Products:
        return tuple(products_of(self.alias(platform)) for platform in platforms)

    async def _ask_platforms(
        self,
        platforms: Sequence[Platform],
        bodies: Sequence[Json],
        filter_path: Sequence[str],
        check: Sequence[str] = (),
    ) -> list[EngineResponse]:
        """The responses of the platforms' listings, then that to the request for the revision of the products `check`;
        raises StaleLookupError where these are gone, and as `search_all`.
        """
        indices = [self.alias(platform) for platform in platforms]
        requests: list[Request] = [(indices, body) for body in bodies]
        if check:
            requests.append((check, REVISION_REQUEST))
        try:
            return await self._ask(requests, filter_path)
        except NotLoadedError as error:
            if error.index in check:
                raise StaleLookupError from error
            return await self._ask_platforms(self._without(platforms, error), bodies, filter_path, check)

    async def _ask_products(self, indices: Sequence[str], bodies: Sequence[Json]) -> list[EngineResponse]:
        return await self._ask([(indices, body) for body in bodies])

    async def _ask(self, requests: Sequence[Request], filter_path: Sequence[str] = ()) -> list[EngineResponse]:
        """The complete responses to search bodies in these indices or aliases; raises NotLoadedError, as `search`."""
        contents = [(indices, orjson.dumps(body)) for indices, body in requests]
        if len(contents) == 1:
            ((indices, content),) = contents
            return [await self.send_search(LISTINGS, content, ",".join(indices), search_params(content, filter_path))]
        send = partial(self._client.msearch, body=multi_search(contents), params=multi_search_params(filter_path))
        return await self._search(send, lambda response: all_responses(read_multi_search(response), len(contents)))

    async def _with_items(self, responses: list[EngineResponse]) -> list[EngineResponse]:
        """The same responses with the items of their hits; raises NotLoadedError where their generation is gone."""
        await self._items.complete(hit for response in responses for hit in hits_of(response))
        return responses

    async def _get_products(self, targets: Sequence[Json]) -> list[ProductDocument]:
        call = self._client.mget(body=orjson.dumps({"docs": targets}))
        return await self._read(call, partial(read_documents, PRODUCT_DOCUMENTS, count=len(targets)))

    async def revision(self, platforms: Sequence[Platform]) -> bytes | None:
        """A value that changes with whatever searches of the platforms can find; None without the permission to ask.

        Raises ApiError `search_unavailable`.
        """
        # a platform that was never loaded has no state, and neither has a closed index
        params = {"level": "shards", "ignore_unavailable": "true", "filter_path": ",".join(_REVISION)}
        try:
            call = self._client.indices.stats(index=self._aliases(platforms), metric="refresh", params=params)
            return await self._read(call, bytes)
        except ForbiddenError:
            return None

    async def open_pit(
        self, platforms: Sequence[Platform], keep_seconds: float, discard: Callable[[str], object]
    ) -> OpenedPit:
        """Opens a point in time that is kept for so long after each use; raises as `search` does.

        `discard` gets one that cannot be used, and closes it later: here the request may have no time left.
        """
        params = {"keep_alive": f"{round(keep_seconds * 1000)}ms", "allow_partial_pit_creation": "false"}
        serving = await self.generations(platforms)
        try:
            pit = await self._read(self._client.create_pit(index=self._aliases(platforms), params=params), _pit_of)
        except NotLoadedError as error:
            return await self.open_pit(self._without(platforms, error), keep_seconds, discard)
        is_current = False
        try:
            is_current = await self.generations(platforms) == serving
        finally:
            if not is_current:
                discard(pit)
        if not is_current:  # the catalogue was replaced in between
            return await self.open_pit(platforms, keep_seconds, discard)
        return OpenedPit(pit, _product_indices(serving))

    async def search_pit(self, body: Json, products: Products) -> EngineResponse:
        """The complete response to a search body with a point in time, whose products are there.

        Raises PitGoneError, and as `search`.
        """
        lookups = lookups_of([body], self._fields)
        try:
            if lookups.lookups:
                (body,) = (await self._products.find(lookups, products, all_keys=True)).bodies
            return (await self._with_items([await self.send_search(LISTINGS, body)]))[0]
        except NotLoadedError as error:
            raise PitGoneError from error

    async def search_index(self, platforms: Sequence[Platform], index: str, body: Json) -> EngineResponse:
        """The complete response of an index by its own name, of nothing where it is gone; raises as `search`."""
        lookups = lookups_of([body], self._fields)
        if lookups.lookups:
            (body,) = (await self._find(platforms, lookups, all_keys=True)).bodies
        response = await self.send_search(LISTINGS, body, index=index, may_be_missing=True)
        return (await self._with_items([response]))[0]

    async def close_pits(self, pits: Sequence[str]) -> None:
        """Closes points in time; raises ApiError `search_unavailable`."""
        with suppress(PitGoneError, MissingError):
            await self._read(self._client.delete_pit(body={"pit_id": list(pits)}), bytes)

    async def generations(self, platforms: Sequence[Platform]) -> dict[int, Generation]:
        """The serving index of each loaded platform; raises ApiError `search_unavailable`."""
        ids = {self._settings.alias(platform.id): platform.id for platform in platforms}
        indices = await self._aliased_indices(tuple(ids))
        serving: dict[int, Generation] = {}
        for index, description in indices.items():
            for alias in description.get("aliases", {}):
                generation = parse_generation(alias, index)
                if alias in ids and generation is not None:
                    serving[ids[alias]] = generation
        return serving

    async def _aliased_indices(self, aliases: Sequence[str]) -> dict[str, Json]:
        """What the engine says of the indices behind those of the aliases that exist."""
        # With the indices named: a user who may read only these may not ask all indices for their aliases.
        names = ",".join(aliases)
        call = self._client.indices.get_alias(index=names, name=names, params={"ignore_unavailable": "true"})
        try:
            indices = await self._read(call, read_json)
        except MissingError as error:  # some aliases are missing; the response lists the others
            return {name: index for name, index in error.body.items() if isinstance(index, dict)}
        if not all(isinstance(description, dict) for description in indices.values()):
            raise partial_response(aliases=sorted(indices))
        return indices

    def _without(self, platforms: Sequence[Platform], error: NotLoadedError) -> list[Platform]:
        """The platforms but the one that is not loaded; raises the error if none is left or none was left out."""
        # Not by the engine's own ignore_unavailable: that leaves out closed indices too, and the list is short.
        loaded = [platform for platform in platforms if self._settings.alias(platform.id) != error.index]
        if not 0 < len(loaded) < len(platforms):
            raise error
        return loaded


def _product_indices(serving: Mapping[int, Generation]) -> Products:
    """The indices with the products of these generations."""
    return tuple(products_of(each.index) for each in serving.values())


def _pit_of(content: bytes) -> str:
    response = read_json(content)
    if not isinstance(response.get("pit_id"), str):
        raise partial_response(pit=sorted(response))
    pit: str = response["pit_id"]
    return pit
