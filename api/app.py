"""Builds the ASGI application. It opens nothing before it starts."""

import gc
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from copy import copy
from functools import partial
from importlib.metadata import version
from typing import Any

from aiohttp import TraceConfig
from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

import api.catalogue.routes
import api.changes.routes
import api.cheapest.routes
import api.explore.page
import api.explore.routes
import api.health
import api.http.error_handlers
import api.http.openapi
import api.http.pages
import api.operations.routes
import api.orders.routes
import api.platforms.routes
import api.saved_searches.routes
import api.search.prices.routes
import api.search.routes
import api.telemetry.routes
import api.vocabulary.routes
from api.auth import charge_address
from api.background.tasks import StopDeadline
from api.background.workers import PeriodicWorker, running
from api.changes.recorder import INTERVALS, Intervals
from api.http.admission import Admission
from api.http.connections import ConnectionLimit
from api.http.cors import TokenCors
from api.http.drain import Drain
from api.http.json_body import BODY_SECONDS
from api.http.request_id import RequestIdMiddleware
from api.orders.expiry import expiry
from api.orders.index_sync import IndexSync
from api.orders.sandbox.worker import sandbox_moves
from api.orders.service import entry_of
from api.retention import retention
from api.saved_searches.matcher import MATCHER_LIMITS, MatcherLimits
from api.services import Services, open_services
from api.settings import Settings
from api.telemetry import logs, tracing
from api.telemetry.metrics import Metrics, measured_lag
from api.vocabulary.entries import ENTRY_POLL_SECONDS, EntryPoller
from api.webhooks.dispatcher import dispatching
from mappings.platforms import Platforms, read_platforms

DESCRIPTION = """Search for single in-game items, and orders for them.

Every response carries `X-Request-Id`; every error has the one envelope
`{"status": "error", "error": {"code", "message", "details", "requestId"}}`. Unknown fields and query parameters are
refused with 422; nothing is clamped or ignored. All limits, sorts and error codes are at `GET /v1/platforms`.
"""


# In this order: the first route that has the path answers.
ROUTERS = (
    api.search.routes.search_router,
    api.changes.routes.router,
    api.search.prices.routes.router,
    api.search.routes.router,
    api.platforms.routes.router,
    api.vocabulary.routes.router,
    api.saved_searches.routes.router,  # after the searches without results, whose path would be an id
    api.operations.routes.router,
    api.cheapest.routes.router,
    api.catalogue.routes.router,
    api.orders.routes.router,
    api.telemetry.routes.router,
    api.health.router,
    api.http.pages.router(Depends(charge_address)),
    api.explore.routes.router,
)
# `include_router` would make each route anew at an app's first request: a tenth of a second in which all others wait.
ROUTES = [route for router in ROUTERS for route in router.routes]
for _route in ROUTES:
    if isinstance(_route, APIRoute):
        _route.unique_id = api.http.openapi.operation_id(_route)


def _head_of(route: APIRoute) -> APIRoute:
    """A GET's route for HEAD: the server sends the response without its body (RFC 9110)."""
    head = copy(route)
    head.methods, head.include_in_schema = {"HEAD"}, False
    return head


ROUTES += [_head_of(route) for route in ROUTES if isinstance(route, APIRoute) and "GET" in (route.methods or ())]


class GearApp(FastAPI):
    """FastAPI with our middleware around its own, whose response to an unexpected exception so has all headers."""

    def build_middleware_stack(self) -> ASGIApp:
        """Called by the framework, once."""
        ours, self.user_middleware = self.user_middleware, []
        app = super().build_middleware_stack()
        for middleware, arguments, options in reversed(ours):
            app = middleware(app, *arguments, **options)
        return app


def create_app(
    settings: Settings,
    platforms: Platforms | None = None,
    *,
    body_seconds: float = BODY_SECONDS,
    intervals: Intervals = INTERVALS,
    matcher_limits: MatcherLimits = MATCHER_LIMITS,
) -> FastAPI:
    """The service with these settings; raises PlatformFileError or AddressRefused where they are wrong."""
    platforms = platforms or read_platforms(settings.platform_files)
    if settings.explore:
        api.explore.page.assets()  # now, so that no request waits for it
    metrics = Metrics(settings.prometheus_multiproc_dir)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
        # closed from the last to the first, whatever fails: tasks end before what they use is closed
        stop = StopDeadline()
        async with AsyncExitStack() as resources:
            await resources.enter_async_context(measured_lag(metrics.process.observe_lag))
            admission = Admission(settings.max_concurrency, metrics.requests)
            services = await open_services(
                settings, platforms, metrics, admission.budgets["export"], resources, stop, intervals, matcher_limits
            )
            app.state.services = services.by_type()
            app.state.drain.on_begin = services.change_feed.tail.close
            trace_configs = await resources.enter_async_context(tracing.exporting(settings, services.orders.store))
            await resources.enter_async_context(background_workers(services, stop, trace_configs))
            # for the server's protocol
            connections = ConnectionLimit(settings.max_connections)
            resources.enter_context(app.state.drain.before_stop())
            yield {"admission": admission, "connections": connections, "drain": app.state.drain}

    app = GearApp(
        title="Gear search and orders",
        version=version("gear"),
        summary="Search single in-game items and order them",
        description=DESCRIPTION,
        license_info={"name": "Apache License 2.0", "identifier": "Apache-2.0"},
        servers=[{"url": "/"}],
        lifespan=lifespan,
        redirect_slashes=False,
        telemetry=tracing.telemetry_of(settings),
        openapi_url=None,  # api.http.pages has the routes, which refuse unknown query parameters like all others
    )
    app.state.body_seconds = body_seconds
    app.state.drain = Drain(settings.drain_seconds)
    app.state.describing = threading.Lock()
    app.add_middleware(TokenCors)
    app.add_middleware(RequestIdMiddleware, on_response=metrics.requests.count_response)
    app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=settings.trusted_proxies)
    api.http.error_handlers.install(app)
    app.router.routes += ROUTES
    api.http.openapi.install(app)
    return app


@asynccontextmanager
async def background_workers(
    services: Services, stop: StopDeadline, trace_configs: Sequence[TraceConfig] = ()
) -> AsyncIterator[None]:
    """Runs the background work while the block lasts.

    At the end all workers stop at the same time: the end takes as long as the slowest.
    """
    orders, matcher = services.orders, services.saved_searches.matcher
    store, settings = orders.store, orders.settings

    def forget_texts() -> None:
        services.search.response_cache.clear()
        services.prices.price_lists.clear()
        matcher.clauses.clear()

    index_sync = IndexSync(store, orders.engine.update_availability)
    poller = EntryPoller(store, orders.platforms, forget_texts)
    orders.workers.append(index_sync.worker)
    workers = [
        PeriodicWorker("vocabulary", poller.read, retry_seconds=ENTRY_POLL_SECONDS),  # first: the start waits for it
        index_sync.worker,
        retention(store, settings.personal_data_days),
        PeriodicWorker("token uses", services.token_cache.record_uses, drain=True),
        sandbox_moves(store, orders.wake_workers),
        PeriodicWorker("unanswered searches", services.search.unanswered.flush, drain=True),
        services.catalogue.audit.worker,
        services.change_feed.worker,
        matcher.worker,
    ]
    if settings.order_expiry is not None:
        count_expired = partial(orders.metrics.count_transitions, "failed")
        workers.append(expiry(store, settings.order_expiry, orders.wake_workers, count_expired))
    async with AsyncExitStack() as stack:
        stack.push_async_callback(stop.close, services.change_feed.recorder.lease.release, matcher.lease.release)
        if settings.deliver_callbacks:
            entries = partial(entry_of, orders)
            dispatcher = await stack.enter_async_context(dispatching(store, entries, settings, stop, trace_configs))
            orders.workers.append(dispatcher.worker)
            workers.append(dispatcher.worker)
            matcher.on_match = dispatcher.worker.wake
        await stack.enter_async_context(running(*workers, stop=stop))
        await poller.until_read()  # no search shows what operators hide
        stack.callback(services.change_feed.tail.close)
        yield


def serve(platforms: Platforms | None = None) -> FastAPI:
    """The app with the settings of the environment, for the processes of `gear-api serve`."""
    logs.configure()
    settings = Settings()
    platforms = platforms or read_platforms(settings.platform_files)
    platforms.make_tables()
    app = create_app(settings, platforms)
    # These objects live as long as the process. Collecting them again and again pauses searches by up to a tenth of a
    # second (docs/decisions/0034).
    gc.collect()
    gc.freeze()
    # All that lives is looked through less often than by default: with 10,000 readers who wait, each time stops the
    # worker for half a second (docs/decisions/0071).
    gc.set_threshold(700, 10, 100)
    return app
