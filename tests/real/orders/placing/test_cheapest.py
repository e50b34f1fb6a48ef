"""The cheapest items of a search, ordered in one call: all of them at the price, or none; nobody gets one twice."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from api.background.failing_rows import FailingRows
from api.cheapest import service
from api.cheapest.service import find_offers
from api.retention import KEY_RETENTION, apply_retention
from api.settings import Settings
from store import endpoints
from store.auth import tokens
from tests.support.api.catalogue import simple_item
from tests.support.api.envelope import error_of, fields_of
from tests.support.api.metrics import total
from tests.support.api.waiting import until
from tests.support.app import new_token, settings_for
from tests.support.indices import new_prefix
from tests.support.orders.shop import Shop, bearer, load, opened

URL = "/v1/gear/cheapest"
REDLINE, ASIIMOV = "AK-47 | Redline (Field-Tested)", "AWP | Asiimov (Field-Tested)"
# the cheapest has the highest id; two cost the same
PRICES = {20: 1.0, 19: 2.0, 11: 3.0, 12: 3.0, 18: 4.0, 17: 5.5, 16: 7.25, 15: 9.0, 14: 9.5, 13: 11.0}
BY_PRICE = list(PRICES)
ITEMS = [
    *(
        {**simple_item(number, price, REDLINE), "details": {"weapon": "AK-47", "exterior": "Field-Tested"}}
        for number, price in PRICES.items()
    ),
    {**simple_item(30, None, REDLINE), "details": {"weapon": "AK-47", "exterior": "Field-Tested"}},
    {**simple_item(31, 0.5, ASIIMOV), "details": {"weapon": "AWP", "exterior": "Field-Tested"}},
]


@pytest.fixture(scope="module")
def prefix(opensearch_url: str) -> Iterator[str]:
    """Of the index of all these tests; each finds the items as they are on offer."""
    with new_prefix(opensearch_url) as prefix:
        yield prefix


@pytest.fixture(params=["sqlite_url", "postgres_database_url"])
def settings(request: pytest.FixtureRequest, opensearch_url: str, prefix: str, tmp_path: Path) -> Settings:
    """Settings of an app on each database."""
    url = str(request.getfixturevalue(request.param))
    return settings_for(opensearch_url, prefix, tmp_path, database_url=url)


@pytest.fixture
async def shop(settings: Settings) -> AsyncIterator[Shop]:
    """A running app with ten offers of a name."""
    await load(settings, ITEMS)
    async with opened(settings) as opened_shop:
        yield opened_shop


on_one_database = pytest.mark.parametrize("settings", ["sqlite_url"], indirect=True)


def body_for(count: int = 1, max_price: float = 100, **more: Any) -> dict[str, Any]:
    search = {"filters": {"name": [REDLINE]}}
    buyer = {"account": "client-17", "email": "buyer@example.com", "platform": "cs2"}
    return {**buyer, "search": search, "maxPrice": max_price, "count": count, **more}


async def ask(shop: Shop, body: dict[str, Any], key: str | None = None, token: str | None = None) -> httpx.Response:
    headers = {**bearer(token), **({} if key is None else {"Idempotency-Key": key})}
    return await shop.app.client.post(URL, json=body, headers=headers)


def items_of(response: httpx.Response) -> list[int]:
    assert response.status_code == 201, response.text
    return [int(order["item"]) for order in response.json()["orders"]]


def available_of(response: httpx.Response) -> int:
    available: int = error_of(response, "not_enough")["available"]
    return available


async def test_the_cheapest_are_ordered_each_by_an_order_of_its_own(shop: Shop) -> None:
    response = await ask(shop, body_for(4))
    assert items_of(response) == BY_PRICE[:4]
    orders = response.json()["orders"]
    assert [order["amounts"]["price"] for order in orders] == [1.0, 2.0, 3.0, 3.0]
    assert len({order["id"] for order in orders} | {order["statusUrl"] for order in orders}) == 8
    assert response.headers["Location"] == f"/v1/orders/{orders[0]['id']}"
    for order in orders:
        listed = (await shop.get(f"/v1/orders/{order['id']}")).json()["order"]
        assert (listed["state"], listed["item"]) == ("created", order["item"])
    # before any search knows it, the next buyer gets the next ones
    assert items_of(await ask(shop, body_for(2, account="other"))) == BY_PRICE[4:6]
    for number in BY_PRICE[:6]:
        await shop.until_hidden(number)


async def test_all_are_ordered_or_none(shop: Shop) -> None:
    assert available_of(await ask(shop, body_for(6, 5.49))) == 5
    assert available_of(await ask(shop, body_for(11))) == 10  # the eleventh has no price
    assert (await shop.get("/v1/orders")).json()["orders"] == []
    assert items_of(await ask(shop, body_for(6, 5.5))) == BY_PRICE[:6]


@on_one_database
async def test_the_price_filter_and_the_highest_price_hold_together(shop: Shop) -> None:
    def search(**price: float) -> dict[str, Any]:
        return {"query": "redline", "filters": {"price": price}}

    assert available_of(await ask(shop, body_for(2, 3, search=search(min=3.01)))) == 0
    assert available_of(await ask(shop, body_for(9, 100, search=search(min=3, max=4)))) == 3
    assert items_of(await ask(shop, body_for(3, 4, search=search(min=3, max=50)))) == [11, 12, 18]


@on_one_database
async def test_nothing_is_read_more_loosely_than_it_was_typed(shop: Shop) -> None:
    typo = {"query": "redlime"}
    assert (await shop.app.search({**typo, "platform": 730})).json()["total"] == 11
    assert available_of(await ask(shop, body_for(search=typo))) == 0
    assert items_of(await ask(shop, body_for(search={"query": "redline under 2.5", "filters": None}))) == [20]


async def test_a_retry_with_a_key_gets_the_first_response(shop: Shop) -> None:
    first = await ask(shop, body_for(2), "k1")
    again = await ask(shop, body_for(2), "k1")
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert items_of(await ask(shop, body_for(2), "k2")) == BY_PRICE[2:4]
    assert fields_of(await ask(shop, body_for(3), "k1"), "idempotency_key_reused") == ["Idempotency-Key"]
    order = {"account": "a", "email": "a@example.com", "platform": "cs2", "item": "31"}
    used = await shop.app.client.post("/v1/gear", json=order, headers={"Idempotency-Key": "k1"})
    error_of(used, "idempotency_key_reused")


async def test_a_refusal_keeps_the_key_free(shop: Shop) -> None:
    assert available_of(await ask(shop, body_for(1, 0.5), "k")) == 0
    assert items_of(await ask(shop, body_for(1), "k")) == [20]


async def test_without_a_key_the_same_body_gets_its_orders_until_they_are_delivered(shop: Shop) -> None:
    first = await ask(shop, body_for(2))
    again = await ask(shop, body_for(2))
    assert again.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"
    order_id, other = (order["id"] for order in first.json()["orders"])
    await shop.move(order_id, "created", "processing", "delivered")
    assert (await ask(shop, body_for(2))).content == first.content
    await shop.until_hidden(19)  # or a search would show it before its release
    await shop.move(other, "created", "cancelled")
    await shop.until_offered(19)
    bought = await ask(shop, body_for(2))
    assert items_of(bought) == [19, 11]
    assert "Idempotent-Replayed" not in bought.headers
    assert (await ask(shop, body_for(2))).content == bought.content


async def test_without_a_key_open_orders_are_remembered_for_longer_than_keys(shop: Shop) -> None:
    first = await ask(shop, body_for(2))
    await ask(shop, body_for(1, account="with a key"), "k")
    order_id, other = (order["id"] for order in first.json()["orders"])
    await shop.move(order_id, "created", "processing", "delivered")
    await shop.move(other, "created", "processing")

    async def remembered() -> int:
        await apply_retention(
            shop.store, datetime.now(UTC) + KEY_RETENTION + timedelta(seconds=1), None, FailingRows("test")
        )
        async with shop.store.reading() as connection:
            return int((await connection.exec_driver_sql("SELECT count(*) FROM idempotency_keys")).scalar_one())

    assert await remembered() == 1
    assert (await ask(shop, body_for(2))).content == first.content
    await shop.move(other, "processing", "delivered")
    assert await remembered() == 0


async def test_duplicates_at_once_order_once(shop: Shop) -> None:
    for key in (None, "k"):
        responses = await asyncio.gather(*(ask(shop, body_for(3, account=str(key)), key) for _ in range(8)))
        assert len({response.content for response in responses}) == 1
        assert items_of(responses[0])
    assert len((await shop.get("/v1/orders?limit=100")).json()["orders"]) == 6


@pytest.mark.parametrize("key", [None, "k"])
async def test_a_retry_gets_the_orders_that_are_placed_while_it_looks_for_items(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    body = body_for(len(PRICES))
    first: list[httpx.Response] = []

    async def find_after_the_first_call(*arguments: Any) -> Any:
        monkeypatch.setattr(service, "find_offers", find_offers)
        first.append(await ask(shop, body, key))  # it was under way, and the retry has not seen it yet
        return await find_offers(*arguments)

    monkeypatch.setattr(service, "find_offers", find_after_the_first_call)
    retry = await ask(shop, body, key)
    assert items_of(first[0]) == items_of(retry) == BY_PRICE
    assert retry.content == first[0].content
    assert retry.headers["Idempotent-Replayed"] == "true"


async def test_a_refused_call_has_no_duplicate_that_comes_through_later(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def find_after_a_refusal(*arguments: Any) -> Any:
        monkeypatch.setattr(service, "find_offers", find_offers)
        assert available_of(await ask(shop, body_for(1, 0.5), "k")) == 0
        return await find_offers(*arguments)

    monkeypatch.setattr(service, "find_offers", find_after_a_refusal)
    refused = error_of(await ask(shop, body_for(2), "k"), "not_enough")
    assert (refused["available"], "call again" in refused["message"]) == (0, True)
    assert (await shop.get("/v1/orders")).json()["orders"] == []
    assert items_of(await ask(shop, body_for(2), "k")) == [20, 19]


async def test_many_buyers_of_the_same_get_each_item_once(shop: Shop) -> None:
    random = Random(11)
    wanted = [(random.randint(1, 3), random.choice([3.0, 9.0, 100.0])) for _ in range(200)]

    async def buy(place: int, count: int, highest: float) -> tuple[int, float, httpx.Response]:
        while True:
            response = await ask(shop, body_for(count, highest, account=f"buyer-{place}"), f"buyer-{place}")
            if response.status_code != 503:  # 200 at once may be more than a busy machine's database takes in time
                return count, highest, response

    sold: Counter[int] = Counter()
    for count, highest, response in await asyncio.gather(
        *(buy(place, count, highest) for place, (count, highest) in enumerate(wanted))
    ):
        if response.status_code == 201:
            items = items_of(response)
            assert len(items) == count
            assert all(PRICES[item] <= highest for item in items)
            sold.update(items)
        else:
            assert available_of(response) < count
    # more buyers than items want one at any price: nothing is left
    assert wanted.count((1, 100.0)) > len(PRICES)
    assert sold == dict.fromkeys(PRICES, 1)
    assert available_of(await ask(shop, body_for(account="last"))) == 0


@on_one_database
async def test_beyond_the_quota_nothing_is_ordered(shop: Shop) -> None:
    async with shop.store.transaction() as connection:
        created = await tokens.create(connection, "small", ["order"], False, None, datetime.now(UTC), max_active=2)
    refused = error_of(await ask(shop, body_for(3), token=created.plaintext), "too_many_orders")
    assert "2 orders" in refused["message"]
    assert items_of(await ask(shop, body_for(2), token=created.plaintext)) == [20, 19]


@on_one_database
async def test_all_are_called_back_at_a_registered_endpoint_or_none_is_ordered(shop: Shop) -> None:
    body = body_for(2, callbackUrl="https://shop.example.com/hooks/1")
    async with shop.store.transaction() as connection:
        created = await tokens.create(connection, "called back", ["order"], False, None, datetime.now(UTC))
        await endpoints.add(connection, created.token.id, "https://other.example", exact=False, now=datetime.now(UTC))
    assert fields_of(await ask(shop, body, "k", created.plaintext), "validation_failed") == ["callbackUrl"]
    async with shop.store.transaction() as connection:
        await endpoints.add(connection, created.token.id, body["callbackUrl"], exact=True, now=datetime.now(UTC))
    assert items_of(await ask(shop, body, "k", created.plaintext)) == [20, 19]


@on_one_database
async def test_each_real_order_is_counted_once(shop: Shop) -> None:
    async def counted() -> float:
        return total((await shop.get("/metrics")).text, "gear_order_transitions_total", state="created")

    before = await counted()
    token = await shop.token("order", sandbox=True)
    for body, owner in ((body_for(3), None), (body_for(3), None), (body_for(11), None), (body_for(2), token)):
        await ask(shop, body, token=owner)
    assert await counted() - before == 3


@on_one_database
async def test_a_sandbox_orders_what_is_completed(shop: Shop) -> None:
    token = await new_token(shop.app.settings.database_url, "order", sandbox=True)
    assert available_of(await ask(shop, body_for(2, 9.99), token=token)) == 0
    response = await ask(shop, body_for(2, 10), token=token)
    assert all(str(item).startswith("-10") for item in items_of(response))
    assert (await ask(shop, body_for(2, 10), token=token)).content == response.content
    order = response.json()["orders"][1]

    async def completed() -> bool:
        shown = await shop.get(f"/v1/orders/{order['id']}", token)
        return bool(shown.json()["order"]["state"] == "completed")

    await until(completed, otherwise="the sandbox did not complete the order")
    assert len(await shop.offered()) == len(ITEMS)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"count": 0}, "count"),
        ({"count": 21}, "count"),
        ({"maxPrice": -1}, "maxPrice"),
        ({"maxPrice": None}, "maxPrice"),
        ({"search": None}, "search"),
        ({"search": {"filters": {"name": [""]}}}, "search.filters.name.0"),
        ({"search": {"query": "x" * 201}}, "search.query"),
        ({"search": {"sort": "newest"}}, "search.sort"),
        ({"item": "20"}, "item"),
        ({"callbackUrl": "ftp://shop.example"}, "callbackUrl"),
        ({"additionalFields": {"platformId": "1"}}, "additionalFields.platformId"),
    ],
)
async def test_a_bad_field_is_named(refusing_shop: Shop, change: dict[str, Any], field: str) -> None:
    assert fields_of(await ask(refusing_shop, {**body_for(), **change}), "validation_failed") == [field]


@on_one_database
async def test_the_body_is_checked_before_its_key_is_looked_up(shop: Shop) -> None:
    error_of(await ask(shop, body_for(platform="csgo")), "unknown_platform")
    assert items_of(await ask(shop, body_for(), "k")) == [20]
    error_of(await ask(shop, body_for(platform="csgo"), "k"), "unknown_platform")
    refused = await ask(shop, body_for(callbackUrl="ftp://shop.example"), "k")
    assert fields_of(refused, "validation_failed") == ["callbackUrl"]
