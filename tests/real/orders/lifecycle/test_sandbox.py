"""The sandbox: every path of an order can be tried with real answers, and nothing real is touched by it."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from api.background.failing_rows import FailingRows
from api.orders.sandbox.scenario import BY_ITEM, BY_TRADE_LINK, PRICE, SOON, Scenario
from api.orders.sandbox.worker import make_moves
from api.settings import Settings
from store.outbox import index_outbox
from store.schema import sandbox_moves
from tests.support.api.envelope import error_of
from tests.support.api.waiting import until
from tests.support.orders.calls import move
from tests.support.orders.shop import KNIFE, Shop, opened
from tests.support.services.receiver import Receiver
from tests.support.store.postgres import Postgres

LINK = "https://steamcommunity.com/tradeoffer/new/?partner=39734273&token="
LONG_AFTER = timedelta(hours=1)


async def history(shop: Shop, token: str, order_id: str) -> list[dict[str, Any]]:
    response = await shop.get(f"/v1/orders/{order_id}", token)
    assert response.status_code == 200, response.text
    events: list[dict[str, Any]] = response.json()["order"]["history"]
    return events


async def run_all(shop: Shop) -> None:
    """Makes every move that is planned, as if an hour had passed."""
    while await make_moves(shop.store, datetime.now(UTC) + LONG_AFTER, FailingRows("test")):
        pass


def events_of(scenario: Scenario) -> list[tuple[str, str | None]]:
    return [("created", None), *((step.to, step.reason) for step in scenario.steps)]


async def test_every_item_goes_through_what_the_table_says(shop: Shop) -> None:
    token = await shop.token("order", sandbox=True)
    for begins, scenario in BY_ITEM.items():
        response = await shop.order(begins + "0815", token)
        if scenario.refused:
            assert error_of(response)["code"] == scenario.refused
            continue
        if scenario.lost:
            assert error_of(response)["code"] == "store_unavailable"
            response = await shop.order(begins + "0815", token)
            assert response.headers["Idempotent-Replayed"] == "true"
        order = response.json()["order"]
        assert response.status_code == 201, response.text
        fee = 0.5 if scenario.price == PRICE else 0.53  # of 10.50, where half a cent is rounded up
        price = float(scenario.price)
        assert order["amounts"] == {"price": price, "fee": fee, "total": price + fee, "currency": "USD"}
        await run_all(shop)
        happened = await history(shop, token, order["id"])
        assert [(event["state"], event["reason"]) for event in happened] == events_of(scenario), begins


async def test_a_trade_link_decides_over_the_item(small_shop: Shop) -> None:
    token = await small_shop.token("order", sandbox=True)
    for number, (name, scenario) in enumerate(BY_TRADE_LINK.items()):
        response = await small_shop.order(f"-11{number}", token, additionalFields={"tradeLink": LINK + name})
        assert response.status_code == 201, response.text
        await run_all(small_shop)
        happened = await history(small_shop, token, response.json()["order"]["id"])
        assert [(event["state"], event["reason"]) for event in happened] == events_of(scenario), name
    sold = await small_shop.order("-40", token, additionalFields={"tradeLink": LINK + "SBX-HOLD"})
    assert error_of(sold)["code"] == "item_unavailable"
    assert (await small_shop.order("-11", token, additionalFields={"tradeLink": LINK + "aBc-_123"})).status_code == 201


async def test_moves_come_by_themselves_one_after_the_other(small_shop: Shop) -> None:
    token = await small_shop.token("order", sandbox=True)
    order_id = (await small_shop.order("-10", token)).json()["order"]["id"]

    async def completed() -> bool:
        return bool((await history(small_shop, token, order_id))[-1]["state"] == "completed")

    await until(completed, otherwise="not yet")
    times = [datetime.fromisoformat(event["at"]) for event in await history(small_shop, token, order_id)]
    assert len(times) == 4
    # the answer shows milliseconds, so one may be missing
    assert all(later - times[0] >= n * timedelta(seconds=SOON, milliseconds=-1) for n, later in enumerate(times))


async def test_real_callbacks_tell_of_every_move(settings: Settings) -> None:
    with Receiver() as receiver:
        async with opened(settings.model_copy(update={"allow_insecure_callbacks": True})) as shop:
            token = await shop.token("order", sandbox=True)
            order = (await shop.order("-31", token, callbackUrl=receiver.url)).json()["order"]
            # not as if an hour had passed: where the first has been told by then, the others would be due in an hour
            async with shop.store.transaction() as connection:
                await connection.execute(update(sandbox_moves).values(due_at=datetime.now(UTC)))
            while await make_moves(shop.store, datetime.now(UTC), FailingRows("test")):
                pass

            async def all_delivered() -> bool:
                return len(receiver.events) == len(events_of(BY_ITEM["-31"]))

            await until(all_delivered, otherwise="not every move was delivered")
    assert receiver.events == [f"order.{state}" for state, _ in events_of(BY_ITEM["-31"])]
    assert {json.loads(callback.body)["data"]["order"]["id"] for callback in receiver.received} == {order["id"]}


async def test_a_moved_price_is_reported_as_a_real_one(shop: Shop) -> None:
    token = await shop.token("order", sandbox=True)
    error = error_of(await shop.order("-41", token, expectedPrice=10))
    assert (error["code"], error["price"]) == ("price_changed", 10.5)
    assert (await shop.order("-41", token, expectedPrice=error["price"])).json()["order"]["amounts"]["price"] == 10.5


@pytest.mark.parametrize("item", [str(KNIFE), "10", "-1", "-010", "-99", "", "ten", "-" + "10" * 9, "-10 ", "--10"])
async def test_the_sandbox_has_no_other_items(refusing_shop: Shop, item: str) -> None:
    token = await refusing_shop.token("order", sandbox=True)
    error = error_of(await refusing_shop.order(item, token))
    assert error["code"] == "item_not_found"
    assert error["message"].endswith("lists those it has, of up to 16 digits")


async def test_the_rules_for_fields_hold_in_the_sandbox(small_shop: Shop) -> None:
    token = await small_shop.token("order", sandbox=True)
    assert error_of(await small_shop.order("-10", token, platform="tf2"))["code"] == "unknown_platform"
    bad = await small_shop.order("-10", token, callbackUrl="https://127.0.0.1/", additionalFields={"platformId": "1"})
    assert [detail["field"] for detail in error_of(bad)["details"]] == ["additionalFields.platformId", "callbackUrl"]


async def test_nothing_real_is_bound_hidden_or_listed(shop: Shop) -> None:
    token = await shop.token("order", "search", "fulfil", sandbox=True)
    tried = (await shop.order("-20", token)).json()["order"]
    async with shop.store.reading() as connection:
        assert (await index_outbox.pending(connection))[0] == 0
    await run_all(shop)
    async with shop.store.reading() as connection:
        assert (await connection.exec_driver_sql("SELECT count(*) FROM index_outbox")).scalar_one() == 0
    real = await shop.placed()
    everybody = await shop.token("fulfil")
    assert [order["id"] for order in (await shop.get("/v1/orders", everybody)).json()["orders"]] == [real["id"]]
    assert [order["id"] for order in (await shop.get("/v1/orders", token)).json()["orders"]] == [tried["id"]]
    assert error_of(await shop.get(f"/v1/orders/{tried['id']}", everybody))["code"] == "order_not_found"
    assert error_of(await shop.get(f"/v1/orders/{real['id']}", token))["code"] == "order_not_found"
    assert error_of(await move(shop, tried["id"], "processing", token=everybody))["code"] == "order_not_found"
    assert error_of(await move(shop, real["id"], "processing", token=token))["code"] == "order_not_found"


async def test_two_integrators_do_not_meet(shop: Shop) -> None:
    first, second = await shop.token("order", sandbox=True), await shop.token("order", "fulfil", sandbox=True)
    orders = [(await shop.order("-11", token)).json()["order"]["id"] for token in (first, second)]
    assert len(set(orders)) == 2
    # within one sandbox the item is bound, and a retry is a retry
    assert error_of(await shop.order("-11", first, account="another"))["code"] == "item_unavailable"
    again = await shop.order("-11", first)
    assert (again.json()["order"]["id"], again.headers["Idempotent-Replayed"]) == (orders[0], "true")
    assert error_of(await shop.get(f"/v1/orders/{orders[0]}", second))["code"] == "order_not_found"


async def test_what_was_planned_ends_where_somebody_moves_the_order(shop: Shop) -> None:
    buyer, desk = await shop.token("order", sandbox=True), await shop.token("order", "fulfil", sandbox=True)
    cancelled = (await shop.order("-12", buyer)).json()["order"]["id"]
    assert (await move(shop, cancelled, "cancelled", token=buyer)).status_code == 200
    by_hand = (await shop.order("-12", desk)).json()["order"]["id"]
    assert (await move(shop, by_hand, "processing", token=desk)).status_code == 200
    await run_all(shop)
    assert [event["state"] for event in await history(shop, buyer, cancelled)] == ["created", "cancelled"]
    assert [event["state"] for event in await history(shop, desk, by_hand)] == ["created", "processing"]
    assert (await shop.order("-12", buyer)).json()["order"]["id"] != cancelled


async def test_many_workers_make_each_move_once(settings: Settings) -> None:
    async with opened(settings) as first, opened(settings) as second:
        token = await first.token("order", sandbox=True)
        placed = [(await first.order(f"-12{n}", token)).json()["order"]["id"] for n in range(10)]
        later = datetime.now(UTC) + LONG_AFTER
        while sum(
            await asyncio.gather(*(make_moves(shop.store, later, FailingRows("test")) for shop in (first, second) * 4))
        ):
            pass
        for order_id in placed:
            assert [(event["state"], event["reason"]) for event in await history(first, token, order_id)] == events_of(
                BY_ITEM["-12"]
            )


async def test_a_clock_that_was_put_back_only_delays(shop: Shop) -> None:
    token = await shop.token("order", sandbox=True)
    order_id = (await shop.order("-12", token)).json()["order"]["id"]
    assert await make_moves(shop.store, datetime.now(UTC) - timedelta(days=1), FailingRows("test")) == 0
    assert [event["state"] for event in await history(shop, token, order_id)] == ["created"]
    await run_all(shop)
    assert (await history(shop, token, order_id))[-1]["state"] == "completed"


async def test_an_outage_of_the_store_only_delays(
    postgres_settings: Settings, postgres: Postgres, database: str
) -> None:
    async with opened(postgres_settings) as shop:
        token = await shop.token("order", sandbox=True)
        order_id = (await shop.order("-10", token)).json()["order"]["id"]
        await postgres.stop_serving(database)
        await postgres.serve_again(database)
        await run_all(shop)
        assert [event["state"] for event in await history(shop, token, order_id)][-1] == "completed"
