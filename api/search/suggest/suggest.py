"""Suggestions while typing: values of each kind that have the typed words, counted over the items on offer.

Framework-free.
"""

from collections.abc import Sequence
from dataclasses import replace

import orjson

from api.engine.clauses import Clause
from api.engine.responses import SearchEngine
from api.search.parsing.prefix import PrefixQuery
from api.search.suggest.requests import (
    FrequentValues,
    Suggestion,
    SuggestionQuery,
    best,
    count_request,
    counts_of,
    of_kinds,
    suggestion_queries,
    suggestion_request,
    suggestions_of,
)
from mappings.platforms import Platform

# A short text is mostly the beginning of enough values, which come first anyway: the many items that have a word which
# begins so need not be counted (docs/decisions/0024).
SHORT_TEXT = 12  # letters


async def suggest(
    engine: SearchEngine,
    platforms: Sequence[Platform],
    text: str,
    limit: int,
    forced: tuple[Clause, ...] = (),
    frequent: FrequentValues | None = None,
) -> bytes:
    """Suggests values with the typed words; only if there are none, those that they may become, then similar ones.

    Raises `search_unavailable`. Where enough of the `frequent` values begin with the text, no others are counted.
    """
    typed = PrefixQuery(text, tuple(platform.merged_vocabulary for platform in platforms))
    if not typed.words:
        return _response([])
    if frequent is not None and (first := await _first_of(frequent, engine, platforms, typed, limit, forced)):
        return _response(first)
    queries = suggestion_queries(typed, limit, forced)
    suggestions = []
    if len(typed.folded) <= SHORT_TEXT:
        suggestions = await _suggestions(engine, platforms, [query for query in queries if query.begins])
        if len(beginnings := best(suggestions, limit)) == limit:
            return _response(beginnings)
        queries = [query for query in queries if not query.begins]
    suggestions += await _suggestions(engine, platforms, queries)
    completed = replace(typed, completed=True)
    if not suggestions and completed.words != typed.words:
        queries = suggestion_queries(completed, limit, forced)
        suggestions = await _suggestions(engine, platforms, [query for query in queries if not query.begins])
    if not suggestions and any(word.max_edits for word in typed.words):
        suggestions = await _suggestions(engine, platforms, suggestion_queries(typed, limit, forced, fuzzy=True))
    return _response(best(suggestions, limit))


async def _first_of(
    frequent: FrequentValues,
    engine: SearchEngine,
    platforms: Sequence[Platform],
    typed: PrefixQuery,
    limit: int,
    forced: tuple[Clause, ...],
) -> list[Suggestion]:
    """The first suggestions by counting frequent values; none where others may come before them."""
    values = frequent.beginning(typed, 2 * limit)  # twice as many: the order may have changed since
    if len(values) < limit:
        return []
    kinds = of_kinds(values)
    responses = await engine.search_all(platforms, [count_request(row, texts, forced) for row, texts in kinds])
    counted = [
        Suggestion(text, row.kind, count, begins=True)
        for (row, _), response in zip(kinds, responses, strict=True)
        for text, count in counts_of(response)
    ]
    first = best(counted, limit)
    others = values[-1].count if len(values) == 2 * limit else frequent.uncounted
    return first if len(first) == limit and first[-1].count >= others else []


async def _suggestions(
    engine: SearchEngine, platforms: Sequence[Platform], queries: Sequence[SuggestionQuery]
) -> list[Suggestion]:
    responses = await engine.search_all(platforms, [suggestion_request(query) for query in queries])
    suggestions: list[Suggestion] = []
    incomplete: list[SuggestionQuery] = []
    for query, response in zip(queries, responses, strict=True):
        values = suggestions_of(query, response)
        if values is None:
            incomplete.append(replace(query, all_values=True))
        else:
            suggestions += values
    return suggestions + (await _suggestions(engine, platforms, incomplete) if incomplete else [])


def _response(suggestions: Sequence[Suggestion]) -> bytes:
    shown = [{"text": each.text, "kind": each.kind, "count": each.count} for each in suggestions]
    return orjson.dumps({"status": "success", "suggestions": shown})
