"""Suggestions from end to end: what was typed in, the answer's bytes out."""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from api.search.engine.client import Engine
from api.search.parsing.prefix import Typed
from api.search.suggest.suggestions import (
    Asked,
    Suggestion,
    best,
    questions,
    suggest_answer,
    suggestion_request,
    suggestions_of,
)
from mappings.fields import SUGGESTED
from mappings.platforms import Platform

MOST_TEXT_CHARACTERS = 100
DEFAULT_SUGGESTIONS = 8
MOST_SUGGESTIONS = 20
# A letter or two begin enough, and what begins with the text comes first: the many items that have a word which
# begins so need not be counted.
SHORT = 2

KindName = StrEnum("KindName", {row.kind: row.kind for row in SUGGESTED})  # type: ignore[misc]  # names from the table
OfText = Annotated[str, Query(min_length=1, max_length=MOST_TEXT_CHARACTERS, description="what was typed so far")]
OfPlatform = Annotated[str | None, Query(description="slug or id of a platform; all platforms where absent")]
Limit = Annotated[int, Query(ge=1, le=MOST_SUGGESTIONS, description="how many at most")]


class SuggestionEntry(BaseModel):
    """A text to search for; `sticker` is one that is on an item."""

    text: str
    kind: KindName
    count: Annotated[int, Field(ge=1, description="how many items on offer have it, exactly")]


class SuggestAnswer(BaseModel):
    """The best suggestions first."""

    status: Literal["success"]
    suggestions: list[SuggestionEntry]


async def suggest(engine: Engine, platforms: Sequence[Platform], text: str, limit: int) -> bytes:
    """Suggests what begins with the words; only where nothing does, what is similar. Raises `search_unavailable`."""
    typed = Typed(text, tuple(platform.language for platform in platforms))
    if not typed.words:
        return suggest_answer([])
    asked = questions(typed, limit, loosely=False)
    if len(typed.folded) <= SHORT:
        found = best(await _found(engine, platforms, [one for one in asked if one.begins]), limit)
        if len(found) == limit:
            return suggest_answer(found)
    found = await _found(engine, platforms, asked)
    if not found and any(word.edits for word in typed.words):
        found = await _found(engine, platforms, questions(typed, limit, loosely=True))
    return suggest_answer(best(found, limit))


async def _found(engine: Engine, platforms: Sequence[Platform], asked: Sequence[Asked]) -> list[Suggestion]:
    answers = await engine.search_all(platforms, [suggestion_request(one) for one in asked])
    found: list[Suggestion] = []
    again: list[Asked] = []
    for one, answer in zip(asked, answers, strict=True):
        some = suggestions_of(one, answer)
        if some is None:
            again.append(replace(one, all_texts=True))
        else:
            found += some
    return found + (await _found(engine, platforms, again) if again else [])
