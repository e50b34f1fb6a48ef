"""The orders' database beside a load, used as the API uses it."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

from store.auth import tokens
from store.connection.engine import Store
from store.orders import orders
from store.outbox import index_outbox
from store.outbox.index_outbox import IndexUpdate
from tests.support.store.migrated import migrated
from tests.support.store.new_order import new_order


class Shop:
    """The orders' database, used as the API uses it."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._token = ""
        self._orders: dict[int, str] = {}

    def _run(self, work: Callable[[Store], Coroutine[Any, Any, Any]]) -> Any:
        async def run_all() -> Any:
            store = Store(self._url)
            try:
                return await work(store)
            finally:
                await store.close()

        return asyncio.run(run_all())

    def open(self) -> "Shop":
        async def work(store: Store) -> None:
            await migrated(self._url)
            async with store.transaction() as connection:
                created = await tokens.create(connection, "shop", ["order"], False, None, datetime.now(UTC))
            self._token = created.token.id

        self._run(work)
        return self

    def sell(self, *numbers: int) -> None:
        """Places an order of each item; none of them is published to the index."""

        async def work(store: Store) -> None:
            for number in numbers:
                async with store.transaction() as connection:
                    order = await orders.place(connection, new_order(self._token, number), datetime.now(UTC))
                self._orders[number] = order.id

        self._run(work)

    def cancel(self, number: int) -> None:
        """Lets the item go."""

        async def work(store: Store) -> None:
            async with store.transaction() as connection:
                await orders.move(
                    connection, self._orders.pop(number), ["created"], "cancelled", None, datetime.now(UTC)
                )

        self._run(work)

    def publish(self) -> dict[int, bool]:
        """Takes what the index outbox holds: the item, and whether it is bound."""

        async def work(store: Store) -> dict[int, bool]:
            now = datetime.now(UTC)
            async with store.transaction() as connection:
                batch: list[IndexUpdate] = await index_outbox.lease(connection, now, 30, 10_000)
                for each in batch:
                    await index_outbox.mark_applied(connection, [each], now)
            return {each.item: each.bound for each in batch}

        updates: dict[int, bool] = self._run(work)
        return updates

    def age(self) -> None:
        """Makes all changes so far an hour older."""

        async def work(store: Store) -> None:
            from sqlalchemy import update

            from store.schema import index_outbox as rows

            async with store.transaction() as connection:
                await connection.execute(update(rows).values(updated_at=datetime.now(UTC) - timedelta(hours=1)))

        self._run(work)
