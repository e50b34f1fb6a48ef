"""The search bodies that make a histogram, and the histogram in their responses. Pure."""

import math
from collections.abc import Mapping, Sequence

from api.engine.clauses import Clause, aggregation_request, any_of
from api.engine.responses import EngineResponse, Json
from mappings.fields import Filter, Kind
from mappings.histograms import FLOAT_EDGES, NO_BUCKET, price_edges
from mappings.money import NO_PRICE, json_number

Places = Mapping[int, int]
"""Items by the place of their bucket."""
Extremes = tuple[float, float]
"""The lowest and the highest value."""
NOTHING: Json = {"min": None, "max": None, "buckets": []}


def buckets(row: Filter) -> Clause:
    """The aggregation that counts the items of each bucket."""
    return {"terms": {"field": f"{row.field}Bucket", "size": len(FLOAT_EDGES) + 1}}


def counts_by_place(row: Filter, minor_digits: int, response: EngineResponse) -> Places | None:
    """Items by the place of their bucket; None if some are in a bucket that the histogram does not have."""
    counts = {bucket["key"]: bucket["doc_count"] for bucket in response["aggregations"][row.name]["buckets"]}
    places = {str(place): place for place in range(len(_edges(row, minor_digits)) - 1)}
    if not counts.keys() <= {*places, NO_BUCKET}:
        return None
    return {place: count for key, place in places.items() if (count := counts.get(key))}


def extremes_request(row: Filter, minor_digits: int, query: Clause, places: Places) -> Clause:
    """The search body for the lowest and the highest value, which are in the first and the last bucket with items."""
    edges = _edges(row, minor_digits)
    clauses = [_bucket_clause(row, edges, place) for place in sorted({min(places), max(places)})]
    return aggregation_request(
        {"bool": {"filter": [query, any_of(clauses)]}}, {row.name: {"stats": {"field": row.field}}}
    )


def extremes_of(row: Filter, responses: Sequence[EngineResponse], places: Places) -> Extremes | None:
    """The lowest and the highest value in the responses to `extremes_request`; None if their buckets have not as many
    items any more, or more.
    """
    stats = [response["aggregations"][row.name] for response in responses]
    stats = [each for each in stats if each["count"]]
    if sum(each["count"] for each in stats) != sum(places[place] for place in {min(places), max(places)}):
        return None
    return min(each["min"] for each in stats), max(each["max"] for each in stats)


def are_possible(row: Filter, minor_digits: int, places: Places, clause: Clause, items: int) -> bool:
    """Whether a filter of the histogram's own field can let through so many items. Its bounds may be within buckets."""
    (bounds,) = clause["range"].values()
    low, high = bounds.get("gte", -math.inf), bounds.get("lte", math.inf)
    edges, unit = _edges(row, minor_digits), 1 if row.kind is Kind.MONEY else 0
    counts = [(edges[place], edges[place + 1], count) for place, count in places.items()]
    least = sum(count for first, end, count in counts if low <= first and end - unit <= high)
    most = sum(count for first, end, count in counts if first <= high and (low < end or end == edges[-1]))
    return least <= items <= most


def histogram(row: Filter, minor_digits: int, places: Places, extremes: Extremes | None) -> Json:
    """A histogram from the first to the last bucket with items, of which there are none without extremes."""
    if extremes is None:
        return NOTHING
    lowest, highest = extremes
    edges = [_main_unit(row, edge, minor_digits) for edge in _edges(row, minor_digits)]
    return {
        "min": _main_unit(row, lowest, minor_digits),
        "max": _main_unit(row, highest, minor_digits),
        "buckets": [
            {"from": edges[place], "to": edges[place + 1], "count": places.get(place, 0)}
            for place in range(min(places), max(places) + 1)
        ],
    }


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
    return json_number(int(value), minor_digits) if row.kind is Kind.MONEY else value
