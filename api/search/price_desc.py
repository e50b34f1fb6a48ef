"""The dearest items first: a question in, prices from which on its page may be looked for.

The index lies in the order of prices, the cheapest first (docs/decisions/0033). A page of the dearest is at the end of
what the engine would go through, where each item is dearer than all before it; asked only for what costs at least so
much, it begins there. How many items there are by price is asked once in a while: what is out of date makes a worse
guess and no other answer, because a page that is short of hits is looked for in more.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic

from api.errors import ApiError
from api.search.engine.answers import Answer
from api.search.engine.results import total_of
from api.search.query.request import Clause, Question, costing, dearest_of_many, most_cents
from mappings.money import MOST_MINOR
from mappings.platforms import Platform

KEEP_SECONDS = 600.0
RETRY_SECONDS = 10.0
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
        self._known: dict[_Names, tuple[float, Prices]] = {}  # with when they are to be asked for again
        self._asking: dict[_Names, asyncio.Task[Prices]] = {}

    async def bounds(
        self, platforms: Sequence[Platform], question: Question, needed: int, most: int | None = None
    ) -> Iterator[int]:
        """Least prices, each lower than the one before, to look for so many items from; none where that gains nothing.

        `most`: what has been met costs no less.
        """
        if not dearest_of_many(question):
            return iter(())
        prices = await self._prices(platforms)
        return _bounds(prices, needed, most_cents(question) if most is None else most)

    async def _prices(self, platforms: Sequence[Platform]) -> Prices:
        """What is known; who is the first to ask waits, later on it is asked for again meanwhile."""
        names = tuple(platform.id for platform in platforms)
        due, prices = self._known.get(names, (-math.inf, None))
        if monotonic() >= due and names not in self._asking:
            self._asking[names] = asyncio.create_task(self._counted(names, platforms))
        # who goes away leaves it to the others
        return await asyncio.shield(self._asking[names]) if prices is None else prices

    async def _counted(self, names: _Names, platforms: Sequence[Platform]) -> Prices:
        keep = KEEP_SECONDS
        try:
            answers = await self._ask(platforms, [costing(2**place, 2 ** (place + 1) - 1) for place in range(_PLACES)])
            prices = Prices(tuple(total_of(answer) for answer in answers))
        except ApiError:  # a search does without a guess, and tells what is wrong with the engine
            keep, (_, prices) = RETRY_SECONDS, self._known.get(names, (0.0, Prices(())))
        finally:
            del self._asking[names]
        self._known[names] = (monotonic() + keep, prices)
        return prices


def gains(total: int) -> bool:
    """Whether another guess costs less than going through all of so many hits."""
    return total > 5 * REACH


def _bounds(prices: Prices, needed: int, most: int) -> Iterator[int]:
    items, last = max(REACH, 4 * needed), math.inf
    while (least := prices.reached(items, most)) is not None:
        if least < last:
            yield least
        items, last = items * WIDENED, least
