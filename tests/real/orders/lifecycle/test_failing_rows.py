"""What workers do with many rows at once goes on where one of them fails by a fault of ours."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from api.background.failing_rows import FailingRows
from api.catalogue.service import WriteAudit
from api.orders.expiry import apply_expiry
from api.orders.sandbox.worker import make_moves
from api.retention import apply_retention
from store import audit
from store.auth import tokens
from store.auth.tokens import Token
from store.orders import batches, idempotency, orders, privacy
from store.records import Actor
from tests.support.orders.shop import FREE, KNIFE, Shop

LATER = timedelta(days=90)


async def placed(shop: Shop) -> tuple[str, str]:
    """The ids of two orders."""
    return (await shop.placed(KNIFE))["id"], (await shop.placed(FREE))["id"]


def moving_fails(monkeypatch: pytest.MonkeyPatch, bad: str) -> None:
    move = orders.move

    async def failing(connection: AsyncConnection, order_id: str, *arguments: Any) -> Any:
        if order_id == bad:
            raise KeyError(order_id)
        return await move(connection, order_id, *arguments)

    for module in (orders, batches):
        monkeypatch.setattr(module, "move", failing)


async def states(shop: Shop, *order_ids: str) -> list[str]:
    return [(await shop.get(f"/v1/orders/{order_id}")).json()["order"]["state"] for order_id in order_ids]


async def test_an_order_that_does_not_expire_holds_up_no_other(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    bad, good = await placed(shop)
    moving_fails(monkeypatch, bad)
    failing, now = FailingRows[str]("expiry"), datetime.now(UTC) + LATER
    expired, _ = await apply_expiry(shop.store, now, timedelta(hours=1), failing)
    assert [order.id for order in expired] == [good]
    assert await apply_expiry(shop.store, now, timedelta(hours=1), failing) == ([], 60.0), "it is tried again at once"
    assert await states(shop, bad, good) == ["created", "failed"]


async def test_a_sandbox_order_that_does_not_move_holds_up_no_other(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = await shop.token("order", sandbox=True)
    bad, good = [(await shop.order(f"-12{n}", token)).json()["order"]["id"] for n in range(2)]
    moving_fails(monkeypatch, bad)
    failing, now = FailingRows[str]("sandbox moves"), datetime.now(UTC) + LATER
    while await make_moves(shop.store, now, failing):
        pass
    ends = [(await shop.get(f"/v1/orders/{each}", token)).json()["order"]["state"] for each in (bad, good)]
    assert ends == ["created", "completed"]


async def test_an_order_that_is_not_erased_and_a_rule_that_fails_hold_up_nothing_else(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = await placed(shop)
    for order_id in (bad, good):
        await shop.move(order_id, "created", "cancelled")
    erase = privacy._erase

    async def failing(connection: AsyncConnection, order_ids: Sequence[str]) -> None:
        if bad in order_ids:
            raise KeyError(bad)
        await erase(connection, order_ids)

    async def failing_rule(*_: object) -> int:
        raise KeyError("refusals")

    monkeypatch.setattr(privacy, "_erase", failing)
    monkeypatch.setattr(idempotency, "erase_refused", failing_rule)
    await apply_retention(shop.store, datetime.now(UTC) + LATER, 30, FailingRows("test"))
    async with shop.store.reading() as connection:
        emails = await connection.exec_driver_sql("SELECT id FROM orders WHERE email <> ''")
        assert list(emails.scalars()) == [bad]
        keys = await connection.exec_driver_sql("SELECT count(*) FROM idempotency_keys")
        assert keys.scalar_one() == 0


async def test_an_entry_that_fails_keeps_no_other_from_the_audit(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    record = audit.record

    async def failing(connection: AsyncConnection, actor: Actor, action: str, subject: str, *arguments: Any) -> None:
        if subject == "bad":
            raise KeyError(subject)
        await record(connection, actor, action, subject, *arguments)

    monkeypatch.setattr(audit, "record", failing)
    writes, response = WriteAudit(shop.store), {"written": 1, "superseded": 0, "refused": []}
    for platform in ("bad", "good"):
        writes.add(await a_token(shop), platform, "put", response)
    await writes.record()
    async with shop.store.reading() as connection:
        entries = await audit.entries(connection, datetime.now(UTC) - LATER, None, 100)
    assert [entry.subject for entry in entries if entry.action == "catalogue.change"] == ["good"]
    monkeypatch.setattr(audit, "record", record)
    await writes.record()  # too soon
    async with shop.store.reading() as connection:
        entries = await audit.entries(connection, datetime.now(UTC) - LATER, None, 100)
    assert [entry.subject for entry in entries if entry.action == "catalogue.change"] == ["good"]
    writes.worker.stop()
    await writes.record()  # the last time
    async with shop.store.reading() as connection:
        entries = await audit.entries(connection, datetime.now(UTC) - LATER, None, 100)
    assert {entry.subject for entry in entries if entry.action == "catalogue.change"} == {"good", "bad"}


async def a_token(shop: Shop) -> Token:
    """The shop's own token."""
    async with shop.store.reading() as connection:
        token = await tokens.find(connection, shop.app.token)
    assert token is not None
    return token
