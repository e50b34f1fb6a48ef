"""Callbacks of real processes: each is made once, by those that are to make them."""

import json
import signal
from pathlib import Path
from typing import Any

from api.settings import Settings
from tests.support.api.waiting import until
from tests.support.orders.desk import Desk
from tests.support.orders.shop import opened
from tests.support.services.processes import command
from tests.support.services.receiver import Receiver

LOCAL: dict[str, Any] = {"GEAR_ALLOW_INSECURE_CALLBACKS": "true"}


async def test_several_processes_make_each_callback_once(desk: Desk, tmp_path: Path) -> None:
    environment = {"GEAR_DATABASE_URL": desk.url, "GEAR_PUBLIC_URL": "http://gear.test", **LOCAL}
    with Receiver() as receiver:
        async with (
            command(tmp_path, environment, "deliver") as first,
            command(tmp_path, environment, "deliver") as second,
        ):
            for _ in range(20):
                await desk.move(await desk.place(receiver.url), "processing")
            await until(lambda: len(set(receiver.ids)) == 40, 60)
            for process in (first, second):
                process.send_signal(signal.SIGTERM)
                await process.wait()
        assert len(receiver.ids) == len(set(receiver.ids)) == 40


async def test_an_order_is_indexed_by_the_app_that_took_it(settings: Settings) -> None:
    calling_back = settings.model_copy(update={"allow_insecure_callbacks": True})
    with Receiver() as receiver:
        async with opened(calling_back) as shop:
            order = await shop.placed(callbackUrl=receiver.url)
            await receiver.until_received("order.created")
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
            await receiver.until_received("order.created")
