"""The revision of indices, if the engine fails to report it."""

import asyncio
import gc
from typing import Any

import pytest
from structlog.testing import capture_logs

from api.background.tasks import BackgroundTasks, StopDeadline
from api.errors import ApiError
from api.search.response_cache import IndexRevision
from tests.support.platforms import shared_platforms

PLATFORMS = list(shared_platforms())


async def test_an_engine_that_fails_late_is_no_unseen_exception() -> None:
    unseen: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unseen.append(context))
    failed = asyncio.Event()

    async def ask(_: Any) -> bytes:
        try:
            await asyncio.sleep(0.05)
            raise ApiError("search_unavailable")
        finally:
            failed.set()

    assert await IndexRevision(ask, BackgroundTasks(), timeout=0.01).current(PLATFORMS) is None
    await failed.wait()
    await asyncio.sleep(0)
    gc.collect()
    await asyncio.sleep(0)
    assert unseen == []


@pytest.mark.parametrize("error", [ApiError("search_unavailable"), ValueError("another shape"), KeyError()])
async def test_whatever_the_engine_raises_the_revision_is_unknown_and_that_is_logged(error: Exception) -> None:
    async def ask(_: Any) -> bytes:
        raise error

    with capture_logs() as logs:
        assert await IndexRevision(ask, BackgroundTasks()).current(PLATFORMS) is None
    assert ["the index revision is unknown" in entry["event"] for entry in logs] == [True]


async def test_a_question_under_way_ends_with_its_owner() -> None:
    cancelled = asyncio.Event()

    async def ask(_: Any) -> bytes:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return b""

    tasks = BackgroundTasks()
    assert await IndexRevision(ask, tasks, timeout=0.01).current(PLATFORMS) is None
    await tasks.close(StopDeadline(0.01))
    assert cancelled.is_set()
