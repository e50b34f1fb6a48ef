"""The engine: request bodies in, whole answers of OpenSearch out; anything less is a 503, never a short list."""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog
from opensearchpy import AsyncOpenSearch
from opensearchpy.exceptions import ConnectionError as EngineConnectionError
from opensearchpy.exceptions import ConnectionTimeout, NotFoundError, TransportError

from api.errors import ApiError
from api.search.query import OFFERED
from mappings.connection import SearchSettings, connect_async
from mappings.names import parse_generation
from mappings.platforms import Platform

log = structlog.get_logger("gear.api")

# Whatever is not named here is not sent back: hits, their exact number, and what tells a whole answer from a partial.
_WANTED = "timed_out,_shards.total,_shards.failed,hits.total,hits.hits._source,aggregations"


@dataclass(frozen=True)
class StoredItem:
    """An item as the index holds it: the answer's shape, and its price in minor units where it has one."""

    item: dict[str, Any]
    price: int | None


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
        if len(platforms) > 1:
            params["ignore_unavailable"] = "true"
        names = ",".join(self.alias(platform) for platform in platforms)
        answer: dict[str, Any] = await self._ask(self._client.search(index=names, body=body, params=params))
        shards = answer.get("_shards", {})
        if answer.get("timed_out") or shards.get("failed") or not shards.get("total"):
            log.error("partial answer of the engine", shards=shards, timedOut=answer.get("timed_out"))
            raise ApiError("search_unavailable", "the search engine gave only a part of the answer")
        return answer

    async def item(self, platform: Platform, number: int) -> StoredItem | None:
        """The item with this id as it is now, bound or not; None where the platform has none."""
        call = self._client.get(index=self.alias(platform), id=str(number), params={"_source_includes": "item,price"})
        try:
            found = await self._ask(call)
        except _MissingError:
            return None
        return StoredItem(found["_source"]["item"], found["_source"].get("price"))

    async def mark(self, platform: int, number: int, *, bound: bool) -> bool:
        """Shows or hides an item in searches; False where the index does not have it."""
        call = self._client.update(
            index=self._settings.alias(platform),
            id=str(number),
            body={"doc": {"bound": bound}},
            params={"require_alias": "true", "retry_on_conflict": "3"},
        )
        try:
            await self._ask(call)
        except _MissingError:
            return False
        return True

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

    async def _ask(self, call: Awaitable[Any]) -> Any:
        try:
            async with asyncio.timeout(self._timeout):
                return await call
        except NotFoundError as error:
            body = error.info if isinstance(error.info, dict) else {}
            if _names_an_index(body):
                raise ApiError("search_unavailable", _not_loaded(body)) from error
            raise _MissingError(body) from error
        except (EngineConnectionError, ConnectionTimeout, TimeoutError) as error:
            log.warning("the search engine does not answer", cause=type(error).__name__)
            raise ApiError("search_unavailable") from error
        except TransportError as error:
            if isinstance(error.status_code, int) and error.status_code in (400, 413):
                raise  # a request that the engine refuses is a fault of ours
            log.warning("the search engine refuses", status=error.status_code, cause=str(error.error)[:300])
            raise ApiError("search_unavailable") from error


class _MissingError(Exception):
    """The engine has an index but not the document or alias that was asked for."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__("not found")
        self.body = body


def _names_an_index(body: dict[str, Any]) -> bool:
    error = body.get("error")
    return isinstance(error, dict) and error.get("type") == "index_not_found_exception"


def _not_loaded(body: dict[str, Any]) -> str:
    index = body["error"].get("index", "the index")
    return f"{index} does not exist yet: load the catalogue with gear-indexer load"
