"""The search bodies that make a histogram, and the histogram in their answers. Pure."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from api.engine.answers import Answer, Json
from api.search.query.clauses import Clause, aggregation_request, any_of
from mappings.fields import Filter, Kind
from mappings.histograms import FLOAT_EDGES, NO_BUCKET, price_edges
from mappings.money import NO_PRICE, from_minor

Places = Mapping[int, int]
"""Items by the place of their bucket."""
NOTHING: Json = {"min": None, "max": None, "buckets": []}
_EXTREMES = "_extremes"


def buckets(row: Filter, minor_digits: int, *, by_value: bool = False) -> Clause:
    """The aggregation that counts the items of each bucket; `by_value`, where the items do not say which it is."""
    if not by_value:
        return {"terms": {"field": f"{row.field}Bucket", "size": len(FLOAT_EDGES) + 1}}
    edges = _edges(row, minor_digits)
    ranges: list[Clause] = [{"from": low, "to": high} for low, high in pairwise(edges[:-1])]
    return {"range": {"field": row.field, "ranges": [*ranges, {"from": edges[-2]}]}}


def counts_by_place(aggregation: Mapping[str, Any], *, by_value: bool = False) -> Places:
    """Items by the place of their bucket."""
    found = enumerate(aggregation["buckets"]) if by_value else ((one["key"], one) for one in aggregation["buckets"])
    return {int(place): one["doc_count"] for place, one in found if one["doc_count"] and place != NO_BUCKET}


def extremes_request(row: Filter, minor_digits: int, query: Clause, places: Places) -> Clause:
    """The search body for the lowest and the highest value, which are in the first and the last bucket with items."""
    edges = _edges(row, minor_digits)
    clauses = [_bucket_clause(row, edges, place) for place in sorted({min(places), max(places)})]
    return aggregation_request({"bool": {"filter": [query, any_of(clauses)]}}, _extremes(row))


def histogram_request(row: Filter, minor_digits: int, query: Clause) -> Clause:
    """The search body for a whole histogram, of one moment; `by_value`, so that any index answers it."""
    return aggregation_request(query, {row.name: buckets(row, minor_digits, by_value=True), **_extremes(row)})


def extremes_of(row: Filter, answer: Answer) -> Json | None:
    """The lowest and the highest value in an answer; None if there are no items."""
    stats: Json = answer["aggregations"][row.name + _EXTREMES]
    return stats if stats["count"] else None


def histogram(row: Filter, minor_digits: int, places: Places, extremes: Json | None) -> Json:
    """A histogram from the first to the last bucket with items."""
    if not places or extremes is None:
        return NOTHING
    edges = [_main_unit(row, edge, minor_digits) for edge in _edges(row, minor_digits)]
    return {
        "min": _main_unit(row, extremes["min"], minor_digits),
        "max": _main_unit(row, extremes["max"], minor_digits),
        "buckets": [
            {"from": edges[place], "to": edges[place + 1], "count": places.get(place, 0)}
            for place in range(min(places), max(places) + 1)
        ],
    }


def _extremes(row: Filter) -> Clause:
    return {row.name + _EXTREMES: {"stats": {"field": row.field}}}


def _bucket_clause(row: Filter, edges: Sequence[float], place: int) -> Clause:
    """The items of a bucket; the last one ends with the highest value of all."""
    is_price = row.kind is Kind.MONEY
    above: Clause = {"lt": edges[place + 1]} if place + 2 < len(edges) else {"lt": NO_PRICE} if is_price else {}
    return {"range": {f"{row.field}.ascending" if is_price else row.field: {"gte": edges[place], **above}}}


def _edges(row: Filter, minor_digits: int) -> Sequence[float]:
    """All edges as the index has the values: minor units of prices, floats as they are."""
    return price_edges(minor_digits) if row.kind is Kind.MONEY else FLOAT_EDGES


def _main_unit(row: Filter, value: float, minor_digits: int) -> float:
    """A value as requests and answers write it: prices in the main unit."""
    return float(from_minor(int(value), minor_digits)) if row.kind is Kind.MONEY else value
