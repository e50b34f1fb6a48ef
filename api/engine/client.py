"""The engine's client: every call has one deadline and gives a complete answer, or raises."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Protocol, TypeVar

import orjson
import structlog
from opensearchpy import AsyncOpenSearch
from opensearchpy.exceptions import SerializationError, TransportError

from api.deadline import seconds_left
from api.engine.answers import (
    Answer,
    BadAnswerError,
    Json,
    StoredItem,
    all_shards_of,
    hits_of,
    partial_answer,
    read_answer,
    read_json,
    read_multi_search,
)
from api.engine.errors import (
    ForbiddenError,
    MissingError,
    NodeLostError,
    NotLoadedError,
    PitGoneError,
    map_engine_error,
)
from api.errors import ApiError
from mappings.connection import SearchSettings, connect_async
from mappings.definition import read_definition
from mappings.names import Generation, parse_generation
from mappings.platforms import Platform
from mappings.transport.nodes import Observer

log = structlog.get_logger("gear.api")

Read = TypeVar("Read")

# Sent only with other filters: a filter makes the engine parse its own answer once more, a third of a millisecond for
# a page of items (docs/decisions/0034). It names the hits, their number, and what proves an answer complete.
_ALWAYS_READ = ("timed_out", "_shards.total", "_shards.failed", "hits.total", "hits.hits._source", "aggregations")

_NO_DOCUMENT = "document_missing_exception"
_CONFLICT = "version_conflict_engine_exception"
UPDATE_TRIES = 3  # of an item that something else changes between its reading and its update

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


class ItemAvailability(Protocol):
    """Whether an active order binds an item."""

    @property
    def platform(self) -> int: ...

    @property
    def item(self) -> int: ...

    @property
    def bound(self) -> bool: ...


class Engine:
    """Calls OpenSearch through the platforms' aliases."""

    def __init__(
        self,
        settings: SearchSettings,
        timeout: float,
        on_ejected: Callable[[int], None] = lambda _: None,
        connections: int = 32,
        observer: Observer | None = None,
    ) -> None:
        """`on_ejected` is told how many nodes are left out when that changes; `observer` surrounds each request."""
        self._settings = settings
        self._timeout = timeout
        self._definition = read_definition()
        self._on_ejected = on_ejected
        self._client: AsyncOpenSearch = connect_async(
            settings,
            timeout=timeout,
            connections=connections,
            decoded=False,
            on_change=self._nodes_changed,
            observer=observer,
        )

    async def close(self) -> None:
        """Closes all connections."""
        await self._client.close()

    async def search(self, platforms: Sequence[Platform], body: Json, *filter_path: str) -> Answer:
        """The complete answer to a search body; raises ApiError `search_unavailable`.

        A single platform must have been loaded; of several, those never loaded have no items. `filter_path` limits the
        answer to what every caller reads and the named parts; a part with a leading `-` is left out.
        """
        params = {"allow_partial_search_results": "false", "request_cache": "true"}
        if filter_path:
            params["filter_path"] = ",".join((*_ALWAYS_READ, *filter_path))
        send = partial(self._client.search, index=self._aliases(platforms), body=body, params=params)
        try:
            return await self._search(send, lambda content: all_shards_of(read_answer(content)))
        except NotLoadedError as error:
            return await self.search(self._without(platforms, error), body, *filter_path)

    async def search_all(
        self, platforms: Sequence[Platform], bodies: Sequence[Json], *filter_path: str
    ) -> list[Answer]:
        """The complete answers to several search bodies, in one round trip; otherwise as `search`."""
        if len(bodies) == 1:
            return [await self.search(platforms, bodies[0], *filter_path)]
        aliases = [self._settings.alias(platform.id) for platform in platforms]
        # without `request_cache` the engine caches only answers without hits
        header = orjson.dumps({"index": aliases, "allow_partial_search_results": False, "request_cache": True})
        lines = b"".join(b"%b\n%b\n" % (header, orjson.dumps(body)) for body in bodies)
        parts = (_in_responses(part) for part in (*_ALWAYS_READ, "status", "error", *filter_path))
        params = {"filter_path": ",".join(parts)} if filter_path else {}
        send = partial(self._client.msearch, body=lines, params=params)
        try:
            return await self._search(send, lambda content: _all_of(read_multi_search(content), len(bodies)))
        except NotLoadedError as error:
            return await self.search_all(self._without(platforms, error), bodies, *filter_path)

    async def revision(self, platforms: Sequence[Platform]) -> bytes | None:
        """A value that changes with whatever searches of the platforms can find; None without the permission to ask.

        Raises ApiError `search_unavailable`.
        """
        # a platform that was never loaded has no state, and neither has a closed index
        params = {"level": "shards", "ignore_unavailable": "true", "filter_path": ",".join(_REVISION)}
        try:
            return await self._call(
                self._client.indices.stats(index=self._aliases(platforms), metric="refresh", params=params)
            )
        except ForbiddenError:
            return None

    async def open_pit(self, platforms: Sequence[Platform], keep_seconds: float) -> str:
        """Opens a point in time that is kept for so long after each use; raises as `search` does."""
        params = {"keep_alive": f"{round(keep_seconds * 1000)}ms", "allow_partial_pit_creation": "false"}
        try:
            return await self._read(self._client.create_pit(index=self._aliases(platforms), params=params), _pit_of)
        except NotLoadedError as error:
            return await self.open_pit(self._without(platforms, error), keep_seconds)

    async def search_pit(self, body: Json) -> Answer:
        """The complete answer to a search body with a point in time; raises PitGoneError and as `search`."""
        params = {"allow_partial_search_results": "false"}
        try:
            return await self._read(
                self._client.search(body=body, params=params), lambda content: all_shards_of(read_answer(content))
            )
        except NotLoadedError as error:
            raise PitGoneError from error

    async def close_pits(self, pits: Sequence[str]) -> None:
        """Closes points in time; raises ApiError `search_unavailable`."""
        with suppress(PitGoneError, MissingError):
            await self._call(self._client.delete_pit(body={"pit_id": list(pits)}))

    async def item(self, platform: Platform, number: int) -> StoredItem | None:
        """The item with this id as it is now, bound or not; None if the platform has none."""
        alias = self._aliases([platform])
        # the whole source: a part of it has its keys in another order, and the digest depends on that
        call = self._client.get(index=alias, id=str(number))
        try:
            return await self._read(call, lambda content: _item_of(read_json(content), alias))
        except MissingError:
            return None

    async def items(self, platform: Platform, numbers: Sequence[int]) -> dict[int, StoredItem]:
        """Those of these items that the platform has, in their order, as `item` does, in one round trip."""
        alias = self._aliases([platform])
        call = self._client.mget(index=alias, body={"ids": [str(number) for number in numbers]})
        documents = await self._read(call, lambda content: _documents_of(content, len(numbers)))
        for document in documents:
            if "error" in document:
                raise partial_answer(error=str(document["error"])[:300])
        return {int(document["_id"]): _item_of(document, alias) for document in documents if document["found"]}

    async def bound_among(self, platform: Platform, items: Collection[int]) -> set[int]:
        """Those of these items that the index shows as bound; raises as `search` does."""
        filters = [{"terms": {"id": list(items)}}, {"term": {"bound": True}}]
        body = {"size": len(items), "query": {"bool": {"filter": filters}}, "sort": ["id"], "_source": False}
        return {hit["sort"][0] for hit in hits_of(await self.search([platform], body))}

    async def update_availability(self, items: Sequence[ItemAvailability]) -> list[bool]:
        """Hides bound items from searches and shows the others; says for each whether the index is up to date.

        An item that the index does not have needs no update; one whose index refuses must be sent again. Raises
        ApiError `search_unavailable` if none was updated.
        """
        up_to_date = [False] * len(items)
        places: Sequence[int] = range(len(items))
        for _ in range(UPDATE_TRIES):
            errors = await self._update([items[place] for place in places])
            for place, error in zip(places, errors, strict=True):
                up_to_date[place] = error is None
            places = [place for place, error in zip(places, errors, strict=True) if error == _CONFLICT]
            if not places:
                break
        return up_to_date

    async def _update(self, items: Sequence[ItemAvailability]) -> list[str | None]:
        """Updates each document as it is read here, and says for each what was in the way.

        An update that a hung node delivers after a newer one names a sequence number of the past, and is refused.
        """
        targets = [{"_index": self._settings.alias(item.platform), "_id": str(item.item)} for item in items]
        fields = ",".join(f"docs.{field}" for field in ("_id", "found", "_seq_no", "_primary_term", "error.type"))
        reading = self._client.mget(body={"docs": targets}, params={"_source": "false", "filter_path": fields})
        read = await self._read(reading, lambda content: _documents_of(content, len(items)))
        errors = [document.get("error", {}).get("type") for document in read]
        places = [place for place, document in enumerate(read) if document.get("found")]
        lines: list[bytes] = []
        for place in places:
            as_read = {"if_seq_no": read[place]["_seq_no"], "if_primary_term": read[place]["_primary_term"]}
            lines.append(orjson.dumps({"update": {**targets[place], "require_alias": True, **as_read}}))
            lines.append(orjson.dumps({"doc": {"bound": items[place].bound}, "detect_noop": False}))
        if places:
            params = {"filter_path": "items.*.status,items.*.error.type"}
            call = self._client.bulk(body=b"\n".join(lines) + b"\n", params=params)
            updated = await self._read(call, lambda content: _updates_of(content, len(places)))
            for place, error in zip(places, updated, strict=True):
                errors[place] = error
        return errors

    async def ready(self, platforms: Sequence[Platform]) -> None:
        """Raises ApiError `search_unavailable` unless a platform's index answers, and all can be read."""
        await self.search(platforms, {"size": 0, "track_total_hits": False})
        params = {"ignore_unavailable": "true", "filter_path": "*.mappings._meta"}
        try:
            call = self._client.indices.get_mapping(index=self._aliases(platforms), params=params)
            indices = await self._read(call, read_json)
        except ForbiddenError:  # it cannot be told
            return
        for name, index in indices.items():
            if not self._definition.can_read(index["mappings"]["_meta"]):
                log.error("an index has a definition that this version cannot read: load its catalogue", index=name)
                raise ApiError("search_unavailable", f"this version cannot read {name}: load its catalogue again")

    async def generations(self, platforms: Sequence[Platform]) -> dict[int, Generation]:
        """The serving index of each loaded platform; raises ApiError `search_unavailable`."""
        ids = {self._settings.alias(platform.id): platform.id for platform in platforms}
        # With the indices named: a user who may read only these may not ask all indices for their aliases.
        names = ",".join(ids)
        call = self._client.indices.get_alias(index=names, name=names, params={"ignore_unavailable": "true"})
        try:
            indices = await self._read(call, read_json)
        except MissingError as error:  # some aliases are missing; the answer lists the others
            indices = {name: index for name, index in error.body.items() if isinstance(index, dict)}
        serving: dict[int, Generation] = {}
        for index, description in indices.items():
            for alias in description.get("aliases", {}):
                generation = parse_generation(alias, index)
                if alias in ids and generation is not None:
                    serving[ids[alias]] = generation
        return serving

    async def request(self, send: Callable[[AsyncOpenSearch], Awaitable[Any]]) -> Json:
        """The JSON answer to another request; raises ApiError `search_unavailable`, MissingError."""
        return await self._read(send(self._client), read_json)

    def alias(self, platform: Platform) -> str:
        """The alias of a platform."""
        return self._settings.alias(platform.id)

    def _nodes_changed(self, address: str, ejected: int) -> None:
        log.warning("an engine node is left out, or taken back", node=address, ejected=ejected)
        self._on_ejected(ejected)

    def _aliases(self, platforms: Sequence[Platform]) -> str:
        return ",".join(self._settings.alias(platform.id) for platform in platforms)

    def _without(self, platforms: Sequence[Platform], error: NotLoadedError) -> list[Platform]:
        """The platforms but the one that is not loaded; raises the error if none is left or none was left out."""
        # Not by the engine's own ignore_unavailable: that leaves out closed indices too, and the list is short.
        loaded = [platform for platform in platforms if self._settings.alias(platform.id) != error.index]
        if not 0 < len(loaded) < len(platforms):
            raise error
        return loaded

    async def _search(self, send: Callable[[], Awaitable[Any]], read: Callable[[bytes], Read]) -> Read:
        """What a search finds; it is sent once more where a node was lost under it, within the same deadline."""
        try:
            return await self._read(send(), read)
        except NodeLostError:
            log.warning("a node of the search engine was lost under a search")
            return await self._read(send(), read)

    async def _read(self, call: Awaitable[Any], read: Callable[[bytes], Read]) -> Read:
        try:
            return read(await self._call(call))
        except BadAnswerError as error:
            log.error(error.event, **error.facts)
            raise

    async def _call(self, call: Awaitable[Any]) -> bytes:
        seconds = seconds_left(self._timeout)
        try:
            async with asyncio.timeout(seconds):
                content: bytes = await call
        except TransportError as error:
            raise map_engine_error(error) from error
        except (SerializationError, TimeoutError) as error:
            if seconds < self._timeout / 2:  # the engine did not have its time
                raise ApiError("overloaded") from error
            log.warning("the search engine does not answer", cause=type(error).__name__)
            raise ApiError("search_unavailable") from error
        return content


def _all_of(answers: list[Answer], count: int) -> list[Answer]:
    """The answers to `count` searches of one request if all are complete; raises what one of them was refused with."""
    for answer in answers:
        if "error" in answer:
            kind = str(answer["error"].get("type"))
            raise map_engine_error(TransportError(answer.get("status", 500), kind, answer))
    if len(answers) != count:
        raise partial_answer(searches=count, answers=len(answers))
    return [all_shards_of(answer) for answer in answers]


def _pit_of(content: bytes) -> str:
    answer = read_json(content)
    if not isinstance(answer.get("pit_id"), str):
        raise partial_answer(pit=sorted(answer))
    pit: str = answer["pit_id"]
    return pit


def _item_of(document: Json, alias: str) -> StoredItem:
    source = document.get("_source", {})
    if "item" not in source:
        raise partial_answer(answer=sorted(document))
    generation = parse_generation(alias, document.get("_index", ""))
    return StoredItem(
        item=source["item"],
        price=source.get("price"),
        listed_at=source.get("listedAt"),
        digest=source.get("digest"),
        bound=source.get("bound", False),
        version=source.get("version"),
        loaded_at=None if generation is None else generation.created_at,
    )


def _documents_of(content: bytes, count: int) -> list[dict[str, Any]]:
    """What a multi-get says of each document."""
    documents: list[dict[str, Any]] = read_json(content).get("docs", [])
    if len(documents) != count:
        raise partial_answer(documents=count, answers=len(documents))
    return documents


def _updates_of(content: bytes, count: int) -> list[str | None]:
    """For each update of a bulk request the type of its error; None where the index is up to date."""
    results = [entry["update"] for entry in read_json(content).get("items", ())]
    if len(results) != count:
        raise partial_answer(updates=count, answers=len(results))
    errors = [result["error"]["type"] if result["status"] >= 300 else None for result in results]
    return [None if error == _NO_DOCUMENT else error for error in errors]


def _in_responses(part: str) -> str:
    return f"-responses.{part[1:]}" if part.startswith("-") else f"responses.{part}"
