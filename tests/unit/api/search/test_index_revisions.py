"""The state of indices, where the engine fails to tell it."""

import asyncio
import gc
from typing import Any

import pytest

from api.errors import ApiError
from api.search import response_cache
from api.search.response_cache import Revisions
from mappings.platforms import read_platforms


async def test_an_engine_that_fails_late_is_no_unheard_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    unheard: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, about: unheard.append(about))
    monkeypatch.setattr(response_cache, "PATIENCE_SECONDS", 0.01)
    failed = asyncio.Event()

    async def ask(_: Any) -> bytes:
        try:
            await asyncio.sleep(0.05)
            raise ApiError("search_unavailable")
        finally:
            failed.set()

    assert await Revisions(ask).now(list(read_platforms())) is None
    await failed.wait()
    await asyncio.sleep(0)
    gc.collect()
    await asyncio.sleep(0)
    assert unheard == []
