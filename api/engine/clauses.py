"""Clauses of the engine's query language. Pure."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from mappings.money import NO_PRICE, ceil_minor, floor_minor

Clause = dict[str, Any]


def any_of(clauses: Sequence[Clause]) -> Clause:
    """At least one of the clauses; a single one as it is."""
    return clauses[0] if len(clauses) == 1 else {"bool": {"should": list(clauses), "minimum_should_match": 1}}


def constant_score(clause: Clause, score: int) -> Clause:
    return {"constant_score": {"filter": clause, "boost": score}}


def price_range(low: Decimal | None, high: Decimal | None, minor_digits: int) -> Clause:
    """Prices between inclusive bounds; None: no bound. An item without a price never matches."""
    # a bound beyond every price is one that no price meets; the engine takes no number of more than 64 bits
    bounds = {} if low is None else {"gte": min(ceil_minor(low, minor_digits), NO_PRICE)}
    bounds["lte"] = NO_PRICE - 1 if high is None else min(floor_minor(high, minor_digits), NO_PRICE - 1)
    return {"range": {"price.ascending": bounds}}


def probe(query: Clause) -> Clause:
    """The search body that asks only if there is an item.

    The first hit ends it. It needs no `terminate_after`, with which the engine counted no hit in a segment of 2,048
    documents or more where any of several values was excluded.
    """
    return {"query": query, "size": 0, "track_total_hits": 1}


def is_probe(body: Clause) -> bool:
    """Whether a search asks only if there is an item."""
    return body.get("size") == 0 and body.get("track_total_hits") == 1


def aggregation_request(query: Clause, aggregations: Clause, *, with_total: bool = False) -> Clause:
    """The search body for aggregations of a query's hits, and nothing else but their number where that is wanted."""
    return {"size": 0, "track_total_hits": with_total, "query": query, "aggregations": aggregations}
