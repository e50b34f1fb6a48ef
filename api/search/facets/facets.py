"""Counts the values of a search's hits by field (`FacetCounting`). Framework-free. A new way to count goes here.

A field's own filter does not narrow its own counts.

- The facets without a filter share one request with the search's query.
- Each of the others has a request without that filter. A broad price range has several instead, which are added up
  (docs/decisions/0092).
- Nearly always these requests go out with those of the page. Further ones are for a selected value without hits, and
  for more values than one response holds.
- The lowest and the highest value of a histogram are asked for afterwards, among the items of its first and its last
  bucket.

The engine caches each response for every search that differs in nothing but page, sort or that filter. The index may be
refreshed between any two of these requests. What they counted is compared with the items that the page found, and must
fit: those of its query are as many, so are those with the selected values of a field.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from api.engine.clauses import Clause, aggregation_request
from api.engine.responses import EngineResponse, Json, Source, total_of
from api.search.facets.histograms import (
    BucketCounts,
    are_possible,
    buckets,
    counts_by_bucket,
    extremes_of,
    extremes_request,
    histogram,
)
from api.search.facets.price_parts import price_parts
from api.search.query.request import SearchQuery, values_clause
from api.search.schemas.facets import MAX_VALUES
from mappings.fields import FACETS, Filter, Kind
from mappings.folding import fold

# Buckets of one request. Nine string facets and two histograms stay below the 65,535 buckets that the
# engine gives in one response (search.max_buckets).
MAX_BUCKETS = 5_000

Counts = dict[str, int]

_ROWS = {row.name: row for row in FACETS}


class RefreshedError(Exception):
    """The index was refreshed between the requests of one search."""


@dataclass(frozen=True)
class FacetRequest:
    """Some facets, the query for the items that they count, the same in parts, and the search body of each part."""

    rows: tuple[Filter, ...]
    query: Clause
    parts: list[Clause]
    bodies: list[Clause]


class FacetCounting:
    """Counts the facets of a search. It is a source too: the first requests of a page take those of the facets along.

    So both are one round trip; facets whose requests nothing took along ask for themselves. `in_parts`: those of a
    price range are counted in parts.
    """

    def __init__(self, source: Source, query: SearchQuery, *, in_parts: bool = False) -> None:
        self._source = source
        self._query = query
        self._requests = facet_requests(query, in_parts=in_parts)
        self._responses: list[EngineResponse] | None = None

    async def search_all(self, bodies: Sequence[Clause], *filter_path: str) -> list[EngineResponse]:
        """The responses to several search bodies, in one round trip, the first time with those that count."""
        along = [body for request in self._requests for body in request.bodies] if self._responses is None else []
        responses = await self._source.search_all([*bodies, *along], *filter_path)
        self._responses = self._responses or responses[len(bodies) :]
        return responses[: len(bodies)]

    async def facets(self, items: int | None = None) -> Json | None:
        """The requested facets by name, None if there are none; raises ApiError `search_unavailable`.

        Raises RefreshedError for counts of two moments, which contradict each other or the number of `items` that the
        page found, if that is known.
        """
        if not self._requests:
            return None
        if self._responses is None:
            await self.search_all([])
        counts: dict[Filter, Counts] = {}
        histograms: dict[Filter, tuple[FacetRequest, BucketCounts]] = {}
        facets: Json = dict.fromkeys(row.name for row in _requested_rows(self._query))
        incomplete: set[Filter] = set()
        remaining = iter(self._responses or ())
        for request in self._requests:
            responses = list(islice(remaining, len(request.bodies)))
            for row in request.rows:
                if row.kind is not Kind.FOLDED:
                    histograms[row] = request, _bucket_counts(row, self._query.minor_digits, responses)
                    continue
                counted = _values(row, responses)
                if counted is None:
                    incomplete.add(row)
                    counted = await self._all_values(row, request.query)
                counts[row] = counted
            if items is not None and not self._fit(request, responses, counts, histograms, items):
                raise RefreshedError
        selected = {row: getattr(self._query.body.filters, row.name, []) for row in counts}
        unlisted = {
            row: values
            for row, values in selected.items()
            if values and (row in incomplete or has_empty_selected(counts[row], values))
        }
        facets |= await self._histograms(histograms)
        existing = await self._existing_values(unlisted)
        for row, counted in counts.items():
            facets[row.name] = facet_values(counted, selected[row], existing.get(row, {}))
        return facets

    def _fit(
        self,
        request: FacetRequest,
        responses: Sequence[EngineResponse],
        counts: Mapping[Filter, Counts],
        histograms: Mapping[Filter, tuple[FacetRequest, BucketCounts]],
        items: int,
    ) -> bool:
        """Whether the counts of a request are consistent with a total of `items`."""
        row, *_ = request.rows
        own = self._query.filters.get(row.name)
        if own is None:
            return sum(map(total_of, responses)) == items
        if row.kind is not Kind.FOLDED:
            return are_possible(row, self._query.minor_digits, histograms[row][1], own, items)
        selected = set(map(_folded, getattr(self._query.body.filters, row.name)))
        return sum(count for value, count in counts[row].items() if count and _folded(value) in selected) == items

    async def _histograms(self, counted: Mapping[Filter, tuple[FacetRequest, BucketCounts]]) -> Json:
        """The histograms with the lowest and highest value of each; raises RefreshedError."""
        digits = self._query.minor_digits
        bodies = {
            row: [extremes_request(row, digits, part, counts) for part in request.parts]
            for row, (request, counts) in counted.items()
            if counts
        }
        requests = [body for each in bodies.values() for body in each]
        responses = iter(await self._source.search_all(requests) if requests else [])
        counts = {row: counts for row, (_, counts) in counted.items()}
        extremes = {
            row: extremes_of(row, list(islice(responses, len(each))), counts[row]) for row, each in bodies.items()
        }
        if None in extremes.values():
            raise RefreshedError
        return {row.name: histogram(row, digits, counts[row], extremes.get(row)) for row in counted}

    async def _existing_values(self, selected: dict[Filter, list[str]]) -> dict[Filter, Counts]:
        """For each field the values of the platforms, on offer or not, that its filter finds with the selected ones."""
        if not selected:
            return {}
        forced = list(self._query.forced_clauses.values())
        requests = [existing_values_request(row, values, forced) for row, values in selected.items()]
        responses = await self._source.search_all(requests)
        existing: dict[Filter, Counts] = {}
        for row, request, response in zip(selected, requests, responses, strict=True):
            counts = counts_of(row, response)
            existing[row] = await self._all_values(row, request["query"]) if counts is None else counts
        return existing

    async def _all_values(self, row: Filter, query: Clause) -> Counts:
        """The items by value of a field that has more values than fit into one response."""
        counts: Counts = {}
        after: Clause | None = None
        while True:
            (response,) = await self._source.search_all([next_values_request(row, query, after)])
            page = response["aggregations"][row.name]
            counts |= {bucket["key"][row.name]: bucket["doc_count"] for bucket in page["buckets"]}
            after = page.get("after_key")
            if after is None:
                return counts


def facet_requests(query: SearchQuery, *, in_parts: bool = False) -> list[FacetRequest]:
    """The requests that count all facets of the body; `in_parts`: those of parts that many searches share."""
    rows = _requested_rows(query)
    filtered = [row for row in rows if row.name in query.filters]
    shared = tuple(row for row in rows if row not in filtered)
    together = [shared] if shared else []
    return [_facet_request(query, each, in_parts=in_parts) for each in (*together, *((row,) for row in filtered))]


def existing_values_request(row: Filter, values: list[str], forced: Sequence[Clause]) -> Clause:
    """The search body for the values of a platform, on offer or not, that the filter finds with these."""
    return aggregation_request(
        {"bool": {"filter": [*forced, values_clause(row.field, values)]}}, {row.name: _terms(row, min_count=1)}
    )


def next_values_request(row: Filter, query: Clause, after: Clause | None) -> Clause:
    """The search body for the next values of a field that has more than `MAX_BUCKETS`, in no particular order."""
    composite: Clause = {"size": MAX_BUCKETS, "sources": [{row.name: {"terms": {"field": row.field}}}]}
    if after is not None:
        composite["after"] = after
    return aggregation_request(query, {row.name: {"composite": composite}})


def counts_of(row: Filter, response: EngineResponse) -> Counts | None:
    """Items by value, 0 if only items outside the search have it; None if values may be missing."""
    value_buckets = response["aggregations"][row.name]["buckets"]
    # A shard that has more values than fit leaves some out, and then its response alone fills this one.
    if len(value_buckets) >= MAX_BUCKETS:
        return None
    return {bucket["key"]: bucket["doc_count"] for bucket in value_buckets}


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


def _facet_request(query: SearchQuery, rows: tuple[Filter, ...], *, in_parts: bool) -> FacetRequest:
    """Counts a facet that has a filter of its own without that filter, and several that have none."""
    has_filter = rows[0].name in query.filters
    aggregations: Clause = {}
    for row in rows:
        if row.kind is Kind.FOLDED:
            # with a filter, values without items too: a selected one is listed with 0
            aggregations[row.name] = _terms(row, min_count=0 if has_filter else 1)
        else:
            aggregations[row.name] = buckets(row)
    filters = {name: clause for name, clause in query.filters.items() if name != rows[0].name}
    clause = query.offered_with(filters) if has_filter else query.offered
    prices = price_parts(filters["price"], query.minor_digits) if in_parts and "price" in filters else []
    # each has some of the items, and the first what many searches count alike
    parts = [query.offered_with({**filters, "price": price}) for price in prices] or [clause]
    # without a filter of its own the total is that of the page
    bodies = [aggregation_request(part, aggregations, with_total=not has_filter) for part in parts]
    return FacetRequest(rows, clause, parts, bodies)


def _bucket_counts(row: Filter, minor_digits: int, responses: Sequence[EngineResponse]) -> BucketCounts:
    """Items by the position of their bucket, in all parts together; raises RefreshedError for a bucket that is none."""
    bucket_counts = Counter[int]()
    for response in responses:
        counts = counts_by_bucket(row, minor_digits, response)
        if counts is None:
            raise RefreshedError
        bucket_counts.update(counts)
    return bucket_counts


def _values(row: Filter, responses: Sequence[EngineResponse]) -> Counts | None:
    """Items by value, in all parts together; None if values may be missing."""
    values = Counter[str]()
    for response in responses:
        counts = counts_of(row, response)
        if counts is None:
            return None
        values.update(counts)
    return values


def _terms(row: Filter, min_count: int) -> Clause:
    return {"terms": {"field": row.field, "size": MAX_BUCKETS, "min_doc_count": min_count}}
