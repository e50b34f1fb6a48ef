"""Who did it: every change of an order and every log line names its token, and clients see the history they know."""

import asyncio
from datetime import UTC, datetime, timedelta

from structlog.testing import capture_logs

from api.background.failing_rows import FailingRows
from api.orders.expiry import apply_expiry
from api.telemetry.logs import add_request
from store.auth import tokens
from store.orders import orders
from tests.support.api.waiting import until
from tests.support.orders.calls import move
from tests.support.orders.shop import Shop


async def create_token(shop: Shop, name: str, *scopes: str, sandbox: bool = False) -> tokens.CreatedToken:
    async with shop.store.transaction() as connection:
        return await tokens.create(connection, name, scopes, sandbox, None, datetime.now(UTC))


async def actors(shop: Shop, order_id: str) -> list[tuple[str, str | None, str | None]]:
    async with shop.store.reading() as connection:
        return [(event.state, event.actor, event.actor_name) for event in await orders.events(connection, order_id)]


async def test_each_change_has_the_token_that_made_it(shop: Shop) -> None:
    buyer, seller = await create_token(shop, "shop", "order"), await create_token(shop, "seller", "fulfil")
    order = (await shop.order(token=buyer.plaintext)).json()["order"]
    moved = await move(shop, order["id"], "processing", token=seller.plaintext)
    assert await actors(shop, order["id"]) == [
        ("created", buyer.token.id, "shop"),
        ("processing", seller.token.id, "seller"),
    ]
    assert [sorted(event) for event in moved.json()["order"]["history"]] == [["at", "reason", "state"]] * 2


async def test_the_service_itself_is_system(small_shop: Shop) -> None:
    order = await small_shop.placed()
    now = datetime.now(UTC)
    await apply_expiry(small_shop.store, now + timedelta(hours=1), timedelta(minutes=1), FailingRows("test"))
    assert (await actors(small_shop, order["id"]))[-1] == ("failed", "system", None)
    trial = await create_token(small_shop, "trial", "order", sandbox=True)
    tried = (await small_shop.order("-20", trial.plaintext)).json()["order"]["id"]

    async def failed() -> bool:
        return (await actors(small_shop, tried))[-1] == ("failed", "system", None)

    await until(failed, otherwise="the sandbox did not move the order")


async def test_a_log_line_names_the_token_or_where_the_request_came_from(small_shop: Shop) -> None:
    seller = await create_token(small_shop, "seller", "fulfil")
    with capture_logs(processors=[add_request]) as lines:
        await small_shop.get("/v1/orders", seller.plaintext)
        await small_shop.order(token=seller.plaintext)  # 403: the scope is missing, the token is known
        await small_shop.get("/v1/orders", "gear_unknown")
        await small_shop.get("/health/live")
        await asyncio.sleep(0)
    requests = [dict(line) for line in lines if line["event"] == "request"]
    assert [line["status"] for line in requests] == [200, 403, 401, 200]
    assert [line.get("token") for line in requests] == [seller.token.id, seller.token.id, None, None]
    assert ["client" in line for line in requests] == [False, False, True, True]
    assert seller.plaintext not in str(requests)
