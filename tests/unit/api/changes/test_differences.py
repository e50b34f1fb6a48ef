"""The differences between snapshots leave no request running."""

import asyncio
from contextlib import aclosing

from api.changes.differences import Snapshot, diff_indices
from api.engine.feed import FeedEngine, SnapshotHit
from api.engine.responses import Json
from api.settings import Settings
from tests.support.services.event_loop import turns


class HangingEngine(FeedEngine):
    """Has a full page of items in each snapshot, and hangs where the next one is read ahead."""

    def __init__(self) -> None:
        super().__init__(Settings(_env_file=None), 30)
        self.started = asyncio.Event()
        self.requests = 0

    async def hits(self, pit: str, body: Json) -> list[SnapshotHit]:
        if "ids" in body.get("query", {}):
            return []
        if "search_after" not in body:
            return [SnapshotHit(key=str(number), fields={"bound": [pit]}) for number in range(body["size"])]
        self.requests += 1
        self.started.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)  # as a connection is closed
            self.requests -= 1
        return []


class EqualEngine(FeedEngine):
    """Has the same two pages of items in each snapshot, at once."""

    def __init__(self) -> None:
        super().__init__(Settings(_env_file=None), 30)

    async def hits(self, pit: str, body: Json) -> list[SnapshotHit]:
        begin = body["size"] if "search_after" in body else 0
        size = body["size"] if begin == 0 else 10
        return [SnapshotHit(key=str(number), sort=[number]) for number in range(begin, begin + size)]


async def test_others_have_the_event_loop_while_items_are_compared() -> None:
    engine = EqualEngine()
    before, after = (Snapshot(engine, 730, pit) for pit in ("before", "after"))
    async with turns() as counted:
        assert [page async for page in diff_indices(before, after) if page] == []
        assert counted() > 20
    await engine.close()


async def test_who_stops_reading_differences_ends_what_was_read_ahead() -> None:
    engine = HangingEngine()
    async with aclosing(diff_indices(Snapshot(engine, 730, "before"), Snapshot(engine, 730, "after"))) as differences:
        await anext(differences)
        await engine.started.wait()
        assert engine.requests == 2
    assert engine.requests == 0
    await engine.close()
