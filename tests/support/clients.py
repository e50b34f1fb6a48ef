"""A running service with a few items, its token and its description, for the tests of the clients."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from gear_client import GearClient

from api.app import create_app
from api.settings import Settings
from store.auth import tokens
from store.connection.engine import Store
from tests.support.api.catalogue import CS2, put_index
from tests.support.api.described_examples import ITEM
from tests.support.api.waiting import wait_until
from tests.support.app import new_token, serving, settings_for

LISTINGS = 250
CALLBACK_SECONDS = 60.0  # of a busy machine; they take four
PYTHON_CLIENT = Path(__file__).parents[2] / "clients" / "python"
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "shop"


def description() -> dict[str, Any]:
    """The service's OpenAPI description."""
    openapi: dict[str, Any] = create_app(Settings(_env_file=None)).openapi()
    return openapi


@dataclass(frozen=True)
class Service:
    """Where the service answers, a sandbox token with the secret of its callbacks, a token that writes, and what
    the examples read from the environment.
    """

    url: str
    token: str
    secret: str
    writer: str

    @property
    def environment(self) -> dict[str, str]:
        """The variables that the examples read."""
        return {"GEAR_URL": self.url, "GEAR_TOKEN": self.token, "GEAR_WEBHOOK_SECRET": self.secret}


@pytest.fixture
def service(
    opensearch_url: str, index_prefix: str, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Service]:
    """A running service with one platform of 251 items; its settings may be parametrized."""
    settings = settings_for(opensearch_url, index_prefix, tmp_path, **getattr(request, "param", {}))
    put_index(settings, CS2, [ITEM, *({**ITEM, "id": number} for number in range(1, LISTINGS + 1))])
    with serving(settings) as client:
        created = asyncio.run(_sandbox_token(settings.database_url))
        writer = asyncio.run(new_token(settings.database_url, "search", "catalogue"))
        yield Service(str(client.base_url), created.plaintext, created.token.webhook_secret, writer)


async def _sandbox_token(database_url: str) -> tokens.CreatedToken:
    store = Store(database_url)
    try:
        async with store.transaction() as connection:
            return await tokens.create(connection, "shop", ["search", "order"], True, None, datetime.now(UTC))
    finally:
        await store.close()


def order_until_completed(gear: GearClient, callback_url: str) -> str:
    """Places a sandbox order whose callbacks go there, and waits until all were delivered; its id."""
    body: Any = {"account": "shop-7", "email": "buyer@example.test", "platform": "730", "callbackUrl": callback_url}
    order = gear.order_item(item="-10", **body)["order"]["id"]

    def are_delivered() -> bool:
        return [delivery["state"] for delivery in gear.list_deliveries(order)["deliveries"]] == ["delivered"] * 4

    wait_until(are_delivered, CALLBACK_SECONDS)
    return order
