"""Suggestions while typing: values of each kind that have the typed words, counted over the items on offer.

Framework-free.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import orjson

from api.engine.answers import Answer, SearchEngine
from api.engine.clauses import Clause, any_of
from api.search.parsing.prefix import PrefixQuery, PrefixWord
from api.search.query.text import similar
from mappings.fields import OFFERED, SUGGESTED, Suggested
from mappings.folding import fold, single_spaced
from mappings.platforms import Platform

FIRST_VALUES = 500  # of a field whose items have several values, some of which do not match
MAX_VALUES = 65_000  # the engine gives no more than 65,535 buckets
# A short text is mostly the beginning of enough values, which come first anyway: the many items that have a word which
# begins so need not be counted (docs/decisions/0024).
SHORT_TEXT = 12  # letters
_PLACES = {row.kind: place for place, row in enumerate(SUGGESTED)}


@dataclass(frozen=True)
class Suggestion:
    """A text to search for, its kind, how many items on offer have it, and whether it begins with the typed text."""

    text: str
    kind: str
    count: int
    begins: bool


@dataclass(frozen=True)
class SuggestionQuery:
    """One search for the values of a kind: those that begin with the typed text, or those that have its words.

    `fuzzy`: or similar words; `all_values`: every value, not only the most frequent; `forced`: what items must meet.
    """

    row: Suggested
    typed: PrefixQuery
    limit: int
    begins: bool
    fuzzy: bool = False
    all_values: bool = False
    forced: tuple[Clause, ...] = ()

    @property
    def size(self) -> int:
        """How many values to ask for: if too few begin with the text, as many others are enough."""
        if not self.row.several:
            return 2 * self.limit
        return MAX_VALUES if self.all_values else FIRST_VALUES


async def suggest(
    engine: SearchEngine, platforms: Sequence[Platform], text: str, limit: int, forced: tuple[Clause, ...] = ()
) -> bytes:
    """Suggests values with the typed words; only if there are none, similar ones. Raises `search_unavailable`."""
    typed = PrefixQuery(text, tuple(platform.merged_vocabulary for platform in platforms))
    if not typed.words:
        return _response([])
    queries = suggestion_queries(typed, limit, forced)
    suggestions: list[Suggestion] = []
    if len(typed.folded) <= SHORT_TEXT:
        suggestions = await _suggestions(engine, platforms, [query for query in queries if query.begins])
        if len(beginnings := best(suggestions, limit)) == limit:
            return _response(beginnings)
        queries = [query for query in queries if not query.begins]
    suggestions += await _suggestions(engine, platforms, queries)
    if not suggestions and any(word.max_edits for word in typed.words):
        suggestions = await _suggestions(engine, platforms, suggestion_queries(typed, limit, forced, fuzzy=True))
    return _response(best(suggestions, limit))


async def _suggestions(
    engine: SearchEngine, platforms: Sequence[Platform], queries: Sequence[SuggestionQuery]
) -> list[Suggestion]:
    answers = await engine.search_all(platforms, [suggestion_request(query) for query in queries])
    suggestions: list[Suggestion] = []
    incomplete: list[SuggestionQuery] = []
    for query, answer in zip(queries, answers, strict=True):
        values = suggestions_of(query, answer)
        if values is None:
            incomplete.append(replace(query, all_values=True))
        else:
            suggestions += values
    return suggestions + (await _suggestions(engine, platforms, incomplete) if incomplete else [])


def suggestion_queries(
    typed: PrefixQuery, limit: int, forced: tuple[Clause, ...] = (), *, fuzzy: bool = False
) -> list[SuggestionQuery]:
    """All searches for a text: two for each kind."""
    return [
        SuggestionQuery(row, typed, limit, begins, fuzzy, forced=forced)
        for row in SUGGESTED
        for begins in (True, False)
    ]


def suggestion_request(query: SuggestionQuery) -> Clause:
    """The search body of one search."""
    # Two bodies a kind, because one with a filter inside its aggregation takes twice the time of both.
    field, typed = query.row.field, query.typed
    terms: Clause = {"field": field, "size": query.size, "order": [{"_count": "desc"}, {"_key": "asc"}]}
    if query.all_values:
        terms["shard_size"] = MAX_VALUES
    if query.begins:
        clauses: list[Clause] = [{"prefix": {f"{field}.folded": {"value": single_spaced(typed.text.strip())}}}]
    else:
        clauses = [_word_clause(f"{field}.typed", word, query.fuzzy) for word in typed.words]
        if query.row.several:  # one value has all words: fewer than the values that have one each
            clauses = [{"bool": {"filter": clauses}}]
    return {
        "query": {"bool": {"filter": [OFFERED, *query.forced, *clauses]}},
        "aggs": {"texts": {"terms": terms}},
        "size": 0,
        "track_total_hits": False,
    }


def _word_clause(field: str, word: PrefixWord, fuzzy: bool) -> Clause:
    clauses: list[Clause] = [{"match_bool_prefix": {field: prefix}} for prefix in word.prefixes]
    if word.spellings:
        clauses.append({"match": {field: " ".join(word.spellings)}})
    clauses += [{"match": {field: {"query": name, "operator": "and"}}} for name in word.names]
    if fuzzy and word.max_edits:
        clauses.append({"match": {field: similar(word.text, word.max_edits)}})
    return any_of(clauses)


def suggestions_of(query: SuggestionQuery, answer: Answer) -> list[Suggestion] | None:
    """The suggestions of one search; None if they may not be the best or not exactly counted."""
    terms = answer["aggregations"]["texts"]
    row = query.row
    values = [Suggestion(bucket["key"], row.kind, bucket["doc_count"], query.begins) for bucket in terms["buckets"]]
    if row.several:  # the items' other values were counted with those that match
        values = [value for value in values if _matches(query, value)]
    if query.all_values:
        return values
    enough = not row.several or len(values) >= 2 * query.limit or not terms["sum_other_doc_count"]
    return values if enough and not terms["doc_count_error_upper_bound"] else None


def _matches(query: SuggestionQuery, value: Suggestion) -> bool:
    if value.begins:
        return fold(value.text).startswith(query.typed.folded)
    return query.typed.matches(value.text, fuzzy=query.fuzzy)


def best(suggestions: Sequence[Suggestion], limit: int) -> list[Suggestion]:
    """Those that begin with the text first, then the most frequent, then by text and kind; each once."""
    ranked = sorted(suggestions, key=lambda each: (not each.begins, -each.count, each.text, _PLACES[each.kind]))
    unique: dict[tuple[str, str], Suggestion] = {}
    for suggestion in ranked:
        unique.setdefault((suggestion.text, suggestion.kind), suggestion)
    return list(unique.values())[:limit]


def _response(suggestions: Sequence[Suggestion]) -> bytes:
    shown = [{"text": each.text, "kind": each.kind, "count": each.count} for each in suggestions]
    return orjson.dumps({"status": "success", "suggestions": shown})
