"""The parts of one running app, built when it starts and closed when it ends."""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from api.background import BackgroundTasks
from api.catalogue.audit import WriteAudit
from api.catalogue.writers import CatalogueWriters
from api.changes.feed import ChangeFeed, change_feed
from api.engine.client import Engine
from api.http.admission import Budget
from api.readiness import Readiness
from api.saved_searches.matcher import Matcher
from api.search.availability import Availability
from api.search.facets.broad_filters import BroadFilters
from api.search.pagination.point_in_time import PointsInTime
from api.search.price_desc import PriceHistograms
from api.search.prices.price_lists import PriceLists
from api.search.response_cache import IndexRevision, ResponseCache
from api.search.unanswered import UnansweredSearches
from api.settings import Settings
from api.telemetry.backlogs import BacklogReader
from api.telemetry.engine_observer import EngineObserver
from api.telemetry.generations import GenerationReader
from api.telemetry.metrics import Metrics
from api.token_cache import TokenCache
from mappings.platforms import Platforms
from store.connection.engine import Store

ORDER_CONNECTIONS = 8
ORDER_CACHED_BYTES = 2 * 1024**2  # of parts: an order reads one item


@dataclass(frozen=True)
class Services:
    """What the routes work with."""

    settings: Settings
    platforms: Platforms
    engine: Engine
    order_engine: Engine
    exports: Budget
    store: Store
    availability: Availability
    points_in_time: PointsInTime
    response_cache: ResponseCache
    broad_filters: BroadFilters
    price_histograms: PriceHistograms
    price_lists: PriceLists
    token_cache: TokenCache
    backlogs: BacklogReader
    generations: GenerationReader
    readiness: Readiness
    change_feed: ChangeFeed
    matcher: Matcher
    metrics: Metrics
    catalogue: CatalogueWriters
    write_audit: WriteAudit
    unanswered: UnansweredSearches


async def open_services(
    settings: Settings,
    platforms: Platforms,
    metrics: Metrics,
    exports: Budget,
    resources: AsyncExitStack,
) -> Services:
    """Builds the services; `resources` closes them in reverse order, so that tasks end before what they use."""
    store = _store(settings, metrics)
    resources.push_async_callback(store.close)
    # two pools of connections, so that searches never take those of orders
    engine = _search_engine(settings, metrics)
    resources.push_async_callback(engine.close)
    order_engine = _order_engine(settings, metrics)
    resources.push_async_callback(order_engine.close)
    catalogue = CatalogueWriters(settings, store)
    resources.push_async_callback(catalogue.close)
    tasks = BackgroundTasks()
    feed = change_feed(settings, platforms, store, tasks, metrics, resources)
    matcher = Matcher(feed.engine, store, platforms, feed.log, feed.tail, metrics.feed.set_matching_lag)
    feed.wake(matcher.worker)
    points_in_time = PointsInTime(engine, store, tasks)
    resources.push_async_callback(points_in_time.close)
    resources.push_async_callback(tasks.close)
    tasks.start(points_in_time.read_key())
    tasks.start(engine.read_ahead(tuple(platforms)))
    revision = IndexRevision(engine.revision, tasks)
    token_cache = TokenCache(store, tasks)
    return Services(
        settings,
        platforms,
        engine,
        order_engine,
        exports,
        store,
        Availability(engine, platforms, store),
        points_in_time,
        ResponseCache(revision, metrics.process.count_cache_lookup, settings.response_cache_mib * 1024**2),
        BroadFilters(),
        PriceHistograms(engine.search_all, tasks),
        PriceLists(revision, tasks),
        token_cache,
        BacklogReader(store, tasks),
        GenerationReader(order_engine, platforms, tasks),
        Readiness(order_engine, store, platforms, token_cache, tasks, settings.search_timeout),
        feed,
        matcher,
        metrics,
        catalogue,
        WriteAudit(store),
        UnansweredSearches(store, metrics.searches.count_unanswered, metrics.searches.count_dropped),
    )


def _search_engine(settings: Settings, metrics: Metrics) -> Engine:
    return Engine(
        settings,
        settings.search_timeout,
        metrics.engine.set_ejected_nodes,
        observer=EngineObserver("search", metrics.engine, traced=settings.tracing),
        cached_bytes=settings.product_cache_mib * 1024**2,
    )


def _order_engine(settings: Settings, metrics: Metrics) -> Engine:
    return Engine(
        settings,
        settings.search_timeout,
        connections=ORDER_CONNECTIONS,
        cached_bytes=ORDER_CACHED_BYTES,
        observer=EngineObserver("order", metrics.engine, traced=settings.tracing),
    )


def _store(settings: Settings, metrics: Metrics) -> Store:
    return Store(
        settings.database_url,
        connections=settings.database_pool_size,
        cipher=settings.cipher,
        on_transaction=metrics.store.count_transaction,
    )


async def services_of(request: Request) -> Services:
    """A dependency: the running app's services. Async, because the framework runs others in a thread."""
    services: Services = request.app.state.services
    return services


AppServices = Annotated[Services, Depends(services_of)]
