"""The engine: request bodies in, whole answers of OpenSearch out; anything less is a 503, never a short list."""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

import orjson
import structlog
from opensearchpy import AsyncOpenSearch
from opensearchpy.exceptions import NotFoundError, SerializationError, TransportError

from api.errors import ApiError
from api.search.query import OFFERED
from mappings.connection import SearchSettings, connect_async
from mappings.names import parse_generation
from mappings.platforms import Platform

log = structlog.get_logger("gear.api")

# Whatever is not named here is not sent back: hits, their exact number, and what tells a whole answer from a partial.
_WHOLE = ("timed_out", "_shards.total", "_shards.failed", "hits.total", "hits.hits._source", "aggregations")
_WANTED = ",".join(_WHOLE)
_WANTED_OF_EACH = ",".join(f"responses.{part}" for part in (*_WHOLE, "status", "error"))

# What the engine answers with a 400 while the request is a good one.
_CANNOT_NOW = ("index_closed_exception",)

_NO_DOCUMENT = "document_missing_exception"


@dataclass(frozen=True)
class StoredItem:
    """An item as the index holds it: the answer's shape, and its price in minor units where it has one."""

    item: dict[str, Any]
    price: int | None


class Mark(Protocol):
    """Whether an active order binds an item."""

    @property
    def platform(self) -> int: ...
    @property
    def item(self) -> int: ...
    @property
    def bound(self) -> bool: ...


@dataclass(frozen=True)
class IndexedPlatform:
    """What is on offer of a platform and since when its index is; None for a platform never loaded."""

    items: int
    indexed_at: datetime | None


class Engine:
    """Asks the indices behind the platforms' aliases, each question within one deadline."""

    def __init__(self, settings: SearchSettings, timeout: float) -> None:
        self._settings = settings
        self._timeout = timeout
        self._client: AsyncOpenSearch = connect_async(settings, timeout=timeout)

    async def close(self) -> None:
        """Closes all connections."""
        await self._client.close()

    def alias(self, platform: Platform) -> str:
        """The alias of a platform's index."""
        return self._settings.alias(platform.id)

    async def search(self, platforms: Sequence[Platform], body: dict[str, Any]) -> dict[str, Any]:
        """The whole answer to a search body; raises ApiError `search_unavailable`.

        A single platform must have been loaded; of several, those never loaded have no items.
        """
        params = {"allow_partial_search_results": "false", "filter_path": _WANTED}
        names = [self.alias(platform) for platform in platforms]
        try:
            answer = await self._ask(self._client.search(index=",".join(names), body=body, params=params))
        except _NotLoadedError as error:
            return await self.search(self._loaded(platforms, error), body)
        return _whole(answer)

    async def search_all(self, platforms: Sequence[Platform], bodies: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The whole answers to several search bodies, asked in one round trip; raises as `search` does."""
        if len(bodies) == 1:
            return [await self.search(platforms, bodies[0])]
        names = [self.alias(platform) for platform in platforms]
        head = orjson.dumps({"index": names, "allow_partial_search_results": False})
        lines = b"".join(b"%b\n%b\n" % (head, orjson.dumps(body)) for body in bodies)
        try:
            answer = await self._ask(self._client.msearch(body=lines, params={"filter_path": _WANTED_OF_EACH}))
            return _each(answer, len(bodies))
        except _NotLoadedError as error:
            return await self.search_all(self._loaded(platforms, error), bodies)

    def _loaded(self, platforms: Sequence[Platform], error: "_NotLoadedError") -> list[Platform]:
        """Those of several platforms that the engine has; raises the error where nothing is left or was left out."""
        # Not by the engine's own ignore_unavailable: that leaves out closed indices too, and the list is short.
        loaded = [platform for platform in platforms if self.alias(platform) != error.index]
        if not 0 < len(loaded) < len(platforms):
            raise error
        return loaded

    async def item(self, platform: Platform, number: int) -> StoredItem | None:
        """The item with this id as it is now, bound or not; None where the platform has none."""
        call = self._client.get(index=self.alias(platform), id=str(number), params={"_source_includes": "item,price"})
        try:
            found = await self._ask(call)
        except _MissingError:
            return None
        source = found.get("_source", {})
        if "item" not in source:
            log.error("partial answer of the engine", answer=sorted(found))
            raise ApiError("search_unavailable", "the search engine gave only a part of the answer")
        return StoredItem(source["item"], source.get("price"))

    async def mark(self, marks: Sequence[Mark]) -> list[bool]:
        """Hides items from searches or shows them; for each whether the index knows it now.

        An item that the index does not have needs no mark; one whose index refuses has to be told again. Raises
        ApiError `search_unavailable` where none of them was told.
        """
        lines: list[bytes] = []
        for mark in marks:
            target = {"_index": self._settings.alias(mark.platform), "_id": str(mark.item)}
            action = {"update": {**target, "require_alias": True, "retry_on_conflict": 3}}
            lines += [orjson.dumps(action), orjson.dumps({"doc": {"bound": mark.bound}})]
        params = {"filter_path": "items.*.status,items.*.error.type"}
        call = self._client.bulk(body=b"\n".join(lines) + b"\n", params=params)
        answers = [entry["update"] for entry in (await self._ask(call)).get("items", ())]
        if len(answers) != len(marks):
            raise ApiError("search_unavailable", "the search engine gave only a part of the answer")
        return [one["status"] < 300 or one["error"]["type"] == _NO_DOCUMENT for one in answers]

    async def ready(self, platforms: Sequence[Platform]) -> None:
        """Raises ApiError `search_unavailable` unless at least one platform's index answers."""
        await self.search(platforms, {"size": 0, "track_total_hits": False})

    async def indexed(self, platforms: Sequence[Platform]) -> dict[int, IndexedPlatform]:
        """For each platform what is on offer and since when; raises ApiError `search_unavailable`."""
        names = {self.alias(platform): platform for platform in platforms}
        call = self._client.indices.get_alias(name=",".join(names), params={"ignore_unavailable": "true"})
        try:
            held = await self._ask(call)
        except _MissingError as error:
            held = {name: index for name, index in error.body.items() if isinstance(index, dict)}
        since: dict[int, datetime] = {}
        for index, about in held.items():
            for alias in about.get("aliases", {}):
                generation = parse_generation(alias, index)
                if alias in names and generation is not None:
                    since[names[alias].id] = generation.created_at
        counts = await asyncio.gather(*(self._offered(one) for one in platforms if one.id in since))
        offered = dict(counts)
        return {one.id: IndexedPlatform(offered.get(one.id, 0), since.get(one.id)) for one in platforms}

    async def _offered(self, platform: Platform) -> tuple[int, int]:
        body = {"size": 0, "track_total_hits": True, "query": {"bool": {"filter": [OFFERED]}}}
        answer = await self.search([platform], body)
        return platform.id, answer["hits"]["total"]["value"]

    async def _ask(self, call: Awaitable[Any]) -> dict[str, Any]:
        try:
            async with asyncio.timeout(self._timeout):
                answer = await call
        except TransportError as error:
            raise _told(error) from error
        except (SerializationError, TimeoutError) as error:
            log.warning("the search engine does not answer", cause=type(error).__name__)
            raise ApiError("search_unavailable") from error
        if not isinstance(answer, dict):
            log.error("what answers is no search engine; see GEAR_OPENSEARCH_URL", answer=str(answer)[:100])
            raise ApiError("search_unavailable")
        return answer


def _whole(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer as it is; raises ApiError `search_unavailable` where it is only a part."""
    shards = answer.get("_shards", {})
    if answer.get("timed_out") or shards.get("failed") or not shards.get("total"):
        log.error("partial answer of the engine", shards=shards, timedOut=answer.get("timed_out"))
        raise ApiError("search_unavailable", "the search engine gave only a part of the answer")
    return answer


def _each(answer: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """The answers to `count` searches of one request, each of them whole; raises what one of them was refused with."""
    answers = answer.get("responses", [])
    for one in answers:
        if "error" in one:
            raise _told(TransportError(one.get("status", 500), str(one["error"].get("type")), one))
    if len(answers) != count:
        log.error("partial answer of the engine", searches=count, answers=len(answers))
        raise ApiError("search_unavailable", "the search engine gave only a part of the answer")
    return [_whole(one) for one in answers]


def _told(error: TransportError) -> Exception:
    """What an error of the client means here: an answer, an outage, or a fault of ours as it is."""
    body = error.info if isinstance(error.info, dict) else {}
    kind = body["error"].get("type") if isinstance(body.get("error"), dict) else None
    if kind == "index_not_found_exception":
        return _NotLoadedError(str(body["error"].get("index", "the index")))
    if isinstance(error, NotFoundError) and (
        body.get("found") is False or kind == "document_missing_exception" or _names_an_alias(body)
    ):
        return _MissingError(body)
    if error.status_code in (400, 413) and kind is not None and kind not in _CANNOT_NOW:
        return error  # a request that the engine refuses is a fault of ours
    log.warning("the search engine refuses", status=error.status_code, cause=str(error.error)[:300])
    return ApiError("search_unavailable")


class _MissingError(Exception):
    """The engine has an index but not the document or alias that was asked for."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__("not found")
        self.body = body


class _NotLoadedError(ApiError):
    """A platform's index does not exist: its catalogue has never been loaded."""

    def __init__(self, index: str) -> None:
        super().__init__("search_unavailable", f"{index} does not exist yet: load the catalogue with gear-indexer load")
        self.index = index


def _names_an_alias(body: dict[str, Any]) -> bool:
    return str(body.get("error")).startswith("alias")
