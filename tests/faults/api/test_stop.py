"""A server is told to stop while nobody answers it: it ends within its grace period."""

import asyncio
import signal
from pathlib import Path
from time import monotonic
from typing import Final

import pytest

from api.settings import Settings
from store import migrate
from tests.support.api.market import PATH
from tests.support.app import ALL_SCOPES, new_token
from tests.support.orders.processes import worker
from tests.support.orders.shop import FREE, KNIFE
from tests.support.services.processes import gear_api
from tests.support.services.receiver import Receiver, hangs
from tests.support.store.postgres import running_postgres

GRACE_SECONDS: Final = 30.0  # after the drain (docs/operations.md)


@pytest.mark.timeout(240)
async def test_a_server_whose_database_hangs_ends_within_its_grace_period(
    sqlite_settings: Settings, tmp_path: Path
) -> None:
    with running_postgres() as postgres, postgres.thawed_at_last(), Receiver(hangs) as stuck:
        url = postgres.url("postgres")
        await migrate.upgrade(url)
        token = await new_token(url, *ALL_SCOPES)
        settings = sqlite_settings.model_copy(update={"database_url": url})
        variables = {
            "GEAR_ALLOW_INSECURE_CALLBACKS": "true",
            "GEAR_TRACING": "true",
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{stuck.port}",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "60",
        }
        async with worker(settings, tmp_path, token, program=gear_api, **variables) as serving:
            for item in (KNIFE, FREE):
                body = {"account": "a", "email": "buyer@example.com", "platform": "cs2", "item": str(item)}
                response = await serving.client.post("/v1/gear", json={**body, "callbackUrl": stuck.url})
                assert response.status_code == 201, response.text
            await asyncio.gather(*(serving.client.get("/v1/orders") for _ in range(40)))  # all connections are open
            postgres.suspend()
            requests = [serving.client.get("/v1/orders") for _ in range(5)]
            requests.append(serving.client.put(PATH, json=[{"id": 1, "name": "AK-47 | Redline", "price": 1}]))
            hung = [asyncio.create_task(request) for request in requests]
            await asyncio.sleep(0.5)
            serving.process.send_signal(signal.SIGTERM)
            stopped_at = monotonic()
            assert await serving.process.wait() in (0, -signal.SIGTERM)
            took = monotonic() - stopped_at
            for each in hung:
                each.cancel()
            await asyncio.gather(*hung, return_exceptions=True)
        assert took < GRACE_SECONDS, serving.process.written.read_text(encoding="utf-8")
