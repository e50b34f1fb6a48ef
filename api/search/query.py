"""Queries: a checked body in, the request body for the engine out. Pure: no client, no framework, no clock."""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from api.search.attachments import attachment_clause
from api.search.schemas import SearchBody
from api.search.text import text_clauses
from api.search.understand import Understood
from mappings.fields import FILTERS, SORTS, Filter, Kind
from mappings.folding import fold
from mappings.money import at_least, at_most

Clause = dict[str, Any]

_SORTS = {sort.name: sort for sort in SORTS}
# By id; across platforms two items may have the same id.
_TIES: list[Clause] = [{"id": "asc"}, {"platform": "asc"}]
TIES = len(_TIES)  # how many clauses at the end of every sort
# What items bound by an active order are kept out with.
OFFERED: Clause = {"term": {"bound": False}}


@dataclass(frozen=True)
class Question:
    """What is asked of the engine, apart from where: the body, its text as it is read, the currency's digits."""

    body: SearchBody
    understood: Understood
    minor_digits: int


def page_request(question: Question) -> dict[str, Any]:
    """The engine's search body: hits of one page, the exact total, the items as they are answered."""
    body = question.body
    return {
        "query": offered_query(question),
        "sort": sort_clauses(sort_name(body, question.understood)),
        "from": (body.page - 1) * body.limit,
        "size": body.limit,
        "track_total_hits": True,
        "_source": ["item"],
    }


def offered_query(question: Question, without: str | None = None) -> Clause:
    """What an item must be to be found: on offer, with the text, inside all filters but the one named `without`."""
    text = text_clauses(question.understood)
    return {"bool": {**text, "filter": [OFFERED, *filter_clauses(question, without), *text.get("filter", ())]}}


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
    filters = question.body.filters
    if filters is None:
        return []
    clauses = (_clause(row, filters, question.minor_digits) for row in FILTERS if row.name != without)
    return [clause for clause in clauses if clause is not None]


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
    low: float | None
    high: float | None
    if row.kind is Kind.MONEY:
        low = None if asked.min is None else at_least(asked.min, minor_digits)
        high = None if asked.max is None else at_most(asked.max, minor_digits)
    else:
        # + 0.0 makes -0.0, which the engine orders below 0, an ordinary 0
        low = None if asked.min is None else float(asked.min) + 0.0
        high = None if asked.max is None else float(asked.max) + 0.0
    bounds = {name: bound for name, bound in (("gte", low), ("lte", high)) if bound is not None}
    return {"range": {row.field: bounds}} if bounds else None


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
