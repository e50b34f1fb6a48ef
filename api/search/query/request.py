"""Builds the engine's request bodies from a search query. Pure: no client, no framework, no clock."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, assert_never

from pydantic import BaseModel

from api.engine.clauses import Clause, any_of, price_range
from api.search.parsing.parse import ParsedQuery
from api.search.query.attachments import attachment_clause
from api.search.query.operator_rules import exclude_hidden
from api.search.query.text import text_clauses
from api.search.schemas.search import SearchBody
from mappings.fields import FILTERS, OFFERED, SORTS, TIE_BREAKERS, Filter, Kind, Sort
from mappings.folding import fold, single_spaced
from mappings.money import NO_PRICE

SORTS_BY_NAME = {sort.name: sort for sort in SORTS}
# What the engine sends as the sort value of an item without the field, which it sorts last.
NO_VALUE = (2**63 - 1, -(2**63), "Infinity", "-Infinity", None)


@dataclass(frozen=True)
class Position:
    """Where a cursor stands: how many hits are before it, how many there are, if that is known, and the last before it.

    `after` are the values by which that hit is sorted, or the group's head; none: the cursor is at its start.
    """

    count: int = 0
    total: int | None = None
    after: Sequence[Any] = ()

    def is_last(self, limit: int) -> bool:
        """Whether the total leaves no hits for another page; what was hidden when it was counted is not in it."""
        return self.total is not None and self.total - self.count <= limit


@dataclass(frozen=True)
class SearchQuery:
    """What is searched for, apart from where: the body, its parsed text, a cursor's position, and the filters
    that the token forces.
    """

    body: SearchBody
    parsed: ParsedQuery
    position: Position | None = None
    forced: BaseModel | None = None

    @property
    def minor_digits(self) -> int:
        """The digits of the currency, which all searched platforms have where prices are compared."""
        return self.parsed.parses[0].platform.minor_digits

    # Page, count and facets share these; each is built once.
    @cached_property
    def filters(self) -> dict[str, Clause]:
        """The clause of each filter that narrows, by name, in the order of the table."""
        return filter_clauses(self.body.filters, self.minor_digits)

    @property
    def highest_price(self) -> int:
        """The highest price that the filter by price lets through, in minor units."""
        clause = self.filters.get("price")
        return NO_PRICE - 1 if clause is None else int(clause["range"]["price.ascending"]["lte"])

    @cached_property
    def forced_clauses(self) -> dict[str, Clause]:
        """What every item must meet, whatever the body says, by the filter's name."""
        return filter_clauses(self.forced, self.minor_digits)

    @property
    def hidden_clauses(self) -> list[Clause]:
        """What every item must meet, so that no name is shown that operators have hidden."""
        return exclude_hidden(self.parsed.rules)

    @cached_property
    def offered(self) -> Clause:
        """The query for the items on offer that match the text and all filters."""
        return self.offered_with(self.filters)

    @cached_property
    def _text(self) -> Clause:
        return text_clauses(self.parsed)

    @property
    def sort(self) -> Sort:
        """The sort in force: the body's, else the text's, else `relevance`, which without a text is by price."""
        name = self.parsed.sort or "relevance" if self.body.sort is None else self.body.sort.value
        return SORTS_BY_NAME["price_asc" if name == "relevance" and self.parsed.matches_all else name]

    @property
    def sort_values(self) -> list[Clause]:
        """What hits are sorted by before their tie-breakers."""
        return sort_clauses(self.sort)[: -len(TIE_BREAKERS)]

    @property
    def compares_prices(self) -> bool:
        """Whether the response depends on comparing prices, by filter, facet, group or sort."""
        by_filter_or_facet = any("price" in each for each in (self.filters, self.forced_clauses, self.body.facets))
        return by_filter_or_facet or self.body.group_by is not None or _base_of(self.sort.field) == "price"

    def offered_with(self, filters: dict[str, Clause]) -> Clause:
        """The query for the items on offer that match the text and these filters."""
        demanded = [OFFERED, *self.hidden_clauses, *self.forced_clauses.values(), *filters.values()]
        return {"bool": {**self._text, "filter": [*demanded, *self._text.get("filter", ())]}}

    @property
    def start(self) -> int:
        """How many hits are before the page."""
        return (self.body.page - 1) * self.body.limit if self.position is None else self.position.count

    @property
    def total(self) -> int | None:
        """The exact total if a cursor knows it already: nothing moves a point in time."""
        return None if self.position is None else self.position.total

    def is_page(self, hits: int, total: int) -> bool:
        """Whether the page has so many hits if there are so many in all."""
        return hits == max(0, min(self.body.limit, total - self.start))

    @property
    def hit_requests(self) -> list[Clause]:
        """The search bodies for a page, in the first response, and for its exact total, in the last one.

        They are two if the sort ends early; if every hit is scored before any is shown, counting them costs nothing.
        """
        if self.total is not None:
            return [self.page_request]
        if self.position is not None or self.sort.field == "_score":
            return [self.page_and_count_request]
        return [self.page_request, self.count_request]

    @property
    def page_request(self) -> Clause:
        """The search body for the hits of one page.

        It does not count them, so that a sort by a number ends as soon as the page is full.
        """
        body, sort = self.body, sort_clauses(self.sort)
        request: Clause = {
            "query": self.offered,
            "sort": sort,
            "from": (body.page - 1) * body.limit,
            "size": body.limit,
            "track_total_hits": False,
        }
        if self.position is not None and self.position.is_last(body.limit):
            request["size"] += 1  # one more tells whether a page follows
        if self.position is not None and self.position.after:
            return {**request, "search_after": list(self.position.after)}
        start = _value_before_first_hit(self) if body.page == 1 else None
        return request if start is None else {**request, "search_after": [start, *[-1] * (len(sort) - 1)]}

    @property
    def count_request(self) -> Clause:
        """The search body for the exact total; it is the same for all pages and sorts, so the engine caches it."""
        return {"query": self.offered, "size": 0, "track_total_hits": True}

    @property
    def page_and_count_request(self) -> Clause:
        """Page and total in one search, so that both are of one moment."""
        return {**self.page_request, "track_total_hits": True}


def sort_clauses(sort: Sort) -> list[Clause]:
    """The engine's sort: items without the value last in both directions, ties by id."""
    order = "desc" if sort.descending else "asc"
    if sort.field == "_score":
        return [{"_score": {"order": order}}, {"rank": {"order": "asc", "missing": "_last"}}, *TIE_BREAKERS]
    return [{sort.field: {"order": order, "missing": "_last"}}, *TIE_BREAKERS]


def filter_clauses(filters: BaseModel | None, minor_digits: int) -> dict[str, Clause]:
    """The clause of each filter that narrows, by name, in the order of the table."""
    if filters is None:
        return {}
    clauses = ((row.name, _filter_clause(row, filters, minor_digits)) for row in FILTERS)
    return {name: clause for name, clause in clauses if clause is not None}


def values_clause(field: str, values: list[str]) -> Clause:
    """Any of the values: folded by the engine's normalizer, but as it is where folding leaves nothing of a value."""
    folded = _unique([single_spaced(value) for value in values if fold(value)])
    as_is = _unique([value for value in values if not fold(value)])
    clauses: list[Clause] = []
    if folded:
        clauses.append({"terms": {f"{field}.folded": folded}})
    if as_is:
        clauses.append({"terms": {field: as_is}})
    return any_of(clauses)


def _base_of(field: str) -> str:
    """The field that a sub-field is of: `price` of `price.ascending`."""
    return field.partition(".")[0]


def _value_before_first_hit(query: SearchQuery) -> float | None:
    """A sort value before all hits, if a filter bounds the sorted number at the end that comes first.

    The engine skips by the last value of a full page. If many items lie outside the bound it judges that too little to
    skip by, unless it is told where to begin (docs/decisions/0034).
    """
    sort = query.sort
    for clause in query.filters.values():
        field, bounds = next(iter(clause.get("range", {"": {}}).items()))
        bound = bounds.get("lte" if sort.descending else "gte")
        if _base_of(field) == _base_of(sort.field) and bound not in (None, NO_PRICE - 1):
            outwards = 1 if sort.descending else -1
            return bound + outwards if isinstance(bound, int) else math.nextafter(bound, outwards * math.inf)
    return None


def _filter_clause(row: Filter, filters: BaseModel, minor_digits: int) -> Clause | None:
    condition = getattr(filters, row.name)
    if not condition:
        return None
    match row.kind:
        case Kind.FOLDED:
            return values_clause(row.field, condition)
        case Kind.EXACT | Kind.INTEGER:
            return {"terms": {row.field: _unique([str(value) for value in condition])}}
        case Kind.ATTACHMENTS:
            return attachment_clause(condition)
        case Kind.MONEY | Kind.RANGE:
            return _range_clause(row, condition.min, condition.max, minor_digits)
        case _:
            assert_never(row.kind)


def _range_clause(row: Filter, low: Decimal | None, high: Decimal | None, minor_digits: int) -> Clause | None:
    if low is None and high is None:
        return None
    if row.kind is Kind.MONEY:
        return price_range(low, high, minor_digits)
    # + 0.0 makes -0.0, which the engine orders below 0, an ordinary 0
    bounds = {name: float(bound) + 0.0 for name, bound in (("gte", low), ("lte", high)) if bound is not None}
    return {"range": {row.field: bounds}}


def _unique(values: list[str]) -> list[str]:
    return list(dict.fromkeys(values))
