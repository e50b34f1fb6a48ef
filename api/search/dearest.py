"""The dearest items first: a question in, prices from which on its page may be looked for.

The index lies in the order of prices, the cheapest first (docs/decisions/0033). A page of the dearest is at the end of
what the engine would go through, where each item is dearer than all before it; asked only for what costs at least so
much, it begins there. How many items there are by price is asked once in a while: what is out of date makes a worse
guess and no other answer, because a page that is short of hits is looked for in more.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from api.search.engine_answers import Answer
from api.search.query import Clause, Question, costing, dearest_first, most_cents
from api.search.results import total_of
from mappings.money import MOST_MINOR
from mappings.platforms import Platform

KEEP_SECONDS = 600.0
# Items: the engine goes through so many in less time than it takes to ask it once more.
REACH = 2_000
WIDENED = 25  # times as many where they were too few
_PLACES = MOST_MINOR.bit_length()

Ask = Callable[[Sequence[Platform], Sequence[Clause]], Awaitable[list[Answer]]]
_Names = tuple[int, ...]


@dataclass(frozen=True)
class Prices:
    """How many items cost from 2^k to 2^(k+1) - 1 minor units, for each k from 0 on."""

    counts: tuple[int, ...]

    def reached(self, items: int, most: int) -> int | None:
        """The price at which about so many items cost no less and no more than `most`; None where there are fewer."""
        end = math.log2(max(1, most + 1))
        left = float(items)
        for place in range(min(len(self.counts), math.ceil(end)) - 1, -1, -1):
            top = min(end, place + 1.0)
            # as many items as in any other stretch of the same ratio between two powers
            here = self.counts[place] * (top - place)
            if here >= left:
                # the dearest of all may end anywhere in their stretch
                ends_here = not any(self.counts[place + 1 :])
                return 2**place if ends_here and here < left * WIDENED else int(2 ** (top - left / self.counts[place]))
            left -= here
        return None


class Dearest:
    """Knows roughly what the items of platforms cost."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._known: dict[_Names, tuple[float, asyncio.Task[Prices]]] = {}

    async def bounds(
        self, platforms: Sequence[Platform], question: Question, needed: int, most: int | None = None
    ) -> Iterator[int]:
        """Least prices, each lower than those before, to look for so many items from; none where that gains nothing.

        `most`: what has been met costs no less. Raises ApiError `search_unavailable`.
        """
        if not dearest_first(question):
            return iter(())
        prices = await self._prices(platforms)
        return _bounds(prices, needed, most_cents(question) if most is None else most)

    async def _prices(self, platforms: Sequence[Platform]) -> Prices:
        names = tuple(platform.id for platform in platforms)
        asked, task = self._known.get(names, (-math.inf, None))
        if task is None or time.monotonic() - asked > KEEP_SECONDS:
            task = asyncio.create_task(self._counted(names, platforms))
            self._known[names] = (time.monotonic(), task)
        return await asyncio.shield(task)  # who goes away leaves it to the others

    async def _counted(self, names: _Names, platforms: Sequence[Platform]) -> Prices:
        with ExitStack() as undo:
            undo.callback(self._known.pop, names)
            answers = await self._ask(platforms, [costing(2**place, 2 ** (place + 1) - 1) for place in range(_PLACES)])
            undo.pop_all()
        return Prices(tuple(total_of(answer) for answer in answers))


def gains(total: int) -> bool:
    """Whether another guess costs less than going through all of so many hits."""
    return total > 5 * REACH


def _bounds(prices: Prices, needed: int, most: int) -> Iterator[int]:
    items = max(REACH, 4 * needed)
    while (least := prices.reached(items, most)) is not None:
        yield least
        items *= WIDENED
