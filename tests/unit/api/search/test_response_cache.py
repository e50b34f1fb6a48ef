"""Kept answers: one question for all who wait, asked after they came; only so many bytes."""

import asyncio
from collections.abc import Sequence

import pytest
from structlog.testing import capture_logs

from api.errors import ApiError
from api.search import response_cache
from api.search.response_cache import Answers, Met, Revisions
from mappings.platforms import Platform, read_platforms

PLATFORMS = list(read_platforms())
ROOM = 1_000_000


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy this machine is."""
    monkeypatch.setattr(response_cache, "PATIENCE_SECONDS", 30.0)


class Index:
    """An engine whose state is a number, and which answers when it is let."""

    def __init__(self) -> None:
        self.state: int | None = 1
        self.asked = 0
        self.let = asyncio.Event()
        self.let.set()

    async def revision(self, _: Sequence[Platform]) -> bytes | None:
        """The state when it was asked."""
        self.asked += 1
        told = None if self.state is None else b"%d" % self.state
        await self.let.wait()
        return told


async def settled() -> None:
    """Lets all that can go on do so."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_who_comes_after_a_question_was_sent_gets_the_next_one() -> None:
    index = Index()
    revisions = Revisions(index.revision)
    index.let.clear()
    first = asyncio.create_task(revisions.now(PLATFORMS))
    await settled()
    index.state = 2
    later = [asyncio.create_task(revisions.now(PLATFORMS)) for _ in range(5)]
    await settled()
    assert index.asked == 1
    index.let.set()
    assert await first == b"1"
    assert await asyncio.gather(*later) == [b"2"] * 5
    assert index.asked == 2


async def test_who_goes_away_takes_nothing_from_the_others() -> None:
    index = Index()
    revisions = Revisions(index.revision)
    index.let.clear()
    leaves, stays = (asyncio.create_task(revisions.now(PLATFORMS)) for _ in range(2))
    await settled()
    leaves.cancel()
    await settled()
    index.let.set()
    assert await stays == b"1"
    assert await revisions.now(PLATFORMS) == b"1"


def uncounted(_: Met) -> None:
    """Who counts nothing."""


async def made(answer: bytes) -> bytes:
    return answer


async def test_an_answer_that_met_a_change_is_not_taken_for_newer_than_it_is() -> None:
    index = Index()
    met: list[Met] = []
    answers = Answers(index.revision, met.append, ROOM)

    async def slow() -> bytes:
        index.state = 2
        return b"of 1 or of 2"

    await answers.keep(b"question", PLATFORMS, slow)
    assert await answers.found(b"question") is None
    await answers.keep(b"question", PLATFORMS, lambda: made(b"of 2"))
    assert await answers.found(b"question") == b"of 2"
    assert await answers.found(b"another") is None
    assert met == ["stale", "hit", "miss"]


async def test_the_oldest_go_where_there_is_no_room() -> None:
    answers = Answers(Index().revision, uncounted, 5_000)
    for number in range(5):
        await answers.keep(b"%d" % number, PLATFORMS, lambda: made(b"x" * 1_000))
        assert await answers.found(b"0") is not None or number > 3
    held = [await answers.found(b"%d" % number) is not None for number in range(5)]
    assert sum(held) == 3
    assert held[4]
    await answers.keep(b"huge", PLATFORMS, lambda: made(b"x" * 10_000))
    assert await answers.found(b"huge") is None


async def test_an_engine_that_does_not_tell_soon_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index()
    met: list[Met] = []
    answers = Answers(index.revision, met.append, ROOM)
    await answers.keep(b"question", PLATFORMS, lambda: made(b"answer"))
    index.let.clear()
    monkeypatch.setattr(response_cache, "PATIENCE_SECONDS", 0.01)
    assert await answers.found(b"question") is None
    monkeypatch.setattr(response_cache, "PATIENCE_SECONDS", 30.0)
    assert await answers.keep(b"question", PLATFORMS, lambda: made(b"a new answer")) == b"a new answer"
    index.let.set()
    assert await answers.found(b"question") == b"a new answer"
    assert met == ["unknown", "hit"]


async def test_an_engine_that_refuses_to_tell_is_searched() -> None:
    async def broken(_: Sequence[Platform]) -> bytes | None:
        raise ApiError("search_unavailable")

    answers = Answers(broken, uncounted, ROOM)
    assert await answers.keep(b"question", PLATFORMS, lambda: made(b"answer")) == b"answer"
    assert await answers.found(b"question") is None


async def test_without_room_nothing_is_kept_and_no_state_asked_for() -> None:
    index = Index()
    answers = Answers(index.revision, uncounted, 0)
    for _ in range(2):
        assert await answers.found(b"question") is None
        assert await answers.keep(b"question", PLATFORMS, lambda: made(b"answer")) == b"answer"
    assert index.asked == 0


async def test_an_engine_that_tells_no_state_is_asked_for_it_once() -> None:
    index = Index()
    index.state = None
    answers = Answers(index.revision, uncounted, ROOM)
    with capture_logs() as logs:
        for _ in range(3):
            assert await answers.keep(b"question", PLATFORMS, lambda: made(b"answer")) == b"answer"
            assert await answers.found(b"question") is None
    assert index.asked == 1
    assert ["indices:monitor/stats" in one["event"] for one in logs] == [True]
