"""The clauses that queries are built of, and those of pins and hides. Pure."""

from collections.abc import Iterable
from decimal import Decimal

from api.engine.clauses import Clause
from mappings.money import NO_PRICE, ceil_minor, floor_minor
from mappings.platforms import Platform
from mappings.vocabulary.rules import TextRules

PIN_SCORE = 10_000
"""Higher than the score of any text; each pinned name scores this much more than the next.

The sum stays exact in the engine's 32-bit numbers.
"""


def constant_score(clause: Clause, score: int) -> Clause:
    """The clause with a fixed score."""
    return {"constant_score": {"filter": clause, "boost": score}}


def price_range(low: Decimal | None, high: Decimal | None, minor_digits: int) -> Clause:
    """Prices between inclusive bounds; None: no bound. An item without a price never matches."""
    # a bound beyond every price is one that no price meets; the engine takes no number of more than 64 bits
    bounds = {} if low is None else {"gte": min(ceil_minor(low, minor_digits), NO_PRICE)}
    bounds["lte"] = NO_PRICE - 1 if high is None else min(floor_minor(high, minor_digits), NO_PRICE - 1)
    return {"range": {"price.ascending": bounds}}


def aggregation_request(query: Clause, aggregations: Clause) -> Clause:
    """The search body for aggregations of a query's hits, and nothing else."""
    return {"size": 0, "track_total_hits": False, "query": query, "aggregations": aggregations}


def pinned_clause(rules: TextRules) -> Clause | None:
    """What matches an item with a pinned name."""
    return _named(rules, rules.pinned) if rules.pinned else None


def pin_scores(each: Iterable[TextRules]) -> list[Clause]:
    """What puts pinned names first, in their order."""
    return [
        constant_score(_named(rules, (name,)), PIN_SCORE * (len(rules.pinned) - place))
        for rules in each
        for place, name in enumerate(rules.pinned)
    ]


def hidden_clauses(each: Iterable[TextRules]) -> list[Clause]:
    """What items must meet so that no name is shown that is hidden."""
    return [{"bool": {"must_not": [_named(rules, rules.hidden)]}} for rules in each if rules.hidden]


def hidden_from_all(platforms: Iterable[Platform]) -> list[Clause]:
    """The same for what no text finds."""
    return hidden_clauses(platform.rules.of_text(platform.id, "") for platform in platforms)


def _named(rules: TextRules, names: tuple[str, ...]) -> Clause:
    filters: list[Clause] = [{"terms": {"name": list(names)}}, {"term": {"platform": rules.platform}}]
    return {"bool": {"filter": filters}}
