"""A running app with a few items in a real index, where a test orders as a client does."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import httpx
import orjson

from api.orders.services import OrderServices
from api.settings import Settings
from indexer.documents.checked_item import checked_item
from indexer.documents.document import NOT_IN_LISTING, index_document
from mappings.connection import connect_async
from mappings.definition import read_definition
from mappings.names import generation_name, products_of
from store.auth import tokens
from store.connection.engine import Store
from store.orders import orders
from store.outbox import index_outbox
from store.records import Order
from tests.support.api.catalogue import CS2
from tests.support.api.described_examples import ITEM
from tests.support.api.waiting import until
from tests.support.app import RunningApp, new_token, running
from tests.support.indexer.generation import products_among
from tests.support.store.new_order import new_order

KNIFE, FREE, PRICELESS, NEGATIVE, LARGEST = 40_000_012_345, 2, 3, -5, 2**63 - 1
PRICES: dict[int, int | None] = {KNIFE: 2140, FREE: 0, PRICELESS: None, NEGATIVE: 1, LARGEST: 10**14}
ITEMS = [{**ITEM, "id": number, "price": None if minor is None else minor / 100} for number, minor in PRICES.items()]


@dataclass(frozen=True)
class Shop:
    """One running app and what a client does with it."""

    app: RunningApp

    @property
    def store(self) -> Store:
        """The app's own store."""
        store: Store = self.app.app.state.services[OrderServices].store
        return store

    async def order(self, item: int | str = KNIFE, token: str | None = None, **fields: Any) -> httpx.Response:
        """`POST /v1/gear` with the required fields and these."""
        body = {"account": "client-17", "email": "buyer@example.com", "platform": "cs2", "item": str(item), **fields}
        return await self.app.client.post("/v1/gear", json=body, headers=bearer(token))

    async def placed(self, item: int = KNIFE, **fields: Any) -> dict[str, Any]:
        """The order of an item that can be ordered."""
        response = await self.order(item, **fields)
        assert response.status_code == 201, response.text
        order: dict[str, Any] = response.json()["order"]
        return order

    async def get(self, path: str, token: str | None = None) -> httpx.Response:
        """A GET with the app's token or this one."""
        return await self.app.client.get(path, headers=bearer(token))

    async def token(self, *scopes: str, sandbox: bool = False) -> str:
        """Another client's token."""
        return await new_token(self.app.settings.database_url, *scopes, sandbox=sandbox)

    async def move(self, order_id: str, *states: str) -> None:
        """Takes the order from state to state, as fulfilment does; a release is told to the index as any is."""
        for before, after in pairwise(states):
            async with self.store.transaction() as connection:
                moved = await orders.move(connection, order_id, [before], after, f"now {after}", datetime.now(UTC))
            assert moved is not None, f"{order_id} was not {before}"

    async def offered(self) -> set[int]:
        """The ids of all items that a search shows."""
        response = await self.app.search({"limit": 100})
        assert response.status_code == 200, response.text
        return {item["id"] for item in response.json()["gear"]}

    async def until_hidden(self, item: int = KNIFE) -> None:
        """Waits until no search shows the item."""

        async def hidden() -> bool:
            return item not in await self.offered()

        await until(hidden, otherwise=f"item {item} is still offered")

    async def until_offered(self, item: int = KNIFE) -> None:
        """Waits until a search shows the item."""

        async def shown() -> bool:
            return item in await self.offered()

        await until(shown, otherwise=f"item {item} is still hidden")

    async def until_published(self) -> None:
        """Waits until the index outbox is empty."""

        async def published() -> bool:
            async with self.store.reading() as connection:
                return (await index_outbox.pending(connection))[0] == 0

        await until(published, otherwise="rows are still in the outbox")


def bearer(token: str | None) -> dict[str, str]:
    """The header of this token; none of its own for the client's usual one."""
    return {} if token is None else {"Authorization": f"Bearer {token}"}


async def load(settings: Settings, items: Iterable[dict[str, Any]] = ITEMS) -> None:
    """An index with these items, all on offer, behind the alias of platform 730; in an existing one they are reset."""
    definition = read_definition()
    alias = settings.alias(730)
    index = generation_name(alias, datetime.now(UTC), definition.fingerprint)
    client = connect_async(settings, timeout=30)
    try:
        if await client.indices.exists_alias(name=alias):
            index = alias
        else:
            body = {**definition.create_products_body(), "aliases": {products_of(alias): {}}}
            await client.indices.create(index=products_of(index), body=body)
            await client.indices.create(index=index, body={**definition.create_body(), "aliases": {alias: {}}})
        documents = [index_document(checked_item(item), CS2) for item in items]
        products = {product.key: product.content for product in products_among(documents)}
        listings = {
            str(document["id"]): orjson.dumps({name: document[name] for name in document if name not in NOT_IN_LISTING})
            for document in documents
        }
        for name, contents in ((products_of(index), products), (index, listings)):
            lines = [b'{"index":{"_id":"%b"}}\n%b\n' % (key.encode(), content) for key, content in contents.items()]
            response = orjson.loads(await client.bulk(index=name, body=b"".join(lines), params={"refresh": "true"}))
            assert not response["errors"], response
    finally:
        await client.close()


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Shop]:
    """The app with these settings, started."""
    async with running(settings) as app:
        yield Shop(app)


async def place_past_the_app(settings: Settings, item: int = KNIFE) -> Order:
    """An order as an app leaves it that crashes right after its commit: in the store, not yet told to the index."""
    store = Store(settings.database_url)
    now = datetime.now(UTC)
    try:
        async with store.transaction() as connection:
            owner = await tokens.create(connection, "crashed", ["order"], False, None, now)
            return await orders.place(connection, new_order(owner.token.id, item, account="client-18"), now)
    finally:
        await store.close()
