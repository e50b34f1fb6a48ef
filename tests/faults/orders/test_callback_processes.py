"""Callbacks of a process that is killed: what was committed is told by another."""

import json
import signal
from pathlib import Path
from typing import Any

from api.settings import Settings
from tests.support.app import new_token
from tests.support.orders.processes import variables, worker
from tests.support.orders.shop import KNIFE
from tests.support.services.processes import command
from tests.support.services.receiver import Receiver
from tests.support.store.migrated import migrated

LOCAL: dict[str, Any] = {"GEAR_ALLOW_INSECURE_CALLBACKS": "true"}


async def test_a_kill_between_the_commit_and_the_callback_loses_nothing(settings: Settings, tmp_path: Path) -> None:
    await migrated(settings.database_url)
    token = await new_token(settings.database_url, "order")
    with Receiver() as receiver:
        body = {"account": "a", "email": "buyer@example.com", "platform": "cs2", "item": str(KNIFE)}
        async with worker(settings, tmp_path, token, GEAR_DELIVER_CALLBACKS="false", **LOCAL) as serving:
            response = await serving.client.post("/v1/gear", json={**body, "callbackUrl": receiver.url})
            serving.process.send_signal(signal.SIGKILL)
            assert await serving.process.wait() == -signal.SIGKILL
        assert response.status_code == 201, response.text
        assert receiver.received == []
        async with command(tmp_path, {**variables(settings), **LOCAL}, "deliver") as delivering:
            await receiver.until_received("order.created")
            assert json.loads(receiver.received[0].body)["data"]["order"] == response.json()["order"]
            delivering.send_signal(signal.SIGTERM)
            assert await delivering.wait() == 0
