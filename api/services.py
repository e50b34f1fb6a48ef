"""The parts of one running app, built when it starts and closed when it ends."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from fastapi import Request

from api.background import BackgroundTasks
from api.backlogs import BacklogReader
from api.engine.client import Engine
from api.http.admission import Budget
from api.readiness import Readiness
from api.search.pagination.point_in_time import PointsInTime
from api.search.price_desc import PriceHistograms
from api.search.prices.price_lists import PriceLists
from api.search.response_cache import IndexRevision, ResponseCache, Result
from api.settings import Settings
from api.token_cache import TokenCache
from mappings.platforms import Platforms
from store.connection.engine import Store

ORDER_CONNECTIONS = 8


@dataclass(frozen=True)
class Services:
    """What the routes work with."""

    settings: Settings
    platforms: Platforms
    engine: Engine
    order_engine: Engine
    exports: Budget
    store: Store
    points_in_time: PointsInTime
    response_cache: ResponseCache
    price_histograms: PriceHistograms
    price_lists: PriceLists
    token_cache: TokenCache
    backlogs: BacklogReader
    readiness: Readiness
    count_refused_item: Callable[[str], None]


async def open_services(
    settings: Settings,
    platforms: Platforms,
    count_lookup: Callable[[Result], None],
    set_ejected_nodes: Callable[[int], None],
    count_refused_item: Callable[[str], None],
    exports: Budget,
    resources: AsyncExitStack,
) -> Services:
    """Builds the services; `resources` closes them in reverse order, so that tasks end before what they use."""
    store = Store(settings.database_url, connections=settings.database_pool_size, cipher=settings.cipher)
    resources.push_async_callback(store.close)
    # two pools of connections, so that searches never take those of orders
    engine = Engine(settings, settings.search_timeout, set_ejected_nodes)
    resources.push_async_callback(engine.close)
    order_engine = Engine(settings, settings.search_timeout, connections=ORDER_CONNECTIONS)
    resources.push_async_callback(order_engine.close)
    tasks = BackgroundTasks()
    points_in_time = PointsInTime(engine, store, tasks)
    resources.push_async_callback(points_in_time.close)
    resources.push_async_callback(tasks.close)
    tasks.start(points_in_time.read_key())
    revision = IndexRevision(engine.revision, tasks)
    response_cache = ResponseCache(revision, count_lookup, settings.response_cache_mib * 1024**2)
    histograms = PriceHistograms(engine.search_all, tasks)
    token_cache = TokenCache(store, tasks)
    return Services(
        settings,
        platforms,
        engine,
        order_engine,
        exports,
        store,
        points_in_time,
        response_cache,
        histograms,
        PriceLists(revision, tasks),
        token_cache,
        BacklogReader(store, tasks),
        Readiness(order_engine, store, platforms, token_cache, tasks, settings.search_timeout),
        count_refused_item,
    )


async def services_of(request: Request) -> Services:
    """A dependency: the running app's services. Async, because the framework runs others in a thread."""
    services: Services = request.app.state.services
    return services
