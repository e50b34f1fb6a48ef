"""The searches for suggestions: values of each kind that have the typed words, counted over what is on offer.

Of the most frequent values, those that begin with a text are known without the index. Pure.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest

from api.engine.clauses import Clause, any_of
from api.engine.responses import EngineResponse
from api.search.parsing.prefix import PrefixQuery, PrefixWord
from api.search.query.text import similar
from mappings.fields import OFFERED, SUGGESTED, Suggested
from mappings.folding import LAST_LETTER, fold, single_spaced

FIRST_VALUES = 500  # of a field whose items have several values, some of which do not match
MAX_VALUES = 65_000  # the engine gives no more than 65,535 buckets
MANY_VALUES = frozenset({"name", "stickers"})
"""Fields that count by filters: `terms` needs their global ordinals, which the engine makes anew after each refresh."""
BY_FREQUENCY = [{"_count": "desc"}, {"_key": "asc"}]
_PLACES = {row.kind: place for place, row in enumerate(SUGGESTED)}

Counts = Sequence[tuple[str, int]]
"""Values of a kind and how many items have each, the most frequent first."""


@dataclass(frozen=True, slots=True)
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


def suggestion_queries(
    typed: PrefixQuery, limit: int, forced: tuple[Clause, ...] = (), *, fuzzy: bool = False
) -> list[SuggestionQuery]:
    """All searches for a text: two for each kind."""
    return [
        SuggestionQuery(row, typed, limit, begins, fuzzy, forced=forced)
        for row in SUGGESTED
        for begins in (True, False)
    ]


def of_kinds(values: Iterable[Suggestion]) -> list[tuple[Suggested, list[str]]]:
    """The texts of these values, those of a kind together."""
    texts: dict[str, list[str]] = {}
    for value in values:
        texts.setdefault(value.kind, []).append(value.text)
    return [(row, texts[row.kind]) for row in SUGGESTED if row.kind in texts]


def count_request(row: Suggested, texts: Sequence[str], forced: tuple[Clause, ...]) -> Clause:
    """The search body that counts these values of a kind; `forced`: what items must meet."""
    field = row.field
    wanted: Clause = {"terms": {field: list(texts)}}
    aggregation: Clause = {"terms": {"field": field, "size": len(texts), "include": list(texts)}}
    if field == "finish":  # no listing is found by it, but its product is
        wanted = {"terms": {f"{field}.folded": [single_spaced(text) for text in texts]}}
    elif field in MANY_VALUES:
        aggregation = {"filters": {"filters": {text: {"term": {field: text}} for text in texts}}}
    return _counting([*forced, wanted], aggregation)


def suggestion_request(query: SuggestionQuery) -> Clause:
    # Two bodies a kind, because one with a filter inside its aggregation takes twice the time of both.
    field, typed = query.row.field, query.typed
    terms: Clause = {"field": field, "size": query.size, "order": BY_FREQUENCY}
    if query.all_values:
        terms["shard_size"] = MAX_VALUES
    if query.begins:
        clauses: list[Clause] = [{"prefix": {f"{field}.folded": {"value": single_spaced(typed.text.strip())}}}]
    else:
        clauses = [_word_clause(f"{field}.typed", word, query.fuzzy) for word in typed.words]
        if query.row.several:  # one value has all words: fewer than the values that have one each
            clauses = [{"bool": {"filter": clauses}}]
    return _counting([*query.forced, *clauses], {"terms": terms})


def frequent_request(row: Suggested, limit: int) -> Clause:
    """The search body for the most frequent values of a kind."""
    return _counting([], {"terms": {"field": row.field, "size": limit, "order": BY_FREQUENCY}})


def _counting(clauses: Sequence[Clause], aggregation: Clause) -> Clause:
    return {
        "query": {"bool": {"filter": [OFFERED, *clauses]}},
        "aggs": {"texts": aggregation},
        "size": 0,
        "track_total_hits": False,
    }


def counts_of(response: EngineResponse) -> list[tuple[str, int]]:
    """The values that items on offer have, and how many of these."""
    buckets = response["aggregations"]["texts"]["buckets"]
    if isinstance(buckets, dict):
        return [(text, bucket["doc_count"]) for text, bucket in buckets.items() if bucket["doc_count"]]
    return [(bucket["key"], bucket["doc_count"]) for bucket in buckets]


def uncounted_of(response: EngineResponse) -> int:
    """How many items a value may have that the most frequent ones do not count; 0 where these are all."""
    terms = response["aggregations"]["texts"]
    if not terms["sum_other_doc_count"]:
        return 0
    last: int = terms["buckets"][-1]["doc_count"]
    return last + int(terms["doc_count_error_upper_bound"])


def _word_clause(field: str, word: PrefixWord, fuzzy: bool) -> Clause:
    clauses: list[Clause] = [{"match_bool_prefix": {field: prefix}} for prefix in word.prefixes]
    if word.spellings:
        clauses.append({"match": {field: " ".join(word.spellings)}})
    clauses += [{"match": {field: {"query": name, "operator": "and"}}} for name in word.names]
    if fuzzy and word.max_edits:
        clauses.append({"match": {field: similar(word.text, word.max_edits)}})
    return any_of(clauses)


def suggestions_of(query: SuggestionQuery, response: EngineResponse) -> list[Suggestion] | None:
    """The suggestions of one search; None if they may not be the best or not exactly counted."""
    terms = response["aggregations"]["texts"]
    row = query.row
    values = [Suggestion(text, row.kind, count, query.begins) for text, count in counts_of(response)]
    if row.several:  # the items' other values were counted with those that match
        values = [value for value in values if _matches(query, value)]
    if query.all_values:
        return values
    enough = not row.several or len(values) >= 2 * query.limit or not terms["sum_other_doc_count"]
    return values if enough and not terms["doc_count_error_upper_bound"] else None


def _matches(query: SuggestionQuery, value: Suggestion) -> bool:
    if value.begins:
        return query.typed.begins(value.text)
    return query.typed.matches(value.text, fuzzy=query.fuzzy)


def rank(suggestion: Suggestion) -> tuple[bool, int, str, int]:
    """What sorts suggestions: those that begin with the text first, then the most frequent, then by text and kind."""
    return not suggestion.begins, -suggestion.count, suggestion.text, _PLACES[suggestion.kind]


def best(suggestions: Sequence[Suggestion], limit: int) -> list[Suggestion]:
    """The first by rank, each once."""
    unique: dict[tuple[str, str], Suggestion] = {}
    for suggestion in sorted(suggestions, key=rank):
        unique.setdefault((suggestion.text, suggestion.kind), suggestion)
    return list(unique.values())[:limit]


class FrequentValues:
    """All values that more items have than any that was not counted, as of one moment."""

    def __init__(self, counts: Mapping[str, Counts], uncounted: int) -> None:
        """The counts of each kind; no value that was not counted has more items than `uncounted`."""
        self.uncounted = uncounted
        values = [
            Suggestion(text, kind, count, begins=False)
            for kind, each in counts.items()
            for text, count in each
            if count > uncounted
        ]
        values.sort(key=rank)
        self._values = values
        self._folded = sorted((fold(value.text), place) for place, value in enumerate(values))

    def beginning(self, typed: PrefixQuery, limit: int) -> list[Suggestion]:
        """The most frequent that begin with the text."""
        start = bisect_left(self._folded, (typed.folded,))
        end = bisect_right(self._folded, (typed.folded + LAST_LETTER,))
        places = nsmallest(limit, (place for _, place in self._folded[start:end]))
        return [self._values[place] for place in places]
