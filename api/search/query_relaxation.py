"""The reading in force: a text that found nothing in; the reading that finds something, as the engine says, out."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from api.search.parsing.parse import Understood
from api.search.parsing.relaxations import (
    alone,
    candidates,
    doubtful_words,
    has_terms,
    mistyped,
    numbers,
    without_amounts,
)
from api.search.query.request import OFFERED
from api.search.query.text import text_clauses
from mappings.platforms import Platform

Clause = dict[str, Any]
# How many items several search bodies find, in their order.
Ask = Callable[[Sequence[Clause]], Awaitable[list[int]]]


async def in_force(ask: Ask, strict: Understood, platforms: Sequence[Platform]) -> Understood:
    """The reading in force of a text whose strict reading found nothing; raises what `ask` raises."""
    if not has_terms(strict) and numbers(strict, platforms) is None:
        return strict
    readings, words = candidates(strict, platforms), doubtful_words(strict)
    found = await _finds(ask, [*readings, *(alone(strict, word) for word in words)])
    for reading, has in zip(readings, found, strict=False):
        if has:
            return reading
    known = {word.typed for word, has in zip(words, found[len(readings) :], strict=True) if has}
    loose = mistyped(strict, known)
    for reading, has in zip(loose, await _finds(ask, loose), strict=True):
        if has:
            return reading
    return strict


async def _finds(ask: Ask, readings: Sequence[Understood]) -> list[bool]:
    """For each reading whether an offered item has its terms, whatever its amounts."""
    if not readings:
        return []
    return [found > 0 for found in await ask([probe(one) for one in readings])]


def probe(understood: Understood) -> Clause:
    """The engine's search body that finds out whether an offered item has a reading's terms."""
    text = text_clauses(without_amounts(understood))
    query = {"bool": {**text, "filter": [OFFERED, *text.get("filter", ())]}}
    return {"query": query, "size": 0, "track_total_hits": 1, "terminate_after": 1}
