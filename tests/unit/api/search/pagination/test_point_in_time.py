"""How many points in time a worker has open is known, whoever fails or goes away."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest

from api.background.tasks import BackgroundTasks
from api.current_request import Arrival, start
from api.engine.client import Engine
from api.engine.errors import PitGoneError, TooManyPitsError
from api.engine.responses import OpenedPit
from api.errors import ApiError
from api.search.context import PointInTime
from api.search.pagination.point_in_time import PointsInTime
from mappings.connection import SearchSettings
from mappings.platforms import Platform
from store.connection.engine import Store
from tests.support.faults.answering_wire import response
from tests.support.faults.scripted_server import HANG, scripted_server
from tests.support.platforms import shared_platforms

(CS2,) = shared_platforms()


class SmallEngine:
    """An engine that opens points in time when it may, or takes no more of them."""

    def __init__(self) -> None:
        self.is_full = False
        self.opened: set[str] = set()
        self.may_open = asyncio.Event()

    async def open_pit(self, _: Sequence[Platform], __: float, ___: Callable[[str], object]) -> OpenedPit:
        await self.may_open.wait()
        if self.is_full:
            raise TooManyPitsError("search_unavailable")
        pit = secrets.token_hex(4)
        self.opened.add(pit)
        return OpenedPit(pit, ())

    async def close_pits(self, pits: Sequence[str]) -> None:
        await asyncio.sleep(0)
        self.opened -= set(pits)


@pytest.fixture
async def full(tmp_path: Path) -> AsyncIterator[tuple[SmallEngine, PointsInTime]]:
    """An engine, and the points in time of a worker in it."""
    engine, tasks, store = SmallEngine(), BackgroundTasks(), Store(f"sqlite+aiosqlite:///{tmp_path}/gear.db")
    yield engine, PointsInTime(engine, store, tasks, grace_seconds=0.0)  # type: ignore[arg-type]  # all that is asked
    await tasks.close()
    await store.close()


async def test_starts_that_a_full_engine_refuses_leave_nothing_counted(
    full: tuple[SmallEngine, PointsInTime],
) -> None:
    engine, worker = full
    engine.is_full = True
    engine.may_open.set()
    worker.release(PointInTime(worker._engine, "of another worker", shared=False, keep_seconds=300.0, products=()))
    starts = [asyncio.create_task(worker.open([CS2])) for _ in range(10)]
    responses = await asyncio.gather(*starts, return_exceptions=True)
    assert {type(response) for response in responses} == {TooManyPitsError}
    assert worker._opened == {}


async def test_a_start_whose_client_goes_away_is_counted_until_it_is_closed(
    full: tuple[SmallEngine, PointsInTime],
) -> None:
    engine, worker = full
    leaves, stays = (asyncio.create_task(worker.open([CS2])) for _ in range(2))
    await asyncio.sleep(0)
    leaves.cancel()
    await asyncio.wait([leaves])
    engine.may_open.set()
    pit = await stays
    assert (len(engine.opened), set(worker._opened)) == (2, engine.opened)
    following = await worker.open([CS2])  # whoever comes next clears up
    assert engine.opened == {pit.id, following.id} == set(worker._opened)
    await worker.discard(pit)
    assert engine.opened == {following.id} == set(worker._opened)


async def test_one_for_a_single_response_is_closed_behind_it_and_is_a_503_where_the_engine_lost_it(
    full: tuple[SmallEngine, PointsInTime],
) -> None:
    engine, worker = full
    engine.may_open.set()

    async def respond() -> None:
        async with worker.own([CS2]) as pit:
            assert engine.opened == {pit.id} == set(worker._opened)
            raise PitGoneError

    with pytest.raises(ApiError, match="search_unavailable"):
        await respond()
    await worker._tasks.close()
    assert (engine.opened, worker._opened) == (set(), {})


async def test_one_that_comes_when_its_request_has_no_time_left_is_closed(tmp_path: Path) -> None:
    serving = response(200, {"gear-730-20260101000000000-01234567": {"aliases": {"gear-730": {}}}})
    tasks, store = BackgroundTasks(), Store(f"sqlite+aiosqlite:///{tmp_path}/gear.db")
    async with scripted_server(
        [[serving], [response(200, {"pit_id": "abc"})], [HANG]], [[response(200, {})]]
    ) as server:
        engine = Engine(SearchSettings(_env_file=None, opensearch_url=server.url), 1)
        start(Arrival(asyncio.get_running_loop().time() - 0.5))
        with pytest.raises(ApiError):
            await PointsInTime(engine, store, tasks).open([CS2])
        await tasks.close()
        assert server.requests[-1][1].startswith("DELETE /_search/point_in_time")
        await engine.close()
    await store.close()
