"""The parts of one running app, built when it starts and closed when it ends."""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

from api.background.tasks import BackgroundTasks, StopDeadline
from api.catalogue.routes import CatalogueServices
from api.catalogue.service import WriteAudit
from api.catalogue.writers import CatalogueWriters
from api.changes.feed import ChangeFeed, change_feed
from api.changes.recorder import Intervals
from api.changes.routes import ChangeServices
from api.cheapest.service import CheapestServices
from api.engine.client import Engine
from api.explore.routes import ExploreServices
from api.http.admission import Budget
from api.operations.routes import OperationsServices
from api.orders.services import OrderServices
from api.platforms.routes import PlatformServices
from api.rate_limits.limits import RateLimits
from api.readiness import Readiness
from api.saved_searches.matcher import Matcher, MatcherLimits
from api.saved_searches.routes import SavedSearchServices
from api.search.availability import Availability
from api.search.facets.price_parts import BroadFilters
from api.search.pagination.point_in_time import PointsInTime
from api.search.price_desc import PriceHistograms
from api.search.prices.price_lists import PriceLists
from api.search.prices.routes import PriceServices
from api.search.response_cache import IndexRevision, ResponseCache
from api.search.service import SearchServices
from api.search.suggest.counting import FrequentValueCounts
from api.search.unanswered import UnansweredSearches
from api.settings import Settings
from api.telemetry.backlogs import BacklogReader
from api.telemetry.engine_observer import observed
from api.telemetry.metrics import Metrics
from api.telemetry.routes import GenerationReader, TelemetryServices
from api.token_cache import TokenCache
from api.vocabulary.routes import VocabularyServices
from mappings.platforms import Platforms
from store.connection.engine import Store

ORDER_CONNECTIONS = 8
ORDER_CACHED_BYTES = 2 * 1024**2  # of shared documents: an order reads one item


class Closable(Protocol):
    async def close(self) -> None: ...


Service = TypeVar("Service", bound=Closable)


@dataclass(frozen=True)
class Services:
    """What each feature works with, and what several have in common. No two are of the same type."""

    rate_limits: RateLimits
    token_cache: TokenCache
    readiness: Readiness
    change_feed: ChangeFeed
    search: SearchServices
    prices: PriceServices
    orders: OrderServices
    cheapest: CheapestServices
    changes: ChangeServices
    saved_searches: SavedSearchServices
    catalogue: CatalogueServices
    vocabulary: VocabularyServices
    platforms: PlatformServices
    operations: OperationsServices
    telemetry: TelemetryServices
    explore: ExploreServices

    def by_type(self) -> dict[type[Any], Any]:
        """Where routes find theirs (`api.http.dependencies.service`)."""
        return {type(service): service for service in vars(self).values()}


async def open_services(
    settings: Settings,
    platforms: Platforms,
    metrics: Metrics,
    cursor_budget: Budget,
    resources: AsyncExitStack,
    stop: StopDeadline,
    intervals: Intervals,
    matcher_limits: MatcherLimits,
) -> Services:
    """Builds the services; `resources` closes them in reverse order, so that tasks end before what they use."""
    store = _store(settings, metrics)
    resources.push_async_callback(store.close)  # in a time of its own
    # two pools of connections, so that searches never take those of orders
    engine = _closed_by(resources, stop, _search_engine(settings, metrics))
    order_engine = _closed_by(resources, stop, _order_engine(settings, metrics))
    writers = _closed_by(resources, stop, CatalogueWriters(settings, store))
    tasks = BackgroundTasks()
    feed = change_feed(settings, platforms, store, tasks, metrics, resources, intervals)
    matcher = Matcher(feed, store, platforms, metrics.feed.set_matching_lag, matcher_limits)
    feed.recorder.on_commit.append(matcher.worker.wake)
    points_in_time = _closed_by(resources, stop, PointsInTime(engine, store, tasks))
    resources.push_async_callback(tasks.close, stop)
    tasks.start(points_in_time.read_key())
    resources.callback(tasks.start(engine.read_ahead(tuple(platforms))).cancel)
    rate_limits = _closed_by(resources, stop, _rate_limits(settings, metrics))
    revision = IndexRevision(engine.revision, tasks)
    token_cache, backlogs = TokenCache(store, tasks), BacklogReader(store, tasks)
    readiness = Readiness(order_engine, store, platforms, token_cache, tasks, settings.search_timeout)
    search = SearchServices(
        engine,
        platforms,
        Availability(engine, platforms, store),
        cursor_budget,
        points_in_time,
        ResponseCache(revision, metrics.process.count_cache_lookup, settings.response_cache_mib * 1024**2),
        BroadFilters(),
        PriceHistograms(engine.search_all, tasks),
        FrequentValueCounts(engine, revision, tasks),
        UnansweredSearches(store, metrics.searches.count_unanswered, metrics.searches.count_dropped),
    )
    orders = OrderServices(settings, order_engine, platforms, store, metrics.orders)
    return Services(
        rate_limits,
        token_cache,
        readiness,
        feed,
        search,
        PriceServices(engine, platforms, points_in_time, PriceLists(revision, tasks)),
        orders,
        CheapestServices(search, orders),
        ChangeServices(engine, platforms, feed.tail, token_cache),
        SavedSearchServices(settings, engine, platforms, store, feed.tail, matcher),
        CatalogueServices(platforms, writers, WriteAudit(store), metrics.count_catalogue_items, rate_limits),
        VocabularyServices(engine, platforms, store),
        PlatformServices(settings, engine, platforms),
        OperationsServices(order_engine, platforms, backlogs, readiness),
        TelemetryServices(metrics, backlogs, readiness, GenerationReader(order_engine, platforms, tasks)),
        ExploreServices(settings, platforms, token_cache),
    )


def _closed_by(resources: AsyncExitStack, stop: StopDeadline, service: Service) -> Service:
    """The service, which `resources` close in time."""
    resources.push_async_callback(stop.close, service.close)
    return service


def _rate_limits(settings: Settings, metrics: Metrics) -> RateLimits:
    return RateLimits(
        metrics.limits,
        of_tokens=settings.rate_limit,
        of_addresses=settings.address_rate_limit,
        max_searches=settings.max_searches_per_token,
        storage=settings.rate_limit_storage,
    )


def _search_engine(settings: Settings, metrics: Metrics) -> Engine:
    return Engine(
        settings,
        settings.search_timeout,
        cached_bytes=settings.product_cache_mib * 1024**2,
        on_ejected=metrics.engine.set_ejected_nodes,
        observer=partial(observed, "search", metrics.engine, traced=settings.tracing),
    )


def _order_engine(settings: Settings, metrics: Metrics) -> Engine:
    return Engine(
        settings,
        settings.search_timeout,
        cached_bytes=ORDER_CACHED_BYTES,
        connections=ORDER_CONNECTIONS,
        observer=partial(observed, "order", metrics.engine, traced=settings.tracing),
    )


def _store(settings: Settings, metrics: Metrics) -> Store:
    return Store(
        settings.database_url,
        connections=settings.database_pool_size,
        cipher=settings.cipher,
        on_transaction=metrics.store.count_transaction,
    )
