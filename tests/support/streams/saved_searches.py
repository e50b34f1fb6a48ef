"""A client of saved searches goes in, and what its receiver was told comes out."""

import asyncio
from typing import Any

import httpx
import orjson

from tests.support.services.receiver import Receiver

Json = dict[str, Any]


async def saved(client: httpx.AsyncClient, receiver: Receiver, name: str = "mine", **search: Any) -> Json:
    """A search that calls the receiver back."""
    answer = await client.post("/v1/searches", json={"name": name, "callbackUrl": receiver.url, **search})
    assert answer.status_code == 201, answer.text
    entry: Json = answer.json()["search"]
    assert answer.headers["location"] == f"/v1/searches/{entry['id']}"
    return entry


def received(receiver: Receiver, search_id: str | None = None) -> list[Json]:
    """The changes that the receiver got, of one search or all."""
    bodies = [orjson.loads(received.body) for received in list(receiver.received)]
    assert all(body["type"] == "search.matched" for body in bodies)
    return [
        change
        for body in bodies
        if search_id in (None, body["data"]["search"]["id"])
        for change in body["data"]["changes"]
    ]


async def until_called_back(receiver: Receiver, *numbers: int, quiet: float = 1.5) -> list[Json]:
    """Waits until exactly these items were told, each once, and a while longer for what is too much."""
    for _ in range(600):
        if len(received(receiver)) >= len(numbers):
            break
        await asyncio.sleep(0.05)
    await asyncio.sleep(quiet)
    changes = received(receiver)
    assert sorted(change["id"] for change in changes) == sorted(numbers), changes
    return changes
