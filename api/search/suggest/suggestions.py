"""Suggestions: a typed text in, request bodies for the engine out; its answers in, the best suggestions out. Pure.

Each kind is asked for itself: the values of its field, counted over the offered items that have the words there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from api.search.engine.answers import Answer
from api.search.parsing.prefix import Typed, TypedWord, fold
from api.search.query.request import OFFERED, Clause
from api.search.query.text import any_of, similar
from mappings.fields import SUGGESTED, Suggested

FIRST_TEXTS = 500  # of a field where items have several values, some of which were not asked for
MOST_TEXTS = 65_000  # the engine gives no more than 65,535 buckets
_PLACES = {row.kind: place for place, row in enumerate(SUGGESTED)}


@dataclass(frozen=True)
class Suggestion:
    """A text to search for, what it is the name of, and how many items on offer have it."""

    text: str
    kind: str
    count: int
    begins: bool  # with all that was typed


@dataclass(frozen=True)
class Asked:
    """One question to the engine: the values of a kind that begin with a text, or those that have its words.

    `loosely`: or similar words; `all_texts`: each value is wanted, not only the most offered.
    """

    row: Suggested
    typed: Typed
    limit: int
    begins: bool
    loosely: bool = False
    all_texts: bool = False

    @property
    def texts(self) -> int:
        """How many values to ask for: where too few begin with the text, as many others are enough."""
        if not self.row.several:
            return 2 * self.limit
        return MOST_TEXTS if self.all_texts else FIRST_TEXTS


def questions(typed: Typed, limit: int, loosely: bool) -> list[Asked]:
    """All that is asked for a text: one after the other the two questions of each kind."""
    return [Asked(row, typed, limit, begins, loosely) for row in SUGGESTED for begins in (True, False)]


def suggestion_request(asked: Asked) -> dict[str, Any]:
    """The engine's search body for one question."""
    # Two bodies, because one with a filter inside its aggregation takes twice the time of both.
    field, typed = asked.row.field, asked.typed
    terms: Clause = {"field": field, "size": asked.texts, "order": [{"_count": "desc"}, {"_key": "asc"}]}
    if asked.all_texts:
        terms["shard_size"] = MOST_TEXTS
    if asked.begins:
        clauses: list[Clause] = [{"prefix": {f"{field}.folded": {"value": typed.text.strip()}}}]
    else:
        clauses = [_word(f"{field}.typed", word, asked.loosely) for word in typed.words]
    return {
        "query": {"bool": {"filter": [OFFERED, *clauses]}},
        "aggs": {"texts": {"terms": terms}},
        "size": 0,
        "track_total_hits": False,
    }


def _word(field: str, word: TypedWord, loosely: bool) -> Clause:
    clauses: list[Clause] = [{"match_bool_prefix": {field: one}} for one in word.begun]
    if word.whole:
        clauses.append({"match": {field: " ".join(word.whole)}})
    clauses += [{"match": {field: {"query": name, "operator": "and"}}} for name in word.meant]
    if loosely and word.edits:
        clauses.append({"match": {field: similar(word.text, word.edits)}})
    return any_of(clauses)


def suggestions_of(asked: Asked, answer: Answer) -> list[Suggestion] | None:
    """What one question found; None where that is not certain to be the best, exactly counted: then ask for all."""
    terms = answer["aggregations"]["texts"]
    row, typed = asked.row, asked.typed
    found = [Suggestion(bucket["key"], row.kind, bucket["doc_count"], asked.begins) for bucket in terms["buckets"]]
    if row.several:  # the items' other values were counted with those that were asked for
        found = [one for one in found if _meets(typed, one, asked.loosely)]
    if asked.all_texts:
        return found
    enough = not row.several or len(found) >= 2 * asked.limit or not terms["sum_other_doc_count"]
    return found if enough and not terms["doc_count_error_upper_bound"] else None


def _meets(typed: Typed, one: Suggestion, loosely: bool) -> bool:
    return fold(one.text).startswith(typed.folded) if one.begins else typed.meets(one.text, loosely)


def best(found: Sequence[Suggestion], limit: int) -> list[Suggestion]:
    """Those that begin with the text first, then the most offered, then by text and kind; each once."""
    once: dict[tuple[str, str], Suggestion] = {}
    for one in sorted(found, key=lambda one: (not one.begins, -one.count, one.text, _PLACES[one.kind])):
        once.setdefault((one.text, one.kind), one)
    return list(once.values())[:limit]


def suggest_answer(found: Sequence[Suggestion]) -> bytes:
    """The answer as the contract shapes it."""
    shown = [{"text": one.text, "kind": one.kind, "count": one.count} for one in found]
    return orjson.dumps({"status": "success", "suggestions": shown})
