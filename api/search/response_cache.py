"""Answers that are kept: what was asked, as it was sent, in; the answer out while the indices are as they were for it.

An answer is given again only when the engine, asked after the request came, says that no copy of any part of the
indices shows anything new: it is never older than one that the engine would have made.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import structlog

from api.errors import ApiError
from mappings.platforms import Platform

log = structlog.get_logger("gear.api")

PATIENCE_SECONDS = 0.1  # more than most searches take: an engine too busy to tell its state is searched instead
_PLACE_BYTES = 500  # of a short key and the objects around an answer; sys.getsizeof of each

# Platforms in, what tells one state of their indices from any other out; None where the engine may not tell.
Ask = Callable[[Sequence[Platform]], Awaitable[bytes | None]]
_Names = tuple[int, ...]
Met = Literal["hit", "stale", "unknown", "miss"]


class Revisions:
    """The state of indices, asked of the engine once for all that want to know it at the same time."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._asking: dict[_Names, asyncio.Task[bytes | None]] = {}
        self._coming: dict[_Names, asyncio.Task[bytes | None]] = {}  # not asked yet: later calls join them
        self._known: dict[_Names, bytes] = {}
        self._refused = False

    def known(self, platforms: Sequence[Platform]) -> bytes | None:
        """The state at the last time that it was asked for."""
        return self._known.get(_names(platforms))

    async def now(self, platforms: Sequence[Platform]) -> bytes | None:
        """The state at a moment after this call; None where the engine does not tell, or not soon."""
        if self._refused:
            return None
        names = _names(platforms)
        coming = self._coming.get(names)
        if coming is None:
            coming = asyncio.create_task(self._asked(names, platforms, self._asking.get(names)))
            self._coming[names] = coming
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                return await asyncio.shield(coming)  # who goes away leaves it to the others
        except TimeoutError:
            return None

    async def _asked(
        self, names: _Names, platforms: Sequence[Platform], before: asyncio.Task[bytes | None] | None
    ) -> bytes | None:
        if before is not None:
            await asyncio.wait([before])
        self._asking[names] = self._coming.pop(names)
        try:
            revision = await self._ask(platforms)
            if revision is None:
                self._refused = True
                log.warning("no answers are kept: allow the engine's user indices:monitor/stats, then start again")
            else:
                self._known[names] = revision
            return revision
        except ApiError:  # what is wrong with the engine is told by the search that follows
            return None
        finally:
            del self._asking[names]


@dataclass(frozen=True)
class _Kept:
    platforms: tuple[Platform, ...]
    revision: bytes
    answer: bytes


class Answers:
    """The answers of one worker that were asked for last, up to a number of bytes; none with 0."""

    def __init__(self, ask: Ask, looked_up: Callable[[Met], None], most_bytes: int) -> None:
        self._revisions = Revisions(ask)
        self._looked_up = looked_up
        self._most = most_bytes
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()
        self._bytes = 0

    async def found(self, question: bytes) -> bytes | None:
        """The answer that is kept for this and still holds."""
        kept = self._kept.get(question)
        if kept is None:
            self._looked_up("miss")
            return None
        known = self._revisions.known(kept.platforms)
        # what is known to be older needs no asking
        revision = await self._revisions.now(kept.platforms) if known == kept.revision else known
        if revision != kept.revision:
            self._looked_up("unknown" if revision is None else "stale")
            return None
        if question in self._kept:
            self._kept.move_to_end(question)
        self._looked_up("hit")
        return kept.answer

    async def keep(
        self, question: bytes, platforms: Sequence[Platform], answer: Callable[[], Awaitable[bytes]]
    ) -> bytes:
        """The answer, made anew and kept; raises what it raises."""
        if not self._most:
            return await answer()
        # The state before the answer is made: what changes meanwhile makes the answer newer than it is taken for.
        revision = self._revisions.known(platforms) or await self._revisions.now(platforms)
        made = await answer()
        if revision is not None:
            self._put(question, _Kept(tuple(platforms), revision, made))
        return made

    def _put(self, question: bytes, kept: _Kept) -> None:
        before = self._kept.pop(question, None)
        if before is not None:
            self._bytes -= _size(question, before)
        self._kept[question] = kept
        self._bytes += _size(question, kept)
        while self._bytes > self._most:
            oldest, held = self._kept.popitem(last=False)
            self._bytes -= _size(oldest, held)


def _names(platforms: Sequence[Platform]) -> _Names:
    return tuple(platform.id for platform in platforms)


def _size(question: bytes, kept: _Kept) -> int:
    return len(question) + len(kept.answer) + _PLACE_BYTES
