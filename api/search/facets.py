"""Counts the values of a search's hits by field. Pure. A new kind of facet goes here.

A field's own filter does not narrow its own counts. So the facets without a filter share one request with the search's
query, and each of the others has a request without that filter. The engine answers them side by side and caches each
answer for every search that differs in nothing but page, sort or that filter. Nearly always these requests go out with
those of the page; only a selected value without hits, and more values than one answer holds, take further ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.engine.answers import Answer, Json
from api.search.context import SearchContext
from api.search.query.clauses import Clause
from api.search.query.histogram import histogram, histogram_aggregations
from api.search.query.request import SearchQuery, values_clause
from api.search.schemas.facets import MAX_VALUES
from mappings.fields import FACETS, Filter, Kind
from mappings.folding import fold

# Buckets of one request. Nine string facets and the ranges of two histograms stay below the 65,535 buckets that the
# engine gives in one answer (search.max_buckets).
MAX_BUCKETS = 5_000

Counts = dict[str, int]

_ROWS = {row.name: row for row in FACETS}


@dataclass(frozen=True)
class FacetRequest:
    """A search body and the facets that its answer counts."""

    rows: tuple[Filter, ...]
    body: Clause


async def search_with_facets(
    context: SearchContext, requests: Sequence[Clause], *filter_path: str
) -> tuple[list[Answer], Json | None]:
    """The answers to search bodies, and the requested facets by name; None if the body requests none.

    Raises ApiError `search_unavailable`.
    """
    facet = facet_requests(context.query)
    answers = await context.search_all([*requests, *(request.body for request in facet)], *filter_path)
    hits, counted = answers[: len(requests)], answers[len(requests) :]
    return hits, await _facets(context, facet, counted) if facet else None


async def facets_of(context: SearchContext) -> Json | None:
    """The facets alone; otherwise as `search_with_facets`."""
    requests = facet_requests(context.query)
    if not requests:
        return None
    return await _facets(context, requests, await context.search_all([request.body for request in requests]))


def facet_requests(query: SearchQuery) -> list[FacetRequest]:
    """The requests that count all facets of the body."""
    rows = _requested_rows(query)
    filtered = [row for row in rows if row.name in query.filters]
    shared = tuple(row for row in rows if row not in filtered)
    requests = [FacetRequest(shared, _count_request(query, shared, None))] if shared else []
    return requests + [FacetRequest((row,), _count_request(query, (row,), row.name)) for row in filtered]


async def _facets(context: SearchContext, requests: Sequence[FacetRequest], answers: Sequence[Answer]) -> Json:
    query = context.query
    facets: Json = dict.fromkeys(row.name for row in _requested_rows(query))
    counts: dict[Filter, Counts] = {}
    incomplete: set[Filter] = set()
    for request, answer in zip(requests, answers, strict=True):
        for row in request.rows:
            if row.kind is not Kind.FOLDED:
                facets[row.name] = histogram(row, query.minor_digits, answer["aggregations"])
                continue
            counted = counts_of(answer["aggregations"][row.name])
            if counted is None:
                incomplete.add(row)
                counted = await _all_values(context, row, request.body["query"])
            counts[row] = counted
    selected: dict[Filter, list[str]] = {row: getattr(query.body.filters, row.name, []) for row in counts}
    unlisted = {
        row: selected[row]
        for row in counts
        if selected[row] and (row in incomplete or has_empty_selected(counts[row], selected[row]))
    }
    existing = await _existing_values(context, unlisted)
    for row, counted in counts.items():
        facets[row.name] = facet_values(counted, selected[row], existing.get(row, {}))
    return facets


async def _existing_values(context: SearchContext, selected: dict[Filter, list[str]]) -> dict[Filter, Counts]:
    """For each field the values of the platforms, on offer or not, that its filter finds with the selected ones."""
    if not selected:
        return {}
    requests = [existing_values_request(row, values) for row, values in selected.items()]
    answers = await context.search_all(requests)
    existing: dict[Filter, Counts] = {}
    for row, request, answer in zip(selected, requests, answers, strict=True):
        counts = counts_of(answer["aggregations"][row.name])
        existing[row] = await _all_values(context, row, request["query"]) if counts is None else counts
    return existing


async def _all_values(context: SearchContext, row: Filter, query: Clause) -> Counts:
    """The items by value of a field that has more values than fit into one answer."""
    counts: Counts = {}
    after: Clause | None = None
    while True:
        answer = await context.search(next_values_request(row, query, after))
        page = answer["aggregations"][row.name]
        counts |= {bucket["key"][row.name]: bucket["doc_count"] for bucket in page["buckets"]}
        after = page.get("after_key")
        if after is None:
            return counts


def existing_values_request(row: Filter, values: list[str]) -> Clause:
    """The search body for the values of a platform, on offer or not, that the filter finds with these."""
    return _aggregation_request(
        {"bool": {"filter": [values_clause(row.field, values)]}}, {row.name: _terms(row, min_count=1)}
    )


def next_values_request(row: Filter, query: Clause, after: Clause | None) -> Clause:
    """The search body for the next values of a field that has more than `MAX_BUCKETS`, in no particular order."""
    composite: Clause = {"size": MAX_BUCKETS, "sources": [{row.name: {"terms": {"field": row.field}}}]}
    if after is not None:
        composite["after"] = after
    return _aggregation_request(query, {row.name: {"composite": composite}})


def counts_of(terms: Mapping[str, Any]) -> Counts | None:
    """Items by value, 0 if only items outside the search have it; None if values may be missing."""
    buckets = terms["buckets"]
    # A shard that has more values than fit leaves some out, and then its answer alone fills this one.
    if len(buckets) >= MAX_BUCKETS:
        return None
    return {bucket["key"]: bucket["doc_count"] for bucket in buckets}


def has_empty_selected(counts: Mapping[str, int], selected: Sequence[str]) -> bool:
    """Whether a selected value was counted with 0: for a while the engine lists values of deleted items too."""
    folded = {_folded(value) for value in selected}
    return any(not count and _folded(value) in folded for value, count in counts.items())


def facet_values(counts: Mapping[str, int], selected: Sequence[str], existing: Mapping[str, int]) -> list[Json]:
    """The 500 values with most items, and those of the selection that the platform has (`existing`).

    The filter finds a value in all its spellings, so the count of each spelling is that of all which fold alike: the
    total of a search with it.
    """
    totals: Counts = {}
    for value, count in counts.items():
        totals[_folded(value)] = totals.get(_folded(value), 0) + count
    folded_selection = {_folded(value) for value in selected}
    values = {value for value, count in counts.items() if count} | set(existing)
    ranked = sorted(values, key=lambda value: (-totals.get(_folded(value), 0), value))
    listed = ranked[:MAX_VALUES] + [value for value in ranked[MAX_VALUES:] if _folded(value) in folded_selection]
    return [{"value": value, "count": totals.get(_folded(value), 0)} for value in listed]


def _requested_rows(query: SearchQuery) -> list[Filter]:
    """The requested facets, each once, in their order."""
    return [_ROWS[name.value] for name in dict.fromkeys(query.body.facets)]


def _folded(value: str) -> str:
    """The value as the filter compares it: folded, or as it is if folding leaves nothing."""
    return fold(value) or value


def _count_request(query: SearchQuery, rows: tuple[Filter, ...], without: str | None) -> Clause:
    aggregations: Clause = {}
    for row in rows:
        if row.kind is Kind.FOLDED:
            # with a filter, values without items too: a selected one is listed with 0
            aggregations[row.name] = _terms(row, min_count=1 if without is None else 0)
        else:
            aggregations |= histogram_aggregations(row, query.minor_digits)
    return _aggregation_request(query.offered if without is None else query.offered_without(without), aggregations)


def _aggregation_request(query: Clause, aggregations: Clause) -> Clause:
    return {"size": 0, "track_total_hits": False, "query": query, "aggregations": aggregations}


def _terms(row: Filter, min_count: int) -> Clause:
    return {"terms": {"field": row.field, "size": MAX_BUCKETS, "min_doc_count": min_count}}
