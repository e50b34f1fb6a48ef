"""Facets: a question in, the requests that count its items by field out; what was counted in, the facets out. Pure.

A field's own selection does not narrow its own counts. So the facets without a selection share one request, the same as
the search's, and each of the others has its own, without that filter: the engine answers them side by side, and keeps
each answer for every search that differs in nothing but page, sort or that selection.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.search.facets import histogram
from api.search.query.request import Clause, Question, offered_query, values_clause
from api.search.schemas.facets import MOST_VALUES
from mappings.fields import FACETS, Filter, Kind
from mappings.folding import fold

# Buckets asked for in one go. Nine string facets and the ranges of two histograms stay below the 65,535 buckets that
# the engine gives in one answer (search.max_buckets).
MOST_BUCKETS = 5_000

_ROWS = {row.name: row for row in FACETS}


@dataclass(frozen=True)
class FacetRequest:
    """One request to the engine and the facets that its answer counts."""

    rows: tuple[Filter, ...]
    body: Clause


def facet_requests(question: Question) -> list[FacetRequest]:
    """The requests that count all facets which the body asks for."""
    rows = asked_rows(question)
    narrowed = [row for row in rows if has_selection(question, row)]
    shared = tuple(row for row in rows if row not in narrowed)
    requests = [FacetRequest(shared, _counting(question, shared, None))] if shared else []
    return requests + [FacetRequest((row,), _counting(question, (row,), row.name)) for row in narrowed]


def asked_rows(question: Question) -> list[Filter]:
    """The facets that the body asks for, each once, in the order asked."""
    return [_ROWS[name.value] for name in dict.fromkeys(question.body.facets)]


def has_selection(question: Question, row: Filter) -> bool:
    """Whether the search is narrowed by the field itself."""
    return row.name in question.filters


def selected_values(question: Question, row: Filter) -> list[str]:
    """The values of a string field that the body selects."""
    values: list[str] = getattr(question.body.filters, row.name, [])
    return values


def spellings_request(row: Filter, values: list[str]) -> Clause:
    """The request for the values of a platform, on offer or not, that the filter finds with the given ones."""
    return {
        "size": 0,
        "track_total_hits": False,
        "query": {"bool": {"filter": [values_clause(row.field, values)]}},
        "aggregations": {row.name: _terms(row, least=1)},
    }


def next_values_request(row: Filter, query: Clause, after: Clause | None) -> Clause:
    """The request for the next values of a field that has more of them than `MOST_BUCKETS`, in no particular order."""
    composite: Clause = {"size": MOST_BUCKETS, "sources": [{row.name: {"terms": {"field": row.field}}}]}
    if after is not None:
        composite["after"] = after
    return {
        "size": 0,
        "track_total_hits": False,
        "query": query,
        "aggregations": {row.name: {"composite": composite}},
    }


def counts_of(found: Mapping[str, Any]) -> dict[str, int] | None:
    """Items by value, 0 where only items outside the search have it; None where the answer may lack values."""
    buckets = found["buckets"]
    # An index part that has more values than fit leaves some out, and its answer alone fills this one then.
    if len(buckets) >= MOST_BUCKETS:
        return None
    return {bucket["key"]: bucket["doc_count"] for bucket in buckets}


def names_of_none(counts: Mapping[str, int], selected: Sequence[str]) -> bool:
    """Whether a selected value was counted with 0: the engine names values of deleted items too, for a while."""
    chosen = {_compared(value) for value in selected}
    return any(not count and _compared(value) in chosen for value, count in counts.items())


def facet_values(counts: Mapping[str, int], selected: Sequence[str], held: Mapping[str, int]) -> list[dict[str, Any]]:
    """The contract's list: the 500 values with most items and those of the selection that the platform has (`held`).

    The filter finds a value in all its spellings, so the count of each spelling is that of all which fold alike: what a
    search with it gives.
    """
    found: dict[str, int] = {}
    for value, count in counts.items():
        found[_compared(value)] = found.get(_compared(value), 0) + count
    chosen = {_compared(value) for value in selected}
    shown = {value for value, count in counts.items() if count} | set(held)
    ranked = sorted(shown, key=lambda value: (-found.get(_compared(value), 0), value))
    listed = ranked[:MOST_VALUES] + [value for value in ranked[MOST_VALUES:] if _compared(value) in chosen]
    return [{"value": value, "count": found.get(_compared(value), 0)} for value in listed]


def _compared(value: str) -> str:
    """The value as the filter compares it: folded, or as it is where nothing would be left."""
    return fold(value) or value


def _counting(question: Question, rows: tuple[Filter, ...], without: str | None) -> Clause:
    aggregations: Clause = {}
    for row in rows:
        if row.kind is Kind.FOLDED:
            # with a selection, values without items too: a selected one is listed with 0
            aggregations[row.name] = _terms(row, least=1 if without is None else 0)
        else:
            aggregations |= histogram.aggregations(row, question.minor_digits)
    return {
        "size": 0,
        "track_total_hits": False,
        "query": offered_query(question, without),
        "aggregations": aggregations,
    }


def _terms(row: Filter, least: int) -> Clause:
    return {"terms": {"field": row.field, "size": MOST_BUCKETS, "min_doc_count": least}}
