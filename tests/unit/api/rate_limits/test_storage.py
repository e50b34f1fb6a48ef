"""Counting in this process: keys whose windows are over go, and a charge costs the same however many there are."""

import asyncio
import sys
from types import FrameType
from typing import Any

from limits import parse
from limits.aio.storage import MemoryStorage

from api.rate_limits.storage import LocalStorage, WindowCounter

LIMIT = parse("600/minute")


async def test_a_key_goes_once_its_window_is_over() -> None:
    storage = LocalStorage()
    for key in range(100):
        await storage.incr(str(key), -1)
    for _ in range(100):
        await storage.incr("charged", 60)
    assert (list(storage.expirations), list(storage.storage)) == (["charged"], ["charged"])
    assert storage.storage["charged"] == 100


async def test_a_charge_costs_the_same_however_many_keys_are_counted() -> None:
    assert await calls_of_charges(5_000) < 1.2 * await calls_of_charges(50)


async def calls_of_charges(keys: int) -> int:
    """Calls of functions in 50 charges of keys that are counted, and of the tasks that they begin."""
    counter = WindowCounter("", lambda: None)
    for key in range(keys):
        await counter.charge(LIMIT, str(key), 1)
    await asyncio.sleep(0)
    calls = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        for key in range(50):
            await counter.charge(LIMIT, str(key), 1)
            await asyncio.sleep(0)
    finally:
        sys.setprofile(None)
    return calls


def test_the_library_has_the_method_that_the_storage_overrides() -> None:
    private = "_MemoryStorage__schedule_expiry"
    assert private in vars(LocalStorage)
    assert private in vars(MemoryStorage), (
        f"limits has renamed {private}: override its new name in api/rate_limits/storage.py, "
        "or every charge looks at all keys"
    )
