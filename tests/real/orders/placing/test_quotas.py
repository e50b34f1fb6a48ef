"""Quotas: a token has at most so many undelivered orders, exactly, and retries are not orders."""

import asyncio
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import httpx

from api.settings import Settings
from store.auth import tokens
from store.auth.tokens import CreatedToken
from store.connection.engine import Store
from tests.support.orders.calls import is_replay_of
from tests.support.orders.shop import FREE, KNIFE, LARGEST, NEGATIVE, Shop, bearer, opened

SANDBOX_ITEM = "-1100000000"


async def limited(store: Store, *, sandbox: bool = False, **quotas: Any) -> CreatedToken:
    async with store.transaction() as connection:
        now = datetime.now(UTC)
        return await tokens.create(connection, "limited", ["order", "fulfil"], sandbox, None, now, **quotas)


def refusal(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


async def test_an_order_beyond_the_quota_is_refused_until_another_is_over(shop: Shop) -> None:
    token = (await limited(shop.store, max_active=2)).plaintext
    first = (await shop.order(KNIFE, token)).json()["order"]
    assert (await shop.order(FREE, token)).status_code == 201
    refused = await shop.order(LARGEST, token)
    assert refusal(refused) == (429, "too_many_orders")
    assert int(refused.headers["Retry-After"]) > 0
    assert "2 orders" in refused.json()["error"]["message"]
    assert (await shop.order(LARGEST)).status_code == 201, "another token has its own quota"
    await shop.move(first["id"], "created", "processing")
    assert refusal(await shop.order(NEGATIVE, token)) == (429, "too_many_orders")
    await shop.move(first["id"], "processing", "delivered")
    assert (await shop.order(NEGATIVE, token)).status_code == 201, "what is delivered counts no more"


async def test_a_refused_order_leaves_its_item_free_and_its_key_unused(shop: Shop) -> None:
    token = (await limited(shop.store, max_active=1)).plaintext
    body = {"account": "a", "email": "a@example.com", "platform": "cs2"}
    headers = {**bearer(token), "Idempotency-Key": "once"}
    first = (await shop.order(KNIFE, token)).json()["order"]
    refused = await shop.app.client.post("/v1/gear", json={**body, "item": str(FREE)}, headers=headers)
    assert refusal(refused) == (429, "too_many_orders")
    assert FREE in await shop.offered()
    await shop.move(first["id"], "created", "cancelled")
    again = await shop.app.client.post("/v1/gear", json={**body, "item": str(FREE)}, headers=headers)
    assert again.status_code == 201
    assert "Idempotent-Replayed" not in again.headers


async def test_a_retry_at_the_quota_gets_its_order(shop: Shop) -> None:
    token = (await limited(shop.store, max_active=2)).plaintext
    body = {"account": "a", "email": "a@example.com", "platform": "cs2"}
    with_key = {**bearer(token), "Idempotency-Key": "k"}
    keyed, plain = {**body, "item": str(KNIFE)}, {**body, "item": str(FREE)}
    first = await shop.app.client.post("/v1/gear", json=keyed, headers=with_key)
    second = await shop.app.client.post("/v1/gear", json=plain, headers=bearer(token))
    assert is_replay_of(await shop.app.client.post("/v1/gear", json=keyed, headers=with_key), first)
    assert is_replay_of(await shop.app.client.post("/v1/gear", json=plain, headers=bearer(token)), second)


async def test_an_account_has_a_quota_of_its_own(small_shop: Shop) -> None:
    token = (await limited(small_shop.store, max_active=10, max_active_per_account=1)).plaintext
    assert (await small_shop.order(KNIFE, token, account="ann")).status_code == 201
    refused = await small_shop.order(FREE, token, account="ann")
    assert refusal(refused) == (429, "too_many_orders")
    assert "account" in refused.json()["error"]["message"]
    assert (await small_shop.order(FREE, token, account="bob")).status_code == 201


async def test_the_quota_is_exact_for_orders_that_come_at_once_to_two_processes(settings: Settings) -> None:
    async with opened(settings) as first, opened(settings) as second:
        created = await limited(first.store, sandbox=True, max_active=4)
        responses = await asyncio.gather(
            *(
                shop.order(f"-11{number:03}", created.plaintext, account=f"client-{number}")
                for number in range(8)
                for shop in (first, second)
            )
        )
    assert Counter(response.status_code for response in responses)[201] >= 4
    distinct = {response.json()["order"]["id"] for response in responses if response.status_code == 201}
    assert len(distinct) == 4
    assert {refusal(response) for response in responses if response.status_code != 201} == {(429, "too_many_orders")}


async def test_the_metric_counts_undelivered_orders_by_token_and_state(small_shop: Shop) -> None:
    created = await limited(small_shop.store)
    moved = (await small_shop.order(KNIFE, created.plaintext)).json()["order"]
    await small_shop.order(FREE, created.plaintext)
    await small_shop.move(moved["id"], "created", "processing")
    text = (await small_shop.get("/metrics")).text
    for state in ("created", "processing"):
        assert f'gear_orders_active{{state="{state}",token="{created.token.id}"}} 1.0' in text
