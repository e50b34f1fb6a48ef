"""Counting: a question in, its facets as the contract shapes them out, asked for together with its page.

Nearly always no more is asked of the engine than what goes with the page. Only whether the platform still has a
selected value that the search does not find, and more values than fit into one answer, are asked for here.
"""

from collections.abc import Sequence
from typing import Any

from api.search.engine.answers import Answer
from api.search.engine.client import Engine
from api.search.facets.facets import (
    FacetRequest,
    asked_rows,
    counts_of,
    facet_requests,
    facet_values,
    names_of_none,
    next_values_request,
    selected_values,
    spellings_request,
)
from api.search.facets.histogram import histogram
from api.search.query.request import Clause, Question
from mappings.fields import Filter, Kind
from mappings.platforms import Platform

Counts = dict[str, int]
Facets = dict[str, Any]


async def with_facets(
    engine: Engine, platforms: Sequence[Platform], question: Question, bodies: Sequence[Clause], *parts: str
) -> tuple[list[Answer], Facets | None]:
    """The answers to some bodies, and the facets by name, in the order asked; None for who asked for none.

    `parts` is what the answers shall have, as `Engine.search_all` takes it. Raises ApiError `search_unavailable`.
    """
    requests = facet_requests(question)
    answers = await engine.search_all(platforms, [*bodies, *(request.body for request in requests)], *parts)
    counted = answers[len(bodies) :]
    facets = await _facets(engine, platforms, question, requests, counted) if requests else None
    return answers[: len(bodies)], facets


async def facets_of(engine: Engine, platforms: Sequence[Platform], question: Question) -> Facets | None:
    """The facets alone, as `with_facets` gives them."""
    requests = facet_requests(question)
    if not requests:
        return None
    counted = await engine.search_all(platforms, [request.body for request in requests])
    return await _facets(engine, platforms, question, requests, counted)


async def _facets(
    engine: Engine,
    platforms: Sequence[Platform],
    question: Question,
    requests: Sequence[FacetRequest],
    answers: Sequence[Answer],
) -> Facets:
    facets: dict[str, Any] = dict.fromkeys(row.name for row in asked_rows(question))
    counts: dict[Filter, Counts] = {}
    doubtful: list[Filter] = []
    for request, answer in zip(requests, answers, strict=True):
        for row in request.rows:
            if row.kind is not Kind.FOLDED:
                facets[row.name] = histogram(row, question.minor_digits, answer["aggregations"])
                continue
            counted = counts_of(answer["aggregations"][row.name])
            if counted is None:
                counted = await _all_values(engine, platforms, row, request.body["query"])
                doubtful.append(row)
            counts[row] = counted
    chosen = {row: selected_values(question, row) for row in counts}
    doubtful += [row for row in counts if names_of_none(counts[row], chosen[row])]
    held = await _spellings(engine, platforms, {row: chosen[row] for row in doubtful if chosen[row]})
    for row, counted in counts.items():
        facets[row.name] = facet_values(counted, chosen[row], held.get(row, {}))
    return facets


async def _spellings(
    engine: Engine, platforms: Sequence[Platform], chosen: dict[Filter, list[str]]
) -> dict[Filter, Counts]:
    """For each field the values of the platforms, on offer or not, that its filter finds with the chosen ones."""
    if not chosen:
        return {}
    requests = [spellings_request(row, values) for row, values in chosen.items()]
    answers = await engine.search_all(platforms, requests)
    held: dict[Filter, Counts] = {}
    for row, request, answer in zip(chosen, requests, answers, strict=True):
        counts = counts_of(answer["aggregations"][row.name])
        held[row] = await _all_values(engine, platforms, row, request["query"]) if counts is None else counts
    return held


async def _all_values(engine: Engine, platforms: Sequence[Platform], row: Filter, query: Clause) -> Counts:
    """The items by value of a field that has more values than fit into one answer."""
    counts: Counts = {}
    after: Clause | None = None
    while True:
        answer = await engine.search(platforms, next_values_request(row, query, after))
        page = answer["aggregations"][row.name]
        counts |= {bucket["key"][row.name]: bucket["doc_count"] for bucket in page["buckets"]}
        after = page.get("after_key")
        if after is None:
            return counts
