"""Calls of OpenSearch: every call has one deadline and gives a complete response, or raises."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypedDict, TypeVar

import orjson
from msgspec.json import Decoder
from opensearchpy import AsyncOpenSearch
from opensearchpy.exceptions import SerializationError, TransportError

from api.current_request import seconds_left
from api.engine.errors import ShardsLostError, map_engine_error
from api.engine.responses import BadResponseError, Json, Response, all_shards_of, decoded
from api.errors import ApiError
from api.log import log
from mappings.connection import SearchSettings, connect_async
from mappings.platforms import Platform
from mappings.transport.nodes import Observer

Read = TypeVar("Read")


class CallOptions(TypedDict, total=False):
    """What may be given to `Calls` by name."""

    on_ejected: Callable[[int], None]
    connections: int
    observer: Observer | None


class Calls:
    """The connections to OpenSearch, with the deadline and the checks of every call."""

    def __init__(
        self,
        settings: SearchSettings,
        timeout: float,
        on_ejected: Callable[[int], None] = lambda _: None,
        connections: int = 32,
        observer: Observer | None = None,
    ) -> None:
        """`on_ejected` gets the number of nodes that are left out when that changes; `observer` surrounds each
        request.
        """
        self._settings = settings
        self._timeout = timeout
        self._on_ejected = on_ejected
        self._client: AsyncOpenSearch = connect_async(
            settings,
            timeout=timeout,
            connections=connections,
            on_change=self._nodes_changed,
            observer=observer,
        )

    async def close(self) -> None:
        await self._client.close()

    async def send_search(
        self,
        decoder: Decoder[Response],
        body: Json | bytes,
        index: str | None = None,
        params: Mapping[str, str] | None = None,
        *,
        may_be_missing: bool = False,
    ) -> Response:
        """The complete response to a search body; raises as `Searches.search`. Every single search is sent by this.

        Of indices that `may_be_missing` those that exist are searched.
        """
        content = body if isinstance(body, bytes) else orjson.dumps(body)
        params = {**(params or {}), "allow_partial_search_results": "false"}
        if may_be_missing:
            params["ignore_unavailable"] = "true"
        fewest = 0 if may_be_missing else 1  # where all are missing there is no shard
        send = partial(self._client.search, index=index, body=content, params=params)
        return await self._search(send, lambda response: all_shards_of(decoded(decoder, response), fewest=fewest))

    def alias(self, platform: Platform) -> str:
        return self._settings.alias(platform.id)

    def _nodes_changed(self, address: str, ejected: int) -> None:
        log.warning("an engine node is left out, or taken back", node=address, ejected=ejected)
        self._on_ejected(ejected)

    def _aliases(self, platforms: Sequence[Platform]) -> str:
        return ",".join(self._settings.alias(platform.id) for platform in platforms)

    async def _search(self, send: Callable[[], Awaitable[Any]], read: Callable[[bytes], Read]) -> Read:
        """What a search finds; it is sent once more where it lost its shards, within the same deadline."""
        try:
            return await self._read(send(), read)
        except ShardsLostError:
            log.warning("a search lost its shards: a node, or a removed index")
            return await self._read(send(), read)

    async def _read(self, call: Awaitable[Any], read: Callable[[bytes], Read]) -> Read:
        """What a call's response says, within its deadline."""
        seconds = seconds_left(self._timeout)
        try:
            async with asyncio.timeout(seconds):
                content: bytes = await call
            return read(content)
        except BadResponseError as error:
            log.error(error.event, **error.facts)
            raise
        except TransportError as error:
            raise map_engine_error(error) from error
        except (SerializationError, TimeoutError) as error:
            if seconds < self._timeout / 2:  # the engine did not have its time
                raise ApiError("overloaded") from error
            log.warning("the search engine does not answer", cause=type(error).__name__)
            raise ApiError("search_unavailable") from error
