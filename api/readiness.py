"""Checks what the process can do: searches need the index, orders the store too."""

import asyncio
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric

from api.background.coalescing import SingleFlight
from api.background.tasks import BackgroundTasks
from api.engine.client import Engine
from api.errors import ApiError
from api.log import log
from api.token_cache import TokenCache
from mappings.platforms import Platforms
from store.connection.engine import Store
from store.connection.errors import StoreUnavailable
from store.database import check_keys, check_schema

KEEP_SECONDS: Final = 1.0
"""Probes get a response that is as old at most, so that they are no load."""


@dataclass(frozen=True)
class ReadinessState:
    """Why searches and orders do not work; None where they do."""

    search: ApiError | None
    orders: ApiError | None

    def metrics(self) -> Metric:
        gauge = GaugeMetricFamily("gear_ready", "Whether searches and new orders work", labels=["capability"])
        gauge.add_metric(["search"], self.search is None)
        gauge.add_metric(["orders"], self.orders is None)
        return gauge


class Readiness:
    """Checks engine and store, once for all probes of a moment."""

    def __init__(
        self,
        engine: Engine,
        store: Store,
        platforms: Platforms,
        token_cache: TokenCache,
        tasks: BackgroundTasks,
        timeout: float,
    ) -> None:
        self._engine = engine
        self._store = store
        self._platforms = list(platforms)
        self._token_cache = token_cache
        self._timeout = timeout
        self._checking = SingleFlight(tasks, self._check)
        self._checked_at = float("-inf")
        self._last = ReadinessState(None, None)

    async def check(self) -> ReadinessState:
        """The state at most a second ago."""
        if time.monotonic() - self._checked_at > KEEP_SECONDS:
            await self._checking.result()
        return self._last

    async def _check(self) -> None:
        engine_error, store_error = await asyncio.gather(
            self._problem_of(self._engine.ready(self._platforms), "search_unavailable"),
            self._problem_of(self._check_store(), "store_unavailable"),
        )
        # without the store only the tokens that it has confirmed work
        tokens_error = None if self._token_cache.serves_without_store() else store_error
        state = ReadinessState(search=engine_error or tokens_error, orders=engine_error or store_error)
        if state != self._last:
            log.warning(
                "readiness has changed", search=str(state.search or "works"), orders=str(state.orders or "works")
            )
        self._last, self._checked_at = state, time.monotonic()

    async def _problem_of(self, check: Awaitable[None], code: str) -> ApiError | None:
        """Why a check fails, or does not end in time; None where it succeeds."""
        try:
            async with asyncio.timeout(self._timeout):
                await check
        except ApiError as error:
            return error
        except StoreUnavailable as error:
            return ApiError(code, str(error))
        except TimeoutError:
            return ApiError(code)
        return None

    async def _check_store(self) -> None:
        await check_schema(self._store)
        await check_keys(self._store)
