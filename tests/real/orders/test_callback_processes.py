"""Callbacks of real processes: what was committed is told, whoever is killed, and by whoever is alive."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from api.settings import Settings
from tests.support.app import new_token
from tests.support.orders.desk import Desk
from tests.support.orders.shop import KNIFE, bearer, opened
from tests.support.receiver import Receiver
from tests.support.servers import free_port
from tests.support.store.migrated import migrated

COMMAND = (sys.executable, "-c", "from api.cli.main import main; main()")


def environment(settings: Settings, **more: str) -> dict[str, str]:
    """What a process needs to know to do the work of these settings."""
    given = {
        "GEAR_OPENSEARCH_URL": settings.opensearch_url,
        "GEAR_INDEX_PREFIX": settings.index_prefix,
        "GEAR_DATABASE_URL": settings.database_url,
        "GEAR_ALLOW_INSECURE_CALLBACKS": "true",
        "GEAR_PUBLIC_URL": "http://gear.test",
    }
    return {**os.environ, **given, **more}


@asynccontextmanager
async def process(folder: Path, variables: dict[str, str], *arguments: str) -> AsyncIterator[Process]:
    """A `gear-api` of its own, in a folder without a `.env`; killed at the end if it still lives."""
    path = os.pathsep.join([str(Path(__file__).parents[3]), variables.get("PYTHONPATH", "")])
    made = await asyncio.create_subprocess_exec(
        *COMMAND, *arguments, cwd=folder, env={**variables, "PYTHONPATH": path}, stdout=PIPE, stderr=PIPE
    )
    reading = asyncio.create_task(made.communicate())
    try:
        yield made
    finally:
        if made.returncode is None:
            made.kill()
        await reading


async def patiently(condition: Callable[[], bool], otherwise: str) -> None:
    """Waits for a condition that takes a process to start, on a busy machine."""
    for _ in range(1200):
        if condition():
            return
        await asyncio.sleep(0.05)
    raise AssertionError(otherwise)


def serves(port: int) -> bool:
    """Whether a process answers there."""
    try:
        return httpx.get(f"http://127.0.0.1:{port}/health/live").status_code == 200
    except httpx.TransportError:
        return False


async def until_received(receiver: Receiver, *events: str) -> None:
    """Waits until exactly these events came."""
    await patiently(lambda: len(receiver.events) >= len(events), f"{events} did not come")
    assert receiver.events == list(events)


async def test_a_kill_between_the_commit_and_the_callback_loses_nothing(settings: Settings, tmp_path: Path) -> None:
    await migrated(settings.database_url)
    token = await new_token(settings.database_url, "order")
    port = free_port()
    variables = environment(settings, GEAR_API_PORT=str(port), GEAR_DELIVER_CALLBACKS="false")
    with Receiver() as receiver:
        body = {"account": "a", "email": "buyer@example.com", "platform": "cs2", "item": str(KNIFE)}
        async with process(tmp_path, variables, "serve") as serving, httpx.AsyncClient(timeout=60) as client:
            await patiently(lambda: serves(port), "the process does not serve")
            answer = await client.post(
                f"http://127.0.0.1:{port}/v1/gear", json={**body, "callbackUrl": receiver.url}, headers=bearer(token)
            )
            serving.send_signal(signal.SIGKILL)
        assert answer.status_code == 201, answer.text
        assert receiver.received == []
        async with process(tmp_path, environment(settings), "deliver") as delivering:
            await until_received(receiver, "order.created")
            assert json.loads(receiver.received[0].body)["data"]["order"] == answer.json()["order"]
            delivering.send_signal(signal.SIGTERM)
            await delivering.wait()
            assert delivering.returncode == 0


async def test_several_processes_make_each_callback_once(desk: Desk, tmp_path: Path) -> None:
    variables = {
        **os.environ,
        "GEAR_DATABASE_URL": desk.url,
        "GEAR_ALLOW_INSECURE_CALLBACKS": "true",
        "GEAR_PUBLIC_URL": "http://gear.test",
    }
    with Receiver() as receiver:
        async with (
            process(tmp_path, variables, "deliver") as one,
            process(tmp_path, variables, "deliver") as other,
        ):
            for _ in range(20):
                await desk.move(await desk.place(receiver.url), "processing")
            await patiently(lambda: len(set(receiver.ids)) == 40, "not every callback came")
            for process_ in (one, other):
                process_.send_signal(signal.SIGTERM)
                await process_.wait()
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
