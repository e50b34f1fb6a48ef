"""Callbacks of real processes: what was committed is told, whoever is killed, and by whoever is alive."""

import asyncio
import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from api.settings import Settings
from tests.support.app import new_token
from tests.support.orders.desk import Desk
from tests.support.orders.processes import variables, worker
from tests.support.orders.shop import KNIFE, opened
from tests.support.services.processes import command
from tests.support.services.receiver import Receiver
from tests.support.store.migrated import migrated

LOCAL: dict[str, Any] = {"GEAR_ALLOW_INSECURE_CALLBACKS": "true"}


async def patiently(condition: Callable[[], bool], otherwise: str) -> None:
    """Waits for a condition that takes a process to start, on a busy machine."""
    for _ in range(3000):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(otherwise)


async def until_received(receiver: Receiver, *events: str) -> None:
    """Waits until exactly these events came."""
    await patiently(lambda: len(receiver.events) >= len(events), f"{events} did not come")
    assert receiver.events == list(events)


async def test_a_kill_between_the_commit_and_the_callback_loses_nothing(settings: Settings, tmp_path: Path) -> None:
    await migrated(settings.database_url)
    token = await new_token(settings.database_url, "order")
    with Receiver() as receiver:
        body = {"account": "a", "email": "buyer@example.com", "platform": "cs2", "item": str(KNIFE)}
        async with worker(settings, tmp_path, token, GEAR_DELIVER_CALLBACKS="false", **LOCAL) as serving:
            answer = await serving.client.post("/v1/gear", json={**body, "callbackUrl": receiver.url})
            serving.process.send_signal(signal.SIGKILL)
            assert await serving.process.wait() == -signal.SIGKILL
        assert answer.status_code == 201, answer.text
        assert receiver.received == []
        async with command(tmp_path, {**variables(settings), **LOCAL}, "deliver") as delivering:
            await until_received(receiver, "order.created")
            assert json.loads(receiver.received[0].body)["data"]["order"] == answer.json()["order"]
            delivering.send_signal(signal.SIGTERM)
            assert await delivering.wait() == 0


async def test_several_processes_make_each_callback_once(desk: Desk, tmp_path: Path) -> None:
    given = {"GEAR_DATABASE_URL": desk.url, "GEAR_PUBLIC_URL": "http://gear.test", **LOCAL}
    with Receiver() as receiver:
        async with command(tmp_path, given, "deliver") as one, command(tmp_path, given, "deliver") as other:
            for _ in range(20):
                await desk.move(await desk.place(receiver.url), "processing")
            await patiently(lambda: len(set(receiver.ids)) == 40, "not every callback came")
            for process in (one, other):
                process.send_signal(signal.SIGTERM)
                await process.wait()
        assert len(receiver.ids) == len(set(receiver.ids)) == 40


async def test_an_order_is_indexed_by_the_app_that_took_it(settings: Settings) -> None:
    told = settings.model_copy(update={"allow_insecure_callbacks": True})
    with Receiver() as receiver:
        async with opened(told) as shop:
            order = await shop.placed(callbackUrl=receiver.url)
            await until_received(receiver, "order.created")
        assert json.loads(receiver.received[0].body)["data"]["order"] == order


async def test_an_app_that_is_not_to_make_callbacks_makes_none(sqlite_settings: Settings) -> None:
    silent = sqlite_settings.model_copy(update={"allow_insecure_callbacks": True, "deliver_callbacks": False})
    loud = silent.model_copy(update={"deliver_callbacks": True})
    with Receiver() as receiver:
        async with opened(silent) as shop:
            await shop.placed(callbackUrl=receiver.url)
            await shop.until_hidden()  # by then the other work after the commit is done
            assert receiver.received == []
        async with opened(loud):
            await until_received(receiver, "order.created")
