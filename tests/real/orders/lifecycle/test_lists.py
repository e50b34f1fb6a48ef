"""Lists: every order of whom it concerns, newest first, page by page, by what it is; nobody else's."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Connection

from store.auth import tokens
from store.connection.engine import Store
from store.newest import Position
from store.orders import orders
from store.records import Order
from tests.support.api.envelope import error_of
from tests.support.orders.shop import FREE, KNIFE, NEGATIVE, Shop
from tests.support.store.new_order import new_order

BEGAN = datetime.now(UTC) - timedelta(hours=1)  # no order expires meanwhile


async def fill(store: Store, count: int) -> tuple[str, list[Order]]:
    """A token of its own and its orders, newest first; three share each moment, every fourth is cancelled."""
    placed = []
    async with store.transaction() as connection:
        owner = await tokens.create(connection, "filled", ["order"], False, None, BEGAN)
        for number in range(count):
            at = BEGAN + timedelta(microseconds=number // 3)
            order = await orders.place(
                connection, new_order(owner.token.id, number, account=f"client-{number % 5}"), at
            )
            if number % 4 == 0:
                moved = await orders.move(connection, order.id, ["created"], "cancelled", None, at)
                assert moved is not None
                order = moved
            placed.append(order)
    return owner.plaintext, sorted(placed, key=lambda order: (order.created_at, order.id), reverse=True)


async def walk(shop: Shop, query: str, token: str | None = None) -> list[list[dict[str, Any]]]:
    """Every page of a list."""
    pages = []
    cursor = ""
    while True:
        response = await shop.get(f"/v1/orders?{query}{cursor}", token)
        assert response.status_code == 200, response.text
        body = response.json()
        assert set(body) == {"status", "orders", "nextCursor"}
        pages.append(body["orders"])
        if body["nextCursor"] is None:
            return pages
        cursor = f"&cursor={body['nextCursor']}"


async def test_pages_show_every_order_once_newest_first(shop: Shop) -> None:
    token, placed = await fill(shop.store, 43)
    for limit in (1, 7, 42, 43, 100):
        pages = await walk(shop, f"limit={limit}", token)
        assert [order["id"] for page in pages for order in page] == [order.id for order in placed]
        assert [len(page) for page in pages[:-1]] == [limit] * (len(pages) - 1)
    assert [len(page) for page in await walk(shop, "", token)] == [20, 20, 3]


async def test_an_order_in_a_list_is_as_it_is_alone_without_its_history(shop: Shop) -> None:
    placed = await shop.placed()
    [[listed]] = await walk(shop, "")
    assert listed == placed


async def test_lists_are_narrowed_by_state_account_and_item(shop: Shop) -> None:
    token, placed = await fill(shop.store, 43)
    cases: dict[str, Callable[[Order], bool]] = {
        "state=cancelled": lambda order: order.state == "cancelled",
        "state=created": lambda order: order.state == "created",
        "state=completed": lambda order: False,
        "account=client-3": lambda order: order.account == "client-3",
        "account=client": lambda order: False,
        "item=17": lambda order: order.item == 17,
        "item=99": lambda order: False,
        "item=017": lambda order: False,
        "item=-0": lambda order: False,
        "item=9999999999999999999": lambda order: False,
        "state=cancelled&account=client-3&item=8": lambda order: order.item == 8,
        "state=created&account=client-3&item=8": lambda order: False,
    }
    for query, is_listed in cases.items():
        for who in (token, await shop.token("fulfil")):
            pages = await walk(shop, f"{query}&limit=4", who)
            assert [order["id"] for page in pages for order in page] == [
                order.id for order in placed if is_listed(order)
            ], query


async def test_a_token_lists_its_own_orders_and_fulfilment_lists_all(shop: Shop) -> None:
    first, second, fulfil = await shop.token("order"), await shop.token("order"), await shop.token("fulfil")
    owners = {KNIFE: first, FREE: second, NEGATIVE: first}
    ids = {item: (await shop.order(item, token=owner)).json()["order"]["id"] for item, owner in owners.items()}
    for token, items in ((first, [NEGATIVE, KNIFE]), (second, [FREE]), (fulfil, [NEGATIVE, FREE, KNIFE])):
        [page] = await walk(shop, "", token)
        assert [order["id"] for order in page] == [ids[item] for item in items]
    [page] = await walk(shop, f"item={FREE}", first)
    assert page == []


async def test_a_cursor_shows_no_more_than_its_own_list(shop: Shop) -> None:
    token, placed = await fill(shop.store, 9)
    other = await shop.token("order")
    cursor = (await shop.get("/v1/orders?limit=2", token)).json()["nextCursor"]
    assert (await shop.get(f"/v1/orders?limit=2&cursor={cursor}", other)).json()["orders"] == []
    # it is a place in time: it holds in another list too, and after its order has gone on
    narrowed = (await shop.get(f"/v1/orders?state=cancelled&cursor={cursor}", token)).json()["orders"]
    assert [order["id"] for order in narrowed] == [order.id for order in placed[2:] if order.state == "cancelled"]


async def test_orders_that_come_meanwhile_do_not_shift_the_pages(small_shop: Shop) -> None:
    token, placed = await fill(small_shop.store, 6)
    first = (await small_shop.get("/v1/orders?limit=3", token)).json()
    assert (await small_shop.order(token=token)).status_code == 201
    second = (await small_shop.get(f"/v1/orders?limit=3&cursor={first['nextCursor']}", token)).json()
    assert [order["id"] for order in first["orders"] + second["orders"]] == [order.id for order in placed]
    assert second["nextCursor"] is None


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=ten", "limit"),
        ("state=sold", "state"),
        ("state=", "state"),
        ("state=created&state=failed", "state"),
        ("account=", "account"),
        ("account=" + "x" * 129, "account"),
        ("account=a%00b", "account"),
        ("item=knife", "item"),
        ("item=", "item"),
        ("item=1.0", "item"),
        ("page=2", "page"),
        ("cursor=", "cursor"),
        ("cursor=*", "cursor"),
        ("cursor=%00", "cursor"),
        ("cursor=" + "A" * 101, "cursor"),
        ("cursor=" + "17", "cursor"),
        ("cursor=" + quote(f"-1/ord_{'x' * 24}"), "cursor"),
        ("cursor=" + quote(f"{10**18}/ord_{'x' * 24}"), "cursor"),
        ("cursor=" + quote(f"1/ord_{'x' * 23}\x00"), "cursor"),
        ("cursor=" + quote(f"1/ord_{'x' * 24}\n"), "cursor"),
    ],
)
async def test_what_cannot_be_listed_is_a_422_that_names_it(refusing_shop: Shop, query: str, field: str) -> None:
    error = error_of(await refusing_shop.get(f"/v1/orders?{query}"))
    assert error["code"] == "validation_failed"
    assert {detail["field"] for detail in error["details"]} == {field}


@pytest.mark.parametrize("after", [None, Position(BEGAN, "ord_x")], ids=["first page", "next page"])
async def test_lists_are_read_from_indices(small_shop: Shop, after: Position | None) -> None:
    await fill(small_shop.store, 3)
    wants: list[tuple[dict[str, Any], str]] = [
        ({"token_id": "x"}, "orders_of_token "),
        ({"token_id": "x", "state": "created"}, "orders_of_token_in_state "),
        ({"state": "created"}, "orders_in_state "),
        ({"account": "x"}, "orders_of_account "),
        ({"item": 1}, "orders_of_item "),
        ({}, "orders_in_time "),
    ]
    executed: list[tuple[str, Any]] = []

    def listen(connection: Connection, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        executed.append((statement, parameters))

    async with small_shop.store.reading() as connection:
        event.listen(connection.sync_connection, "before_cursor_execute", listen)
        for wanted, index in wants:
            executed.clear()
            await orders.list_newest(connection, orders.OrderFilter(sandbox=False, **wanted), after, 20)
            ((statement, parameters),) = executed
            rows = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            plan = "".join(f"{row.detail} " for row in rows)
            assert index in plan, plan
            assert "TEMP B-TREE" not in plan, plan
