"""A client of saved searches, and what its receiver got."""

from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from typing import Any

import httpx
import orjson
from sqlalchemy import func, select

from store.schema import PENDING, deliveries
from tests.support.api.catalogue import simple_item
from tests.support.api.waiting import until
from tests.support.app import RunningApp
from tests.support.orders.shop import Shop
from tests.support.services.receiver import Receiver
from tests.support.streams.changes import Json

FIRST_MARKER = 1_000_000_000
"""Items from this id on mark moments for `until_all_callbacks_are_sent`; `received` leaves them out."""
_MARKERS = count(FIRST_MARKER)


async def saved(client: httpx.AsyncClient, receiver: Receiver, name: str = "mine", **search: Any) -> Json:
    """A search that calls the receiver back."""
    response = await client.post("/v1/searches", json={"name": name, "callbackUrl": receiver.url, **search})
    assert response.status_code == 201, response.text
    entry: Json = response.json()["search"]
    assert response.headers["location"] == f"/v1/searches/{entry['id']}"
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
        if change["id"] < FIRST_MARKER
    ]


async def until_called_back(app: RunningApp, receiver: Receiver, *numbers: int) -> list[Json]:
    """Waits until exactly these items were received, each once, and no callback of what happened until now waits."""

    async def is_received() -> bool:
        return len(received(receiver)) >= len(numbers)

    with suppress(TimeoutError):  # the list says more
        await until(is_received)
        await until_all_callbacks_are_sent(app)
    changes = received(receiver)
    assert sorted(change["id"] for change in changes) == sorted(numbers), changes
    return changes


async def until_all_callbacks_are_sent(app: RunningApp) -> None:
    """Waits until an item that is listed now has been called back for, and with it all that changed before it."""
    number = next(_MARKERS)
    with Receiver() as receiver:
        await saved(app.client, receiver, f"marker {number}", filters={"ids": [number]})
        response = await app.client.put("/v1/catalogue/730/items", json=[simple_item(number, None, "Marker")])
        assert response.json()["written"] == 1, response.text

        async def are_sent() -> bool:
            async with Shop(app).store.reading() as connection:
                pending = await connection.execute(select(func.count()).select_from(deliveries).where(PENDING))
                return bool(receiver.received) and pending.scalar_one() == 0

        await until(are_sent)


async def put(app: RunningApp, *items: dict[str, object]) -> None:
    """Writes items over HTTP."""
    response = await app.client.put("/v1/catalogue/730/items", json=list(items))
    assert response.status_code == 200, response.text
    assert response.json()["written"] == len(items)


async def gap_of(app: RunningApp, search: Mapping[str, object]) -> object:
    """When a search was last not told something."""
    return (await app.client.get(f"/v1/searches/{search['id']}")).json()["search"]["gapAt"]
