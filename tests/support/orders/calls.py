"""Calls of the orders API that several test files make."""

import asyncio
from typing import Any

import httpx

from tests.support.api.described_examples import ORDER_BODIES
from tests.support.orders.shop import Shop, bearer

LEAST = ORDER_BODIES["least"]


async def send(
    client: httpx.AsyncClient, key: str | None = "k", token: str | None = None, **fields: Any
) -> httpx.Response:
    """`POST /v1/gear` with this key."""
    headers = {**bearer(token), **({} if key is None else {"Idempotency-Key": key})}
    return await client.post("/v1/gear", json={**LEAST, **fields}, headers=headers)


async def send_until_answered(client: httpx.AsyncClient, *arguments: Any, **fields: Any) -> httpx.Response:
    """`send`, made again while the answer is a 503: a store on a busy machine asks a client for that."""
    for _ in range(10):  # each waits for the store as long as it may
        response = await send(client, *arguments, **fields)
        if response.status_code != 503:
            break
        await asyncio.sleep(0.1)
    return response


def is_replay_of(response: httpx.Response, first: httpx.Response) -> bool:
    """Whether the answer is the first one again, byte for byte, and says so."""
    assert response.status_code == first.status_code == 201, response.text
    assert response.headers["Location"] == first.headers["Location"]
    assert "Idempotent-Replayed" not in first.headers
    return response.content == first.content and response.headers.get("Idempotent-Replayed") == "true"


async def count(shop: Shop) -> int:
    return len((await shop.get("/v1/orders?limit=100")).json()["orders"])


async def move(
    shop: Shop, order_id: str, to: Any, reason: str | None = None, token: str | None = None
) -> httpx.Response:
    """`POST /v1/orders/{id}/transitions`; the shop's own token may fulfil too."""
    body = {"to": to, "reason": reason}
    return await shop.app.client.post(f"/v1/orders/{order_id}/transitions", json=body, headers=bearer(token))
