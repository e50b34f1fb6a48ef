"""Queries: a checked body in, the request body for the engine out. Pure: no client, no framework, no clock."""

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from pydantic import BaseModel

from api.search.parsing.parse import Understood
from api.search.query.attachments import attachment_clause
from api.search.query.text import price_range, text_clauses
from api.search.schemas.search import SearchBody
from mappings.fields import FILTERS, SORTS, Filter, Kind, Sort
from mappings.folding import fold
from mappings.money import NO_PRICE
from mappings.vocabulary import words_of

Clause = dict[str, Any]

_SORTS = {sort.name: sort for sort in SORTS}
# By id; across platforms two items may have the same id.
_TIES: list[Clause] = [{"id": "asc"}, {"platform": "asc"}]
TIES = len(_TIES)  # how many clauses at the end of every sort
# What the engine sends as the sort value of an item without the field, where those are last.
NO_VALUE = (2**63 - 1, -(2**63), "Infinity", "-Infinity", None)
# What items bound by an active order are kept out with. They are few and the others all: what has to be left out costs
# the engine nothing where there is none, what has to be met is looked at for every item.
OFFERED: Clause = {"bool": {"must_not": [{"term": {"bound": True}}]}}


# Filters that hardly anything passes, and how many words make a text that little has.
_OF_FEW = frozenset({"ids", "seed", "pattern"})
_WORDS_OF_FEW = 3


@dataclass(frozen=True)
class Question:
    """What is asked of the engine, apart from where: the body, its text as it is read, the currency's digits."""

    body: SearchBody
    understood: Understood
    minor_digits: int

    # Page, number and facets ask for the same; each is written once.
    @cached_property
    def filters(self) -> dict[str, Clause]:
        """The clause of each filter that narrows, by name, in the order of the table."""
        filters = self.body.filters
        if filters is None:
            return {}
        clauses = ((row.name, _clause(row, filters, self.minor_digits)) for row in FILTERS)
        return {name: clause for name, clause in clauses if clause is not None}

    @cached_property
    def offered(self) -> Clause:
        """What an item must be to be found: on offer, with the text, inside all filters."""
        return _offered(self.text, list(self.filters.values()))

    @cached_property
    def text(self) -> Clause:
        """What an item must be to have the text."""
        return text_clauses(self.understood)


def hit_requests(question: Question) -> list[Clause]:
    """The engine's search bodies for a page, in the first answer, and its exact number, in the last one.

    Where a sort ends early they are two; where each hit is scored before any is shown, counting them costs nothing.
    """
    if _sort(question).field == "_score":
        return [whole_request(question)]
    return [page_request(question), count_request(question)]


def page_request(question: Question) -> Clause:
    """The engine's search body for the hits of one page, the items as they are answered.

    Without their number, so that a sort by a number ends as soon as the page is full.
    """
    body = question.body
    sort = sort_clauses(sort_name(body, question.understood))
    request: Clause = {
        "query": offered_query(question),
        "sort": sort,
        "from": (body.page - 1) * body.limit,
        "size": body.limit,
        "track_total_hits": False,
    }
    before = _just_before(question) if body.page == 1 else None
    return request if before is None else {**request, "search_after": [before, *[-1] * (len(sort) - 1)]}


def count_request(question: Question) -> Clause:
    """The engine's search body for the exact number of hits: the same, and kept, for all pages and sorts."""
    return {"query": offered_query(question), "size": 0, "track_total_hits": True}


def whole_request(question: Question) -> Clause:
    """Page and number in one: what they say is of one moment."""
    return {**page_request(question), "track_total_hits": True}


def from_price(request: Clause, least: int, most: int = NO_PRICE - 1) -> Clause:
    """The same request of what costs at least so many minor units; NO_PRICE for both: of what has no price."""
    asked = request["query"]["bool"]
    return {**request, "query": {"bool": {**asked, "filter": [*asked["filter"], _costs(least, most)]}}}


def costing(least: int, most: int) -> Clause:
    """The engine's search body for the number of items, on offer or not, that cost so many minor units."""
    return {"query": _costs(least, most), "size": 0, "track_total_hits": True}


def _costs(least: int, most: int) -> Clause:
    return {"range": {"price.ascending": {"gte": least, "lte": most}}}


def dearest_first(question: Question) -> bool:
    """Whether the page is sorted against the order in which the index lies."""
    return _sort(question).name == "price_desc"


def dearest_of_many(question: Question) -> bool:
    """Whether it is, and nothing tells before it is asked that hardly anything is found."""
    if not dearest_first(question):
        return False
    return _OF_FEW.isdisjoint(question.filters) and len(words_of(question.body.query or "")) < _WORDS_OF_FEW


def most_cents(question: Question) -> int:
    """The most minor units that the filter by price lets through."""
    filtered = question.filters.get("price")
    most: int = NO_PRICE - 1 if filtered is None else filtered["range"]["price.ascending"]["lte"]
    return most


def fits(body: SearchBody, hits: int, total: int) -> bool:
    """Whether a page may have so many hits where there are so many in all."""
    return hits == max(0, min(body.limit, total - (body.page - 1) * body.limit))


def _just_before(question: Question) -> float | None:
    """A value before all hits, where the page is sorted by a number that a filter gives a bound to begin with.

    The engine skips by the last value of a full page; where many items lie outside the bound it finds that too little
    to skip by, unless it is told where to begin (docs/decisions/0034).
    """
    sort = _sort(question)
    for clause in filter_clauses(question):
        field, bounds = next(iter(clause.get("range", {"": {}}).items()))
        bound = bounds.get("lte" if sort.descending else "gte")
        if field.startswith(sort.field) and bound not in (None, NO_PRICE - 1):
            outwards = 1 if sort.descending else -1
            return bound + outwards if isinstance(bound, int) else math.nextafter(bound, outwards * math.inf)
    return None


def offered_query(question: Question, without: str | None = None) -> Clause:
    """What an item must be to be found: on offer, with the text, inside all filters but the one named `without`."""
    return question.offered if without is None else _offered(question.text, filter_clauses(question, without))


def _offered(text: Clause, filters: list[Clause]) -> Clause:
    return {"bool": {**text, "filter": [OFFERED, *filters, *text.get("filter", ())]}}


def _sort(question: Question) -> Sort:
    return _SORTS[sort_name(question.body, question.understood)]


def sort_name(body: SearchBody, understood: Understood) -> str:
    """The sort in force: the asked one, `relevance` where there is a text; without a text `relevance` is by price."""
    name = body.sort.value if body.sort is not None else "relevance"
    return "price_asc" if name == "relevance" and understood.everything else name


def asks_for_price(body: SearchBody, understood: Understood) -> bool:
    """Whether the answer depends on comparing prices, by filter, by facet, by group or by sort."""
    price = getattr(body.filters, "price", None)
    filtered = price is not None and (price.min is not None or price.max is not None)
    compared = filtered or "price" in body.facets or body.group_by is not None
    return compared or sort_name(body, understood).startswith("price_")


def sort_clauses(name: str) -> list[Clause]:
    """The engine's sort: items without the value last in both directions, ties by id."""
    sort = _SORTS[name]
    order = "desc" if sort.descending else "asc"
    if sort.field == "_score":
        return [{"_score": {"order": order}}, {"rank": {"order": "asc", "missing": "_last"}}, *_TIES]
    return [{sort.field: {"order": order, "missing": "_last"}}, *_TIES]


def filter_clauses(question: Question, without: str | None = None) -> list[Clause]:
    """One clause a filter that narrows, in the order of the table; the filter named `without` is left out."""
    return [clause for name, clause in question.filters.items() if name != without]


def _clause(row: Filter, filters: BaseModel, minor_digits: int) -> Clause | None:
    asked = getattr(filters, row.name)
    if not asked:
        return None
    if row.kind is Kind.FOLDED:
        return values_clause(row.field, asked)
    if row.kind is Kind.WHOLE:
        return {"terms": {row.field: _unique([str(value) for value in asked])}}
    if row.kind is Kind.ATTACHED:
        return attachment_clause(asked)
    if asked.min is None and asked.max is None:
        return None
    return _range(row, asked.min, asked.max, minor_digits)


def _range(row: Filter, least: Decimal | None, most: Decimal | None, minor_digits: int) -> Clause:
    if row.kind is Kind.MONEY:
        return price_range(least, most, minor_digits)
    # + 0.0 makes -0.0, which the engine orders below 0, an ordinary 0
    bounds = {name: float(bound) + 0.0 for name, bound in (("gte", least), ("lte", most)) if bound is not None}
    return {"range": {row.field: bounds}}


def values_clause(field: str, values: list[str]) -> Clause:
    """Any of the values: folded by the engine's normalizer, but as it is where nothing would be left of a value."""
    folded = _unique([value for value in values if fold(value)])
    as_is = _unique([value for value in values if not fold(value)])
    clauses: list[Clause] = []
    if folded:
        clauses.append({"terms": {f"{field}.folded": folded}})
    if as_is:
        clauses.append({"terms": {field: as_is}})
    return clauses[0] if len(clauses) == 1 else {"bool": {"should": clauses, "minimum_should_match": 1}}


def _unique(values: list[str]) -> list[str]:
    return list(dict.fromkeys(values))
