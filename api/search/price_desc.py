"""Prunes `price_desc` pages by a lower bound on price.

The index is sorted by ascending price (docs/decisions/0033). A page of the most expensive items is at the end of what
the engine would go through, where each item costs more than all before it; restricted to prices from a bound on, the
search starts near the end. The bounds come from a histogram of prices that is refreshed once in a while. An old
histogram makes a worse bound and never another page: a page that is not full is searched for again without the bound.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic

from api.background.tasks import BackgroundTasks
from api.engine.clauses import Clause
from api.engine.responses import EngineResponse, total_of
from api.log import log
from api.search.context import Page, SearchContext, page_of
from api.search.query.request import NO_VALUE
from mappings.money import MAX_MINOR, NO_PRICE
from mappings.platforms import Platform
from mappings.vocabulary.words import words_of

REFRESH_SECONDS = 600.0
RETRY_SECONDS = 10.0
# Items above the first bound: the engine goes through so many in less time than another request takes.
INITIAL_WINDOW = 2_000
WIDENING_FACTOR = 25  # for the next bound, if too few were found above the last one
_BUCKETS = MAX_MINOR.bit_length()

# Filters that hardly any item passes, and the number of words that hardly any name has: pruning would find nothing.
_SELECTIVE_FILTERS = frozenset({"ids", "seed", "pattern"})
_SELECTIVE_WORDS = 3

AskEngine = Callable[[Sequence[Platform], Sequence[Clause]], Awaitable[list[EngineResponse]]]


@dataclass(frozen=True)
class PriceHistogram:
    """How many items cost from 2^k to 2^(k+1) - 1 minor units, for each k from 0 on."""

    counts: tuple[int, ...]
    initial_window: int = INITIAL_WINDOW
    widening_factor: int = WIDENING_FACTOR

    def is_worth_pruning(self, total: int) -> bool:
        """Whether another bound costs less than going through all of so many hits."""
        return total > 5 * self.initial_window

    def lower_bound_for(self, items: int, ceiling: int) -> int | None:
        """The price from which up to `ceiling` there are about so many items; None if there are fewer."""
        end = math.log2(max(1, ceiling + 1))
        missing = float(items)
        for bucket in range(min(len(self.counts), math.ceil(end)) - 1, -1, -1):
            top = min(end, bucket + 1.0)
            # prices are taken to be spread evenly over the logarithm within a bucket
            available = self.counts[bucket] * (top - bucket)
            if available >= missing:
                # the highest prices of all may end anywhere in their bucket
                is_highest = not any(self.counts[bucket + 1 :])
                if is_highest and available < missing * self.widening_factor:
                    return 1 << bucket
                return int(2.0 ** (top - missing / self.counts[bucket]))
            missing -= available
        return None

    def lower_bounds(self, items: int, ceiling: int) -> Iterator[int]:
        """Ever lower bounds, for ever more items."""
        window, last = max(self.initial_window, 4 * items), math.inf
        while (bound := self.lower_bound_for(window, ceiling)) is not None:
            if bound < last:
                yield bound
            window, last = window * self.widening_factor, bound


class PriceHistograms:
    """The price histograms of platforms, counted at first use and refreshed in the background."""

    def __init__(self, ask: AskEngine, tasks: BackgroundTasks, clock: Callable[[], float] = monotonic) -> None:
        self._ask = ask
        self._tasks = tasks
        self._clock = clock
        self._counted: dict[tuple[int, ...], tuple[float, PriceHistogram]] = {}  # with when to refresh it
        self._in_flight: dict[tuple[int, ...], asyncio.Task[PriceHistogram]] = {}

    async def of(self, platforms: Sequence[Platform]) -> PriceHistogram:
        """The histogram; the first caller waits for it, later ones get the last one while it is refreshed."""
        key = tuple(platform.id for platform in platforms)
        due, histogram = self._counted.get(key, (-math.inf, None))
        if self._clock() >= due and key not in self._in_flight:
            self._in_flight[key] = self._tasks.start(self._count(key, platforms))
        # a caller that goes away leaves the task to the others
        return await asyncio.shield(self._in_flight[key]) if histogram is None else histogram

    async def _count(self, key: tuple[int, ...], platforms: Sequence[Platform]) -> PriceHistogram:
        lifetime = REFRESH_SECONDS
        requests = [
            {"query": _price_clause(2**bucket, 2 ** (bucket + 1) - 1), "size": 0, "track_total_hits": True}
            for bucket in range(_BUCKETS)
        ]
        try:
            histogram = PriceHistogram(tuple(total_of(response) for response in await self._ask(platforms, requests)))
        except Exception:
            # a search does without a bound, and reports what is wrong with the engine
            log.warning("prices were not counted: price_desc is searched without a bound", exc_info=True)
            lifetime, (_, histogram) = RETRY_SECONDS, self._counted.get(key, (0.0, PriceHistogram(())))
        finally:
            del self._in_flight[key]
        self._counted[key] = (self._clock() + lifetime, histogram)
        return histogram


async def price_desc_page(context: SearchContext, histograms: PriceHistograms) -> Page | None:
    """The page of the highest prices; None if pruning does not pay for this query, or no bound gives a full page.

    Raises ApiError `search_unavailable`, PitGoneError.
    """
    query, ask = context.query, context.source.search_all
    page, count = query.page_request, [] if query.total is not None else [query.count_request]
    after = query.position.after[0] if query.position is not None and query.position.after else query.highest_price
    if after in NO_VALUE:  # only items without a price are left
        return page_of(query, await ask([_with_prices(page, NO_PRICE, NO_PRICE), *count]))
    histogram = await _histogram(context, histograms)
    if query.total is not None and not histogram.is_worth_pruning(query.total - query.start):
        return None
    counts: list[EngineResponse] = []
    for bound in histogram.lower_bounds(query.body.page * query.body.limit, after):
        response, *counted = await ask([_with_prices(page, bound, NO_PRICE - 1), *([] if counts else count)])
        counts = counts or counted
        bounded = page_of(query, [response, *counts])
        hits, total = len(bounded.hits), bounded.total
        # a full page holds whatever else there is, an empty one if none match
        if query.is_page(hits, total) and (hits == query.body.limit or total == 0):
            return bounded
        if not histogram.is_worth_pruning(total - query.start):
            break  # there are so few, or the index was refreshed in between
    return None


async def _histogram(context: SearchContext, histograms: PriceHistograms) -> PriceHistogram:
    """The prices of the searched platforms; an empty histogram, without bounds, if hardly any item matches."""
    query = context.query
    if not _SELECTIVE_FILTERS.isdisjoint(query.filters) or len(words_of(query.body.query)) >= _SELECTIVE_WORDS:
        return PriceHistogram(())
    return await histograms.of(context.platforms)


def _with_prices(request: Clause, lowest: int, highest: int) -> Clause:
    query = request["query"]["bool"]
    return {**request, "query": {"bool": {**query, "filter": [*query["filter"], _price_clause(lowest, highest)]}}}


def _price_clause(lowest: int, highest: int) -> Clause:
    """Items, on offer or not, that cost so many minor units."""
    return {"range": {"price.ascending": {"gte": lowest, "lte": highest}}}
