"""Retries: however often a call is made, whatever happens in between, there is one order and one answer."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.orders import service
from api.orders.offers import real_offer
from api.settings import Settings
from tests.support.api.envelope import error_of
from tests.support.app import new_token
from tests.support.orders.calls import LEAST, count, is_replay_of, send, send_until_answered
from tests.support.orders.processes import worker
from tests.support.orders.shop import FREE, KNIFE, Shop, opened
from tests.support.store.migrated import migrated


@pytest.mark.parametrize("key", ["k", None])
async def test_a_call_made_again_is_answered_again(shop: Shop, key: str | None) -> None:
    first = await send(shop.app.client, key)
    for _ in range(3):
        assert is_replay_of(await send(shop.app.client, key), first)
    assert await count(shop) == 1


async def test_of_fifty_retries_at_once_on_two_processes_there_is_one_order(settings: Settings, tmp_path: Path) -> None:
    """With a key and without."""
    await migrated(settings.database_url)
    token = await new_token(settings.database_url, "order")
    ids: list[str] = []
    async with worker(settings, tmp_path, token) as first, worker(settings, tmp_path, token) as second:
        for key, item in (("k", KNIFE), (None, FREE)):
            callers = [each.client for _ in range(25) for each in (first, second)]
            responses = await asyncio.gather(*(send_until_answered(each, key, item=str(item)) for each in callers))
            assert [response.status_code for response in responses] == [201] * 50
            assert len({response.content for response in responses}) == 1
            replayed = [response.headers.get("Idempotent-Replayed") for response in responses]
            assert sorted(replayed, key=str) == [None, *["true"] * 49]
            ids.append(responses[0].json()["order"]["id"])
        listed = (await first.client.get("/v1/orders")).json()["orders"]
        assert {order["id"] for order in listed} == {*ids}


async def test_the_stored_answer_outlives_what_it_was_made_of(settings: Settings) -> None:
    async with opened(settings) as shop:
        first = await send(shop.app.client, expectedPrice=21.4, token=(token := await shop.token("order")))
        order = first.json()["order"]
        await shop.move(order["id"], "created", "processing", "failed")
        assert is_replay_of(await send(shop.app.client, token=token, expectedPrice=21.4), first)
    changed = {"fee_rate": "0.5", "public_url": "http://other.test", "index_prefix": settings.index_prefix + "-gone"}
    async with opened(settings.model_copy(update=changed)) as shop:
        # after a restart, at another price of ours, with no item of this id any more
        assert is_replay_of(await send(shop.app.client, token=token, expectedPrice=21.4), first)
        assert error_of(await send(shop.app.client, "new", token))["code"] == "search_unavailable"


async def test_the_same_body_may_be_written_in_many_ways(shop: Shop) -> None:
    sent = {**LEAST, "expectedPrice": 21.4, "additionalFields": {"platformId": "76561198000000001"}}
    first = await send(shop.app.client, **sent)
    text = (
        '{"item":"40000012345","additionalFields":{"tradeLink":null,"platformId":"76561198000000001"}, "fee":null,'
        '"expectedPrice":2140e-2,"platform":"cs2","code":null,"email":"buyer\\u0040example.com","account":"client-17"}'
    )
    headers = {"Content-Type": "application/json", "Idempotency-Key": "k"}
    assert is_replay_of(await shop.app.client.post("/v1/gear", content=text, headers=headers), first)
    del headers["Idempotency-Key"]
    assert is_replay_of(await shop.app.client.post("/v1/gear", content=text, headers=headers), first)


@pytest.mark.parametrize(
    "other",
    [
        {"account": "client-18"},
        {"email": "Buyer@example.com"},
        {"item": str(FREE)},
        {"platform": "730"},
        {"fee": "included"},
        {"fee": "excluded"},
        {"code": ""},
        {"attribution": {}},
        {"expectedPrice": 21.4},
        {"callbackUrl": "https://shop.example.com/hook"},
    ],
    ids=str,
)
async def test_a_key_of_another_body_is_a_422(small_shop: Shop, other: dict[str, Any]) -> None:
    first = await send(small_shop.app.client)
    error = error_of(await send(small_shop.app.client, **other))
    assert error["code"] == "idempotency_key_reused"
    assert [detail["field"] for detail in error["details"]] == ["Idempotency-Key"]
    assert is_replay_of(await send(small_shop.app.client), first)
    if other != {"item": str(FREE)}:  # without a key another body is another order, which the item is not free for
        assert error_of(await send(small_shop.app.client, None, **other))["code"] == "item_unavailable"


async def test_a_used_key_is_looked_up_before_the_body_is_checked(small_shop: Shop) -> None:
    first = await send(small_shop.app.client)
    broken = {"additionalFields": {"platformId": "1"}}
    for other in ({"platform": "tf2"}, {"item": "knife"}, {"maxPrice": 1, "expectedPrice": 1}, broken):
        assert error_of(await send(small_shop.app.client, **other))["code"] == "idempotency_key_reused"
    assert is_replay_of(await send(small_shop.app.client), first)


@pytest.mark.parametrize("key", ["k", None])
async def test_a_retry_gets_the_order_that_is_placed_while_it_looks_for_the_item(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    first: list[httpx.Response] = []

    async def offer_after_the_first_call(*arguments: Any) -> Any:
        monkeypatch.setattr(service, "real_offer", real_offer)
        first.append(await send(shop.app.client, key))  # it was under way, and the retry has not seen it yet
        return await real_offer(*arguments)

    monkeypatch.setattr(service, "real_offer", offer_after_the_first_call)
    assert is_replay_of(await send(shop.app.client, key), first[0])
    assert await count(shop) == 1


async def test_a_call_that_a_rival_was_faster_than_has_no_duplicate_that_comes_through_later(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def offer_before_a_refusal(*arguments: Any) -> Any:
        monkeypatch.setattr(service, "real_offer", real_offer)
        offer = await real_offer(*arguments)
        rival = await shop.placed(account="rival")
        assert error_of(await send(shop.app.client))["message"] == f"item {KNIFE} is bound by another order"
        await shop.move(rival["id"], "created", "cancelled")
        return offer

    monkeypatch.setattr(service, "real_offer", offer_before_a_refusal)
    error = error_of(await send(shop.app.client))
    assert (error["code"], "call again" in error["message"]) == ("item_unavailable", True)
    assert await count(shop) == 1  # the rival's
    assert (await send(shop.app.client)).status_code == 201


async def test_rivals_for_one_key_with_two_bodies_make_one_order(settings: Settings) -> None:
    async with opened(settings) as first, opened(settings) as second:
        token = await first.token("order")
        calls = [(shop, item) for _ in range(10) for shop in (first, second) for item in (KNIFE, FREE)]
        sent = (send_until_answered(shop.app.client, token=token, item=str(item)) for shop, item in calls)
        responses = await asyncio.gather(*sent)
        placed = {response.json()["order"]["id"] for response in responses if response.status_code == 201}
        refused = [error_of(response)["code"] for response in responses if response.status_code != 201]
        assert len(placed) == 1
        assert refused == ["idempotency_key_reused"] * 20
        assert await count(first) == 1


async def test_a_key_belongs_to_its_token(shop: Shop) -> None:
    token, other_token = await shop.token("order"), await shop.token("order")
    first = await send(shop.app.client, token=token)
    assert error_of(await send(shop.app.client, token=other_token))["code"] == "item_unavailable"
    assert error_of(await send(shop.app.client, None, token=other_token))["code"] == "item_unavailable"
    second = await send(shop.app.client, token=other_token, item=str(FREE))
    assert second.json()["order"]["id"] != first.json()["order"]["id"]


async def test_errors_are_not_stored(shop: Shop) -> None:
    assert error_of(await send(shop.app.client, expectedPrice=20))["code"] == "price_changed"
    assert error_of(await send(shop.app.client, email="nobody"))["code"] == "validation_failed"
    rival = await send(shop.app.client, None, account="rival")
    assert error_of(await send(shop.app.client))["code"] == "item_unavailable"
    await shop.move(rival.json()["order"]["id"], "created", "cancelled")
    first = await send(shop.app.client)
    assert is_replay_of(await send(shop.app.client), first)


async def test_without_a_key_the_same_body_is_the_same_order_while_it_is_active(shop: Shop) -> None:
    first = (await send(shop.app.client)).json()["order"]  # with a key
    await shop.move(first["id"], "created", "processing", "delivered", "completed")
    again = await send(shop.app.client, None)
    assert (again.status_code, again.headers["Idempotent-Replayed"]) == (201, "true")
    assert again.json()["order"] == {**first, "state": "completed", "updatedAt": again.json()["order"]["updatedAt"]}
    await shop.move(first["id"], "completed", "reverted")
    later = await send(shop.app.client, None)
    assert "Idempotent-Replayed" not in later.headers
    assert later.json()["order"]["id"] != first["id"]
    assert (await send(shop.app.client)).json()["order"] == first  # the key's answer is the first one for good


async def test_a_new_key_is_a_new_order(shop: Shop) -> None:
    await send(shop.app.client, "first")
    assert error_of(await send(shop.app.client, "second"))["code"] == "item_unavailable"


@pytest.mark.parametrize(
    "keys",
    [[b""], [b" "], [b"a", b"a"], [b"a", b"b"], [b"x" * 256], ["schlüssel".encode()], [b"a\tb"]],
    ids=repr,
)
async def test_what_is_no_key_is_a_422_that_names_the_header(small_shop: Shop, keys: list[bytes]) -> None:
    headers = [(b"Idempotency-Key", key) for key in keys]
    error = error_of(await small_shop.app.client.post("/v1/gear", json=LEAST, headers=headers))
    assert error["code"] == "validation_failed"
    assert [detail["field"] for detail in error["details"]] == ["Idempotency-Key"]
    assert (await send(small_shop.app.client, "x" * 255)).status_code == 201
