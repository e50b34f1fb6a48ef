"""Builds the ASGI application. It opens nothing before it starts."""

import gc
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

import api.cheapest.routes
import api.explore.routes
import api.health
import api.http.error_handlers
import api.http.openapi
import api.http.pages
import api.metrics
import api.orders.routes
import api.orders.webhooks.routes
import api.platforms.routes
import api.search.prices.routes
import api.search.routes
from api import logs
from api.cheapest.schemas import CheapestBody
from api.http.admission import Admission
from api.http.connections import ConnectionLimit
from api.http.cors import TokenCors
from api.http.drain import Drain
from api.http.json_body import BODY_SECONDS
from api.http.request_id import RequestIdMiddleware
from api.metrics import RequestMetrics
from api.orders.index_sync import IndexSync
from api.orders.retention import retention
from api.orders.sandbox.worker import sandbox_moves
from api.orders.schemas import OrderBody, TransitionBody
from api.orders.webhooks.dispatcher import dispatching
from api.orders.worker import PeriodicWorker, running
from api.platforms.added_terms import READ_SECONDS, AddedTerms
from api.rate_limits.limits import QuotaHeaders, RateLimits
from api.search.schemas.search import SearchBody
from api.services import Services, open_services
from api.settings import Settings
from mappings.platforms import Platforms, read_platforms

DESCRIPTION = """Search for single in-game items, and orders for them.

Every answer carries `X-Request-Id`; every error has the one envelope
`{"status": "error", "error": {"code", "message", "details", "requestId"}}`. Unknown fields and query parameters are
refused with 422; nothing is clamped or ignored. All limits, sorts and error codes are at `GET /v1/platforms`.
"""


# In this order: the first route that has the path answers.
ROUTERS = (
    api.search.routes.search_router,
    api.search.prices.routes.router,
    api.search.routes.router,
    api.platforms.routes.router,
    api.cheapest.routes.router,
    api.orders.routes.router,
    api.orders.webhooks.routes.router,
    api.metrics.router,
    api.health.router,
    api.http.pages.router,
    api.explore.routes.router,
)


def create_app(
    settings: Settings, platforms: Platforms | None = None, *, body_seconds: float = BODY_SECONDS
) -> FastAPI:
    """The service with these settings; raises PlatformFileError or AddressRefused where they are wrong."""
    platforms = platforms or read_platforms(settings.platform_files)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
        # closed from the last to the first, whatever fails: tasks end before what they use is closed
        async with AsyncExitStack() as resources:
            metrics: RequestMetrics = app.state.metrics
            admission = Admission(settings.max_concurrency, metrics)
            services = await open_services(
                settings,
                platforms,
                metrics.count_cache_lookup,
                metrics.set_ejected_nodes,
                metrics.count_refused_item,
                admission.budgets["export"],
                resources,
            )
            app.state.services = services
            rate_limits = RateLimits(settings, app.state.metrics.count_rate_limit_storage_failure)
            resources.push_async_callback(rate_limits.close)
            app.state.rate_limits = rate_limits
            app.state.wake_workers = await resources.enter_async_context(order_workers(services))
            # for the server's protocol
            connections = ConnectionLimit(settings.max_connections)
            resources.enter_context(app.state.drain.before_stop())
            yield {"admission": admission, "connections": connections, "drain": app.state.drain}

    app = FastAPI(
        title="Gear search and orders",
        version=version("gear"),
        summary="Search single in-game items and order them",
        description=DESCRIPTION,
        lifespan=lifespan,
        redirect_slashes=False,
        openapi_url=None,  # api.http.pages has the routes, which refuse unknown query parameters like all others
    )
    app.state.metrics = RequestMetrics(settings)
    app.state.body_seconds = body_seconds
    app.state.drain = Drain(settings.drain_seconds)
    app.add_middleware(TokenCors)
    app.add_middleware(QuotaHeaders)
    app.add_middleware(RequestIdMiddleware, on_response=app.state.metrics.count_response)
    app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=settings.trusted_proxies)
    api.http.error_handlers.install(app)
    for router in ROUTERS:
        app.include_router(router)
    api.http.openapi.install(app, [SearchBody, OrderBody, CheapestBody, TransitionBody])
    return app


@asynccontextmanager
async def order_workers(services: Services) -> AsyncIterator[Callable[[], None]]:
    """Runs the background work of orders; yields the function that wakes it after an order has changed."""
    store, settings = services.store, services.settings
    woken: list[PeriodicWorker] = []

    def wake_workers() -> None:
        for worker in woken:
            worker.wake()

    async with AsyncExitStack() as stack:
        index_sync = IndexSync(store, services.order_engine.update_availability)
        woken.append(await stack.enter_async_context(running(index_sync.worker)))
        await stack.enter_async_context(running(retention(store, settings, wake_workers)))
        await stack.enter_async_context(running(PeriodicWorker("uses", services.token_cache.record_uses, drain=True)))
        await stack.enter_async_context(running(sandbox_moves(store, wake_workers)))
        added_terms = AddedTerms(store, services.platforms, services.response_cache.clear)
        await stack.enter_async_context(
            running(PeriodicWorker("vocabulary", added_terms.read, retry_seconds=READ_SECONDS))
        )
        if settings.deliver_callbacks:
            dispatcher = await stack.enter_async_context(dispatching(store, services.platforms, settings))
            woken.append(dispatcher.worker)
        yield wake_workers


def serve() -> FastAPI:
    """The app with the settings of the environment, for the worker processes of `gear-api serve`."""
    logs.configure()
    settings = Settings()
    platforms = read_platforms(settings.platform_files)
    platforms.read_languages()
    app = create_app(settings, platforms)
    # These objects live as long as the process. Collecting them again and again pauses searches by up to a tenth of a
    # second (docs/decisions/0034).
    gc.collect()
    gc.freeze()
    return app
