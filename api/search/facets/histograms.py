"""The search bodies that make a histogram, and the histogram in their responses. Pure."""

import math
from collections.abc import Mapping, Sequence

from api.engine.clauses import Clause, aggregation_request, any_of
from api.engine.responses import EngineResponse, Json
from mappings.fields import Filter, Kind
from mappings.histograms import FLOAT_EDGES, NO_BUCKET, price_edges
from mappings.money import NO_PRICE, json_number

BucketCounts = Mapping[int, int]
"""Items by the position of their bucket."""
Extremes = tuple[float, float]
"""The lowest and the highest value."""
NOTHING: Json = {"min": None, "max": None, "buckets": []}


def buckets(row: Filter) -> Clause:
    """The aggregation that counts the items of each bucket."""
    return {"terms": {"field": f"{row.field}Bucket", "size": len(FLOAT_EDGES) + 1}}


def counts_by_bucket(row: Filter, minor_digits: int, response: EngineResponse) -> BucketCounts | None:
    """Items by the position of their bucket; None if some are in a bucket that the histogram does not have."""
    counts = {bucket["key"]: bucket["doc_count"] for bucket in response["aggregations"][row.name]["buckets"]}
    positions = {str(at): at for at in range(len(_edges(row, minor_digits)) - 1)}
    if not counts.keys() <= {*positions, NO_BUCKET}:
        return None
    return {at: count for key, at in positions.items() if (count := counts.get(key))}


def extremes_request(row: Filter, minor_digits: int, query: Clause, counts: BucketCounts) -> Clause:
    """The search body for the lowest and the highest value, which are in the first and the last bucket with items."""
    edges = _edges(row, minor_digits)
    clauses = [_bucket_clause(row, edges, at) for at in sorted({min(counts), max(counts)})]
    return aggregation_request(
        {"bool": {"filter": [query, any_of(clauses)]}}, {row.name: {"stats": {"field": row.field}}}
    )


def extremes_of(row: Filter, responses: Sequence[EngineResponse], counts: BucketCounts) -> Extremes | None:
    """The lowest and the highest value in the responses to `extremes_request`; None if their buckets have not as many
    items any more, or more.
    """
    stats = [response["aggregations"][row.name] for response in responses]
    stats = [each for each in stats if each["count"]]
    if sum(each["count"] for each in stats) != sum(counts[at] for at in {min(counts), max(counts)}):
        return None
    return min(each["min"] for each in stats), max(each["max"] for each in stats)


def are_possible(row: Filter, minor_digits: int, counts: BucketCounts, clause: Clause, items: int) -> bool:
    """Whether a filter of the histogram's own field can let through so many items. Its bounds may be within buckets."""
    (bounds,) = clause["range"].values()
    low, high = bounds.get("gte", -math.inf), bounds.get("lte", math.inf)
    edges, unit = _edges(row, minor_digits), 1 if row.kind is Kind.MONEY else 0
    bars = [(edges[at], edges[at + 1], count) for at, count in counts.items()]
    least = sum(count for first, end, count in bars if low <= first and end - unit <= high)
    most = sum(count for first, end, count in bars if first <= high and (low < end or end == edges[-1]))
    return least <= items <= most


def histogram(row: Filter, minor_digits: int, counts: BucketCounts, extremes: Extremes | None) -> Json:
    """A histogram from the first to the last bucket with items, of which there are none without extremes."""
    if extremes is None:
        return NOTHING
    lowest, highest = extremes
    edges = [_main_unit(row, edge, minor_digits) for edge in _edges(row, minor_digits)]
    return {
        "min": _main_unit(row, lowest, minor_digits),
        "max": _main_unit(row, highest, minor_digits),
        "buckets": [
            {"from": edges[at], "to": edges[at + 1], "count": counts.get(at, 0)}
            for at in range(min(counts), max(counts) + 1)
        ],
    }


def _bucket_clause(row: Filter, edges: Sequence[float], at: int) -> Clause:
    """The items of a bucket; the last one ends with the highest value of all."""
    is_price = row.kind is Kind.MONEY
    above: Clause = {"lt": edges[at + 1]} if at + 2 < len(edges) else {"lt": NO_PRICE} if is_price else {}
    return {"range": {f"{row.field}.ascending" if is_price else row.field: {"gte": edges[at], **above}}}


def _edges(row: Filter, minor_digits: int) -> Sequence[float]:
    """All edges as the index has the values: minor units of prices, floats as they are."""
    if row.kind is Kind.MONEY:
        return price_edges(minor_digits)
    if row.kind is Kind.RANGE:
        return FLOAT_EDGES
    raise ValueError(f"no buckets for filters of the kind {row.kind}")


def _main_unit(row: Filter, value: float, minor_digits: int) -> float:
    """A value as requests and responses write it: prices in the main unit."""
    return json_number(int(value), minor_digits) if row.kind is Kind.MONEY else value
