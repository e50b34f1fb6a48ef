"""Index sync: a row that fails by a fault of ours holds up no other, and is set aside after so many failures."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from api.background.workers import running
from api.errors import ApiError
from api.orders import index_sync
from api.orders.index_sync import IndexSync
from store.connection.engine import Store
from store.outbox import index_outbox
from store.outbox.index_outbox import MAX_FAILURES, IndexUpdate
from tests.support.api.waiting import until
from tests.support.store.migrated import migrated


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """A new SQLite store with the items 1, 2 and 3 in its outbox."""
    store = Store(await migrated(f"sqlite+aiosqlite:///{tmp_path}/gear.db"))
    async with store.transaction() as connection:
        await index_outbox.enqueue(connection, 730, [1, 2, 3], datetime.now(UTC))
    yield store
    await store.close()


class Index:
    """Takes all updates but those of some items, and counts how often it got those."""

    def __init__(self, *bad: int) -> None:
        self.bad = set(bad)
        self.failures = 0

    async def publish(self, rows: Sequence[IndexUpdate]) -> list[bool]:
        """Fails as by a bug where one of the rows is bad."""
        if bad := [row.item for row in rows if row.item in self.bad]:
            self.failures += len(rows) == 1
            raise KeyError(bad[0])
        return [True] * len(rows)


async def until_set_aside(store: Store, sync: IndexSync) -> None:
    async def is_set_aside() -> bool:
        sync.worker.wake()
        async with store.reading() as connection:
            return not await index_outbox.any_pending(connection)

    await until(is_set_aside)


async def until_pending(store: Store, sync: IndexSync, number: int) -> None:
    async def is_pending() -> bool:
        sync.worker.wake()
        async with store.reading() as connection:
            return (await index_outbox.pending(connection))[0] == number

    await until(is_pending)


async def test_a_row_that_fails_holds_up_no_other(store: Store) -> None:
    index = Index(2)
    sync = IndexSync(store, index.publish)
    with capture_logs() as logs:
        async with running(sync.worker):
            await until_pending(store, sync, 1)
            index.bad.clear()
            await until_pending(store, sync, 0)
    failures = [entry for entry in logs if entry["log_level"] == "error"]
    assert {(entry["event"], entry["platform"], entry["item"]) for entry in failures} == {
        ("an index update fails; report it", 730, 2)
    }
    assert [entry["failures"] for entry in failures] == list(range(1, len(failures) + 1))


async def test_an_update_without_a_result_fails_alone(store: Store) -> None:
    async def publish(rows: Sequence[IndexUpdate]) -> list[bool]:
        return [True for row in rows if row.item != 2]

    sync = IndexSync(store, publish)
    with capture_logs() as logs:
        async with running(sync.worker):
            await until_pending(store, sync, 1)
    assert {entry["item"] for entry in logs if entry["log_level"] == "error"} == {2}


async def test_what_was_published_before_an_outage_is_recorded(store: Store) -> None:
    published: list[int] = []

    async def publish(rows: Sequence[IndexUpdate]) -> list[bool]:
        if len(rows) > 1:
            raise KeyError(rows[0].item)
        if published:
            raise ApiError("search_unavailable")
        published.extend(row.item for row in rows)
        return [True] * len(rows)

    sync = IndexSync(store, publish)
    with capture_logs() as logs:
        async with running(sync.worker):
            await until_pending(store, sync, 2)
    assert len(published) == 1
    assert [entry["event"] for entry in logs] == ["background work waits for an outage to end"]


async def test_a_row_that_fails_too_often_is_set_aside_until_its_item_changes_or_a_process_starts(
    store: Store,
) -> None:
    index = Index(2)
    sync = IndexSync(store, index.publish, max_failure_retry_seconds=0.001)

    with capture_logs() as logs:
        async with running(sync.worker):
            await until_set_aside(store, sync)
            await until_pending(store, sync, 1)  # as the metric and the doctor say
            assert index.failures == MAX_FAILURES
            async with store.transaction() as connection:
                await index_outbox.enqueue(connection, 730, [2], datetime.now(UTC))
            await until_set_aside(store, sync)
            assert index.failures == 2 * MAX_FAILURES
    set_aside = [entry for entry in logs if entry["event"].startswith("an index update is set aside")]
    assert [(entry["platform"], entry["item"]) for entry in set_aside] == [(730, 2)] * 2
    later = IndexSync(store, Index().publish)  # of the version that is mended
    async with running(later.worker):
        await until_pending(store, later, 0)


async def test_a_row_that_is_set_aside_is_tried_again_after_a_time(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = Index(2)
    sync = IndexSync(store, index.publish, max_failure_retry_seconds=0.001)
    async with running(sync.worker):
        await until_set_aside(store, sync)
        index.bad.clear()
        monkeypatch.setattr(index_sync, "SET_ASIDE_SECONDS", 0.0)
        await until_pending(store, sync, 0)


async def test_a_fault_of_all_rows_sets_none_aside(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_sync, "LEASE_SECONDS", 0.0)
    index = Index(1, 2, 3)
    sync = IndexSync(store, index.publish, max_failure_retry_seconds=0.001)

    async def failed_often() -> bool:
        sync.worker.wake()
        return index.failures > (MAX_FAILURES + 5) * len(index.bad)

    async with running(sync.worker):
        await until(failed_often)
        index.bad.clear()
        monkeypatch.undo()
        await until_pending(store, sync, 0)
