"""The engine: request bodies in, whole answers of OpenSearch out; anything less is a 503, never a short list."""

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

import orjson
import structlog
from opensearchpy import AsyncOpenSearch
from opensearchpy.exceptions import SerializationError, TransportError

from api.errors import ApiError
from api.search.engine.answers import (
    Answer,
    ForbiddenError,
    MissingError,
    NotLoadedError,
    ViewGoneError,
    each,
    partial,
    read,
    read_answer,
    read_answers,
    told,
    whole,
)
from api.search.query.request import OFFERED
from mappings.connection import SearchSettings, connect_async
from mappings.names import parse_generation
from mappings.platforms import Platform

log = structlog.get_logger("gear.api")

# Only where much is left out: the engine reads its own answer once more for a filter, which takes a third of a
# millisecond for a page of items (docs/decisions/0034). Hits, their number, and what tells a whole answer from a part.
_WHOLE = ("timed_out", "_shards.total", "_shards.failed", "hits.total", "hits.hits._source", "aggregations")

_NO_DOCUMENT = "document_missing_exception"

# How many copies of parts there are, and of each that is in service where it is, what it holds on disk, and how often
# it showed what had changed. What it holds tells copies apart whose count began anew.
_COPY = "indices.*.shards.*"
_OF_A_COPY = (f"{_COPY}.routing.node", f"{_COPY}.commit.id", f"{_COPY}.refresh.external_total")
_REVISION = ("_shards", "indices.*.uuid", *_OF_A_COPY)


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
        self._client: AsyncOpenSearch = connect_async(settings, timeout=timeout, decoded=False)

    async def close(self) -> None:
        """Closes all connections."""
        await self._client.close()

    def alias(self, platform: Platform) -> str:
        """The alias of a platform's index."""
        return self._settings.alias(platform.id)

    async def search(self, platforms: Sequence[Platform], body: dict[str, Any], *parts: str) -> Answer:
        """The whole answer to a search body; raises ApiError `search_unavailable`.

        A single platform must have been loaded; of several, those never loaded have no items. Where `parts` are named,
        no more is sent than what every answer needs and those, without parts named with a `-`.
        """
        params = {"allow_partial_search_results": "false", "request_cache": "true"}
        if parts:
            params["filter_path"] = ",".join((*_WHOLE, *parts))
        names = [self.alias(platform) for platform in platforms]
        try:
            text = await self._ask(self._client.search(index=",".join(names), body=body, params=params))
        except NotLoadedError as error:
            return await self.search(self._loaded(platforms, error), body, *parts)
        return whole(read_answer(text))

    async def search_all(
        self, platforms: Sequence[Platform], bodies: Sequence[dict[str, Any]], *parts: str
    ) -> list[Answer]:
        """The whole answers to several search bodies, asked in one round trip; as `search` in all else."""
        if len(bodies) == 1:
            return [await self.search(platforms, bodies[0], *parts)]
        names = [self.alias(platform) for platform in platforms]
        # where not told to, the engine keeps only answers without hits
        head = orjson.dumps({"index": names, "allow_partial_search_results": False, "request_cache": True})
        lines = b"".join(b"%b\n%b\n" % (head, orjson.dumps(body)) for body in bodies)
        wanted = (_of_each(part) for part in (*_WHOLE, "status", "error", *parts))
        params = {"filter_path": ",".join(wanted)} if parts else {}
        try:
            return each(read_answers(await self._ask(self._client.msearch(body=lines, params=params))), len(bodies))
        except NotLoadedError as error:
            return await self.search_all(self._loaded(platforms, error), bodies, *parts)

    async def revision(self, platforms: Sequence[Platform]) -> bytes | None:
        """What changes with whatever searches of the platforms can find; None where the engine may not be asked.

        Raises ApiError `search_unavailable`.
        """
        names = ",".join(self.alias(platform) for platform in platforms)
        # a platform that was never loaded has no state; a closed index has none either
        params = {"level": "shards", "ignore_unavailable": "true", "filter_path": ",".join(_REVISION)}
        try:
            return await self._ask(self._client.indices.stats(index=names, metric="refresh", params=params))
        except ForbiddenError:
            return None

    async def open_view(self, platforms: Sequence[Platform], keep_seconds: float) -> str:
        """A frozen view of the platforms' items, kept for so long after each use; raises as `search` does."""
        names = [self.alias(platform) for platform in platforms]
        params = {"keep_alive": f"{round(keep_seconds * 1000)}ms", "allow_partial_pit_creation": "false"}
        try:
            answer = read(await self._ask(self._client.create_pit(index=",".join(names), params=params)))
        except NotLoadedError as error:
            return await self.open_view(self._loaded(platforms, error), keep_seconds)
        if not isinstance(answer.get("pit_id"), str):
            raise partial(view=sorted(answer))
        view: str = answer["pit_id"]
        return view

    async def search_view(self, body: dict[str, Any]) -> Answer:
        """The whole answer to a search body that names a view; raises ViewGoneError, ApiError `search_unavailable`."""
        params = {"allow_partial_search_results": "false"}
        try:
            return whole(read_answer(await self._ask(self._client.search(body=body, params=params))))
        except NotLoadedError as error:
            raise ViewGoneError from error

    async def close_views(self, views: Sequence[str]) -> None:
        """Lets go of views; raises ApiError `search_unavailable`."""
        with suppress(ViewGoneError, MissingError):
            await self._ask(self._client.delete_pit(body={"pit_id": list(views)}))

    def _loaded(self, platforms: Sequence[Platform], error: "NotLoadedError") -> list[Platform]:
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
            found = read(await self._ask(call))
        except MissingError:
            return None
        source = found.get("_source", {})
        if "item" not in source:
            raise partial(answer=sorted(found))
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
        answers = [entry["update"] for entry in read(await self._ask(call)).get("items", ())]
        if len(answers) != len(marks):
            raise partial(marks=len(marks), answers=len(answers))
        return [one["status"] < 300 or one["error"]["type"] == _NO_DOCUMENT for one in answers]

    async def ready(self, platforms: Sequence[Platform]) -> None:
        """Raises ApiError `search_unavailable` unless at least one platform's index answers."""
        await self.search(platforms, {"size": 0, "track_total_hits": False})

    async def indexed(self, platforms: Sequence[Platform]) -> dict[int, IndexedPlatform]:
        """For each platform what is on offer and since when; raises ApiError `search_unavailable`."""
        names = {self.alias(platform): platform for platform in platforms}
        call = self._client.indices.get_alias(name=",".join(names), params={"ignore_unavailable": "true"})
        try:
            held = read(await self._ask(call))
        except MissingError as error:
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

    async def _ask(self, call: Awaitable[Any]) -> bytes:
        try:
            async with asyncio.timeout(self._timeout):
                text: bytes = await call
        except TransportError as error:
            raise told(error) from error
        except (SerializationError, TimeoutError) as error:
            log.warning("the search engine does not answer", cause=type(error).__name__)
            raise ApiError("search_unavailable") from error
        return text


def _of_each(part: str) -> str:
    return f"-responses.{part[1:]}" if part.startswith("-") else f"responses.{part}"
