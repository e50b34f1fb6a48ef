"""The reading in force: a text that found nothing in; the reading that finds something, as the engine says, out."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from api.search.query import OFFERED
from api.search.readings import How, alone, doubtful_words, has_terms, names, numbers, typos, without_amounts
from api.search.text import text_clauses
from api.search.understand import Understood
from mappings.platforms import Platform

Clause = dict[str, Any]
# How many items several search bodies find, in their order.
Ask = Callable[[Sequence[Clause]], Awaitable[list[int]]]


async def in_force(ask: Ask, strict: Understood, platforms: Sequence[Platform]) -> Understood:
    """The reading in force of a text whose strict reading found nothing; raises what `ask` raises."""
    as_words = numbers(strict, platforms)
    if as_words is None and not has_terms(strict):
        return strict
    candidates = [*([] if as_words is None else [as_words]), strict, names(strict)]
    words = doubtful_words(strict)
    found = await _finds(ask, [*candidates, *(alone(strict, word) for word in words)])
    for candidate, has in zip(candidates, found, strict=False):
        if has:
            return candidate
    known = {word.typed for word, has in zip(words, found[len(candidates) :], strict=True) if has}
    loose = [typos(strict, known, How.TYPOS), typos(strict, (), How.ALL_TYPOS)]
    mistyped = [one for one in loose if one is not None]
    for loosest, has in zip(mistyped, await _finds(ask, mistyped), strict=True):
        if has:
            return loosest
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
