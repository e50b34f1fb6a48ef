"""Runs the indexer's writers in threads of their own, with the API's database and clients."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, TypeVar

from opensearchpy.exceptions import OpenSearchException

from api.errors import ApiError
from api.http.admission import FIXED
from api.log import log
from api.settings import Settings
from indexer.engine.retry import RetryPolicy
from indexer.errors import CommandError
from indexer.live.writer import LiveWriter
from indexer.orders.claims import Claims
from mappings.connection import connect
from mappings.definition import read_definition
from mappings.engine_errors import cause
from mappings.platforms import Platform
from store.connection.engine import Store
from store.connection.errors import StoreError

REQUEST_SECONDS: Final = 30.0
RETRY_SECONDS: Final = 10.0  # without progress: then the client may repeat the same request


Result = TypeVar("Result")


class _LoopStore:
    """The API's store for a thread: work on it runs in the event loop, where its connections are."""

    is_missing = False

    def __init__(self, store: Store) -> None:
        self._store = store
        self._loop = asyncio.get_running_loop()

    def run(self, work: Callable[[Store], Coroutine[Any, Any, Result]]) -> Result:
        return asyncio.run_coroutine_threadsafe(work(self._store), self._loop).result()


class CatalogueWriters:
    """A writer for each platform; as many requests at once as their budget admits. Build it in the event loop."""

    def __init__(self, settings: Settings, store: Store, *, retry_seconds: float = RETRY_SECONDS) -> None:
        self._retry = RetryPolicy(retry_seconds)
        self._settings = settings
        self._store = _LoopStore(store)
        self._pool = ThreadPoolExecutor(FIXED["catalogue"], "catalogue")
        self._client = connect(settings, timeout=REQUEST_SECONDS, retries=0, connections=FIXED["catalogue"])
        self._definition = read_definition()
        self._writers: dict[int, LiveWriter] = {}
        self._running: set[Future[Any]] = set()  # in threads, also those whose request was cancelled

    async def run(self, platform: Platform, work: Callable[[LiveWriter], Result]) -> Result:
        """The result of some work in a thread; raises ApiError, its own and for what the engine or the store lack."""
        writer = self._writers.get(platform.id) or self._writers.setdefault(platform.id, self._writer(platform))
        running = self._pool.submit(work, writer)
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        try:
            return await asyncio.wrap_future(running)
        except CommandError as error:
            if isinstance(error.__cause__, StoreError):
                raise ApiError("store_unavailable") from error
            raise _unavailable(str(error)) from error
        except OpenSearchException as error:
            raise _unavailable(cause(error)) from error

    def _writer(self, platform: Platform) -> LiveWriter:
        claims = Claims(platform.id, self._store, self._retry)
        definition = self._definition.with_shards(platform.shards)
        alias = self._settings.alias(platform.id)
        return LiveWriter(self._client, alias, definition, claims, self._retry, self._settings.derived_digest_key)

    async def close(self) -> None:
        """Ends all waiting for retries, and the threads; where it is cancelled, those that hang are left."""
        self._retry.stopped.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        try:
            await asyncio.gather(*map(asyncio.wrap_future, tuple(self._running)), return_exceptions=True)
        finally:
            if self._running:
                log.warning("writes of the catalogue do not end", writes=len(self._running))
            self._client.close()


def _unavailable(message: str) -> ApiError:
    log.warning("the catalogue could not be written", cause=message)
    return ApiError("search_unavailable", message)
