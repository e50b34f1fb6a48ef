"""Makes a price list from the responses of one point in time, row by row, so that memory does not grow with it."""

from collections.abc import AsyncIterator, Sequence

from api.engine.clauses import Clause
from api.engine.responses import Json, total_of
from api.search.context import PointInTime
from api.search.groups import halves_of
from api.search.prices.requests import (
    Sizes,
    Spans,
    cheaper_request,
    median_batches,
    medians_of,
    medians_request,
    parts_of,
    spans_of,
    spans_request,
)

DEFAULT_SIZES = Sizes()


async def price_list_rows(
    source: PointInTime, query: Clause, minor_digits: int, sizes: Sizes = DEFAULT_SIZES
) -> AsyncIterator[Json]:
    """A row for each name that an item of the query has; raises ApiError `search_unavailable`, PitGoneError."""
    counted = await source.search({"query": query, "size": 0, "track_total_hits": True})
    parts = parts_of(total_of(counted), sizes)[::-1]
    while parts:
        part = parts.pop()
        names = spans_of(await source.search(spans_request(query, part, sizes)), sizes)
        if names is None:
            parts += halves_of(part)[::-1]
            continue
        medians = await _medians(source, query, names, sizes)
        for spans in names:
            yield spans.row(medians.get(spans.name, spans.median), minor_digits)


async def _medians(source: PointInTime, query: Clause, names: Sequence[Spans], sizes: Sizes) -> dict[str, int]:
    medians: dict[str, int] = {}
    for batch in median_batches(names, sizes):
        by_name = {spans.name: spans for spans in batch}
        response = await source.search(medians_request(query, batch, sizes))
        for name, median in medians_of(response, batch).items():
            medians[name] = await _median_by_halving(source, query, by_name[name]) if median is None else median
    return medians


async def _median_by_halving(source: PointInTime, query: Clause, spans: Spans) -> int:
    """The median of a name with very many prices: the lowest one that enough items do not exceed."""
    low, high = spans.price_min or 0, spans.price_max or 0
    while low < high:
        middle = (low + high) // 2
        if total_of(await source.search(cheaper_request(query, spans.name, middle))) >= spans.middle:
            high = middle
        else:
            low = middle + 1
    return low
