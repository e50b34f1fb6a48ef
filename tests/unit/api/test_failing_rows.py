"""A row that fails by a fault of ours holds up no other, and is not tried for ever."""

from collections.abc import Sequence
from contextlib import suppress

import pytest
from structlog.testing import capture_logs

from api.background.failing_rows import MAX_FAILED_ROWS, MAX_FAILED_TOGETHER, MAX_FAILURES, FailingRows
from store.connection.errors import StoreUnavailable


class Batches:
    """Work on rows, of which some fail; `written` has those that do not, and `tried` each batch."""

    def __init__(self, *bad: int, error: type[Exception] = KeyError) -> None:
        self.bad = set(bad)
        self.error = error
        self.tried: list[list[int]] = []
        self.written: list[int] = []

    async def __call__(self, rows: Sequence[int]) -> list[int]:
        """A batch, all of it or nothing."""
        self.tried.append(list(rows))
        if self.bad.intersection(rows):
            raise self.error("a fault")
        self.written += rows
        return list(rows)


async def test_a_row_that_fails_holds_up_no_other_and_pauses() -> None:
    failing, batches = FailingRows[int]("test"), Batches(3)
    with capture_logs() as logs:
        assert sorted(await failing.run(range(5), batches)) == sorted(batches.written) == [0, 1, 2, 4]
    assert [(entry["row"], entry["failures"]) for entry in logs] == [("3", 1)]
    assert failing.paused() == [3]
    assert failing.ready(range(5)) == [0, 1, 2, 4]


async def test_a_row_that_works_again_is_as_any_other() -> None:
    failing, batches = FailingRows[int]("test", retry_seconds=0.0), Batches(3)
    for _ in range(MAX_FAILURES - 1):
        await failing.run([3], batches)
    batches.bad.clear()
    assert await failing.run([3], batches) == [3]
    batches.bad.add(3)
    await failing.run([3], batches)
    assert failing.paused() == []


async def test_a_row_that_fails_too_often_is_set_aside() -> None:
    failing, batches = FailingRows[int]("test", retry_seconds=0.0), Batches(3)
    with capture_logs() as logs:
        while rows := failing.ready([3]):
            await failing.run(rows, batches)
    assert len(batches.tried) == MAX_FAILURES
    assert sum("set aside" in entry["event"] for entry in logs) == 1
    assert failing.paused() == [3]


async def test_a_row_that_fails_for_months_is_set_aside_as_before() -> None:
    failing, batches = FailingRows[int]("test"), Batches(3)
    for _ in range(1_100):  # 2.0**1024 is no float
        await failing.run([3], batches)
    assert failing.paused() == [3]


async def test_an_outage_is_no_fault_of_a_row() -> None:
    failing, batches = FailingRows[int]("test"), Batches(3, error=StoreUnavailable)
    with pytest.raises(StoreUnavailable):
        await failing.run(range(5), batches)
    assert batches.tried == [[0, 1, 2, 3, 4]]
    assert failing.paused() == []
    assert await failing.run([], batches) == []


async def test_what_fails_for_all_rows_is_no_fault_of_one() -> None:
    failing, batches = FailingRows[int]("test"), Batches(*range(64))
    with pytest.raises(KeyError):
        await failing.run(range(64), batches)
    assert failing.paused() == []
    assert len(batches.tried) < 2 * MAX_FAILED_TOGETHER + 7
    assert batches.written == []


async def test_a_fault_of_all_rows_delays_none_once_it_is_gone() -> None:
    failing, batches = FailingRows[int]("test"), Batches(*range(20))
    for _ in range(100):
        with pytest.raises(KeyError):
            await failing.run(failing.ready(range(20)), batches)
    batches.bad.clear()
    assert await failing.run(failing.ready(range(20)), batches) == list(range(20))


async def test_a_fault_of_all_rows_is_noticed_where_each_comes_alone() -> None:
    failing, batches = FailingRows[int]("test", retry_seconds=0.0), Batches(*range(20))
    for row in list(range(20)) * MAX_FAILURES:
        with suppress(KeyError):
            await failing.run([row], batches)
    assert failing.paused() == []
    batches.bad.clear()
    assert await failing.run(range(20), batches) == list(range(20))


async def test_rows_that_fail_keep_no_other_waiting_for_ever() -> None:
    failing, batches = FailingRows[int]("test"), Batches(*range(10))
    while not batches.written:
        with suppress(KeyError):
            await failing.run(range(11), batches)
    assert batches.written == [10]
    assert sorted(failing.paused()) == list(range(10))


async def test_so_many_rows_are_remembered() -> None:
    failing, batches = FailingRows[int]("test"), Batches(*range(1, 2 * MAX_FAILED_ROWS))
    for row in range(1, 2 * MAX_FAILED_ROWS):
        await failing.run([0, row], batches)
    assert len(failing.paused()) == MAX_FAILED_ROWS
