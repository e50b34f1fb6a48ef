"""Background tasks end with their owner."""

import asyncio
import gc
from typing import Any

import pytest

from api.background import BackgroundTasks


async def test_closing_waits_for_tasks_and_cancels_those_that_are_late() -> None:
    tasks = BackgroundTasks()
    soon = tasks.start(asyncio.sleep(0.01, "done"))
    never = tasks.start(asyncio.sleep(60))
    await tasks.close(0.1)
    assert soon.result() == "done"
    assert never.cancelled()
    await tasks.close()  # a second time there is nothing left to do


async def test_an_error_is_raised_to_those_who_wait_and_to_nobody_else() -> None:
    unseen: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unseen.append(context))

    async def fail() -> None:
        message = "a bug"
        raise ValueError(message)

    tasks = BackgroundTasks()
    with pytest.raises(ValueError, match="a bug"):
        await tasks.start(fail())
    tasks.start(fail())
    await tasks.close()
    gc.collect()
    await asyncio.sleep(0)
    assert unseen == []
