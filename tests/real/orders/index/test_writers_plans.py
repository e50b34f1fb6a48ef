"""Writers on SQLite find their rows by an index that is made for the question: they hold the one lock that all writers
share, and their statements run on the event loop (docs/decisions/0038).
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine

from api.background.failing_rows import FailingRows
from api.orders.sandbox.worker import make_moves
from api.retention import apply_retention
from api.settings import Settings
from store.connection.sqlite import BEGIN_WRITING
from tests.support.orders.calls import is_replay_of, send
from tests.support.orders.desk import desk_at, dispatching
from tests.support.orders.shop import opened
from tests.support.services.receiver import Receiver

A_PART = {
    "index_outbox_pending",
    "deliveries_pending",
    "orders_to_forget_at_end",
    "sandbox_moves_due",
    "saved_searches_to_erase",
}
"""Indices that hold only what is still to be done, from the first on."""


async def test_a_writer_looks_through_no_table(sqlite_settings: Settings, sqlite_url: str) -> None:
    later = datetime.now(UTC) + timedelta(days=90)
    with written() as statements:
        async with opened(sqlite_settings) as shop:
            first = await send(shop.app.client)
            assert is_replay_of(await send(shop.app.client), first)
            await shop.until_hidden()
            await shop.order("100000815", await shop.token("order", sandbox=True))
            await make_moves(shop.store, later, FailingRows("test"))
            await apply_retention(shop.store, later, 30, FailingRows("test"))
        async with desk_at(sqlite_url) as desk:
            with Receiver() as receiver:
                order = await desk.move(await desk.place(receiver.url), "processing", "delivered", "completed")
                async with dispatching(desk.store):
                    await desk.until(order, *["delivered"] * 4)
                    await desk.replay(order, 1)
                    await desk.until_tried(order, 2)
    queries = {statement for statement in statements if re.match("SELECT|INSERT|UPDATE|DELETE|WITH", statement)}
    assert len(queries) > 20
    assert {statement: plan for statement, plan in plans(queries, sqlite_url) if dear(plan)} == {}


@contextmanager
def written() -> Iterator[list[str]]:
    """What writers on SQLite say within the block."""
    executed: list[str] = []

    def listen(connection: Connection, cursor: Any, statement: str, *_: Any) -> None:
        if connection.get_execution_options().get("begin") == BEGIN_WRITING:
            executed.append(statement)

    event.listen(Engine, "before_cursor_execute", listen)
    try:
        yield executed
    finally:
        event.remove(Engine, "before_cursor_execute", listen)


def plans(statements: set[str], url: str) -> Iterator[tuple[str, list[str]]]:
    """Each with SQLite's plan for it, https://www.sqlite.org/eqp.html"""
    with closing(sqlite3.connect(Path(url.partition(":///")[2]))) as connection:
        for statement in sorted(statements):
            values = [None] * statement.count("?")
            yield statement, [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", values)]


def dear(plan: list[str]) -> bool:
    """Whether it goes through a table or an index, or sorts what it found: as many rows as there are orders."""
    steps = [step for step in plan if not any(step.endswith(f"INDEX {name}") for name in A_PART)]
    return any(re.match(r"SCAN (?!due|CONSTANT|alembic_version)|USE TEMP", step) for step in steps)
