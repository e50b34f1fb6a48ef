"""Two services with prefixes of their own on one database, which is not supported: what happens, and who tells it."""

import asyncio
import json
import secrets
import subprocess
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from api.settings import Settings
from store.schema import index_outbox
from tests.support.api.envelope import error_of
from tests.support.api.waiting import until
from tests.support.indices import drop_indices
from tests.support.load import INDEXER, environment
from tests.support.orders.shop import FREE, KNIFE, LARGEST, NEGATIVE, Shop, load, opened

SOLD = (KNIFE, FREE, NEGATIVE, LARGEST)


@pytest.fixture
async def other(settings: Settings) -> AsyncIterator[Settings]:
    """The same database and the same items, behind another prefix."""
    prefix = f"t{secrets.token_hex(5)}"
    copied = settings.model_copy(update={"index_prefix": prefix})
    await load(copied)
    yield copied
    drop_indices(settings.opensearch_url, prefix)


async def test_nothing_is_sold_twice_and_the_doctor_names_what_either_still_offers(
    settings: Settings, other: Settings, tmp_path: Path
) -> None:
    async with opened(settings) as first, opened(other) as second:
        for item in SOLD:
            await first.placed(item)
            assert error_of(await second.order(item))["code"] == "item_unavailable"

        async def delivered_to_one_of_them() -> bool:
            """Each order to one of the two indices: to whichever service came first."""
            return sorted([*await _offered(first), *await _offered(second)]) == sorted(SOLD)

        await until(delivered_to_one_of_them, otherwise="an order was delivered to both, or to none")
        async with first.store.transaction() as connection:  # the doctor leaves the last minute to those at work
            await connection.execute(update(index_outbox).values(updated_at=datetime.now(UTC) - timedelta(hours=1)))
        expected = [len(await _offered(shop)) for shop in (first, second)]
    assert [await asyncio.to_thread(_diagnosed, service, tmp_path) for service in (settings, other)] == expected


async def _offered(shop: Shop) -> list[int]:
    offered = await shop.offered()
    return [item for item in SOLD if item in offered]


def _diagnosed(settings: Settings, folder: Path) -> int:
    """How many items the doctor finds sold and offered."""
    command = [str(INDEXER), "doctor", "--platform", "730", "--json"]
    done = subprocess.run(command, env=environment(settings), cwd=folder, capture_output=True, check=False)
    findings: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return sum(int(finding["message"].split()[0]) for finding in findings if finding["code"] == "sold-but-offered")
