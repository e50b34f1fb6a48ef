"""A price list on a disk without room."""

import tempfile
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from api.background.tasks import BackgroundTasks
from api.engine.responses import Json
from api.errors import ApiError
from api.search.prices.price_lists import PriceLists
from api.search.response_cache import IndexRevision
from tests.support.faults.small_disk import SmallDisk, small_disk
from tests.support.platforms import shared_platforms

KEY = (730, None)
CS2 = next(iter(shared_platforms()))


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallDisk]:
    """A disk of a megabyte for temporary files."""
    with small_disk(1) as mounted:
        monkeypatch.setattr(tempfile, "tempdir", str(mounted.folder))
        yield mounted


async def test_a_price_list_without_room_is_refused_until_there_is_some(disk: SmallDisk) -> None:
    async def ask(_: Any) -> bytes:
        return b"the same"

    async def rows() -> AsyncIterator[Json]:
        for number in range(1_000):
            yield {"name": f"Case {number}"}

    tasks = BackgroundTasks()
    lists = PriceLists(IndexRevision(ask, tasks), tasks)
    disk.fill()
    with pytest.raises(ApiError) as refused:
        await lists.make(KEY, CS2, rows)
    assert refused.value.code == "overloaded"
    assert await lists.current(KEY, CS2) is None
    disk.make_room()
    prices = await lists.make(KEY, CS2, rows)
    assert b"".join(prices.pieces()).count(b"Case") == 1_000
