"""Saved searches are saved, listed and deleted by their token alone, within its limit; bad ones are refused."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from api.settings import Settings
from store.auth import tokens
from store.saved_searches import searches
from store.schema import deliveries, saved_searches, search_matches
from tests.support.api.catalogue import simple_item
from tests.support.api.envelope import error_of
from tests.support.api.waiting import until
from tests.support.app import RunningApp, new_token, running
from tests.support.indexer.fixtures import Place
from tests.support.orders.desk import dispatching
from tests.support.orders.shop import Shop, bearer
from tests.support.services.receiver import Receiver, responses
from tests.support.streams.saved_searches import received, saved, until_called_back

BODY = {"name": "mine", "callbackUrl": "https://shop.example.com/hook"}


async def test_a_search_is_read_as_it_was_saved_until_it_is_deleted(app: RunningApp) -> None:
    sent = {**BODY, "platform": 730, "query": "redline", "filters": {"price": {"max": 0.10}, "weapon": ["AK-47"]}}
    response = await app.client.post("/v1/searches", json=sent)
    assert response.status_code == 201, response.text
    search = response.json()["search"]
    assert set(search) == {*sent, "id", "createdAt", "gapAt"}
    assert sent.items() <= search.items()
    address = f"/v1/searches/{search['id']}"
    assert (await app.client.get(address)).json() == {"status": "success", "search": search}
    assert (await app.client.post("/v1/searches", json=sent)).json()["search"] == search
    assert (await app.client.delete(address)).json() == {"status": "success", "removed": search["id"]}
    error_of(await app.client.get(address), "search_not_found")
    error_of(await app.client.delete(address), "search_not_found")
    again = (await app.client.post("/v1/searches", json=sent)).json()["search"]
    assert again["id"] != search["id"]


async def test_searches_are_listed_by_pages_newest_first_to_their_token_alone(app: RunningApp) -> None:
    created = []
    for number in range(5):
        response = await app.client.post("/v1/searches", json={**BODY, "name": f"n{number}"})
        created.append(response.json()["search"])
    pages, query = [], "limit=2"
    while query:
        page = (await app.client.get(f"/v1/searches?{query}")).json()
        pages.append(page["searches"])
        query = page["nextCursor"] and f"limit=2&cursor={page['nextCursor']}"
    assert [len(page) for page in pages] == [2, 2, 1]
    assert [search for page in pages for search in page] == created[::-1]
    error_of(await app.client.get("/v1/searches?cursor=x"), "validation_failed")
    other = bearer(await new_token(app.settings.database_url, "search"))
    assert (await app.client.get("/v1/searches", headers=other)).json()["searches"] == []
    address = f"/v1/searches/{created[0]['id']}"
    error_of(await app.client.get(address, headers=other), "search_not_found")
    error_of(await app.client.delete(address, headers=other), "search_not_found")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"name": "x" * 129}, "name"),
        ({"callbackUrl": None}, "callbackUrl"),
        ({"callbackUrl": "ftp://shop.example.com/"}, "callbackUrl"),
        ({"query": "x" * 201}, "query"),
        ({"filters": {"weapon": "AK-47"}}, "filters.weapon"),
        ({"filters": {"price": {"min": 2, "max": 1}}}, "filters.price"),
        ({"sort": "newest"}, "sort"),
        ({"limit": 5}, "limit"),
    ],
)
async def test_a_bad_field_is_named(app: RunningApp, change: dict[str, Any], field: str) -> None:
    error = error_of(await app.client.post("/v1/searches", json={**BODY, **change}), "validation_failed")
    assert [detail["field"] for detail in error["details"]] == [field]


async def test_an_unknown_platform_is_refused(app: RunningApp) -> None:
    error_of(await app.client.post("/v1/searches", json={**BODY, "platform": 1}), "unknown_platform")


async def test_a_token_has_so_many_searches_as_it_may(feed_settings: Settings) -> None:
    async with running(feed_settings.model_copy(update={"max_saved_searches": 2})) as app:
        sent = [app.client.post("/v1/searches", json={**BODY, "name": f"n{number}"}) for number in range(6)]
        answered = await asyncio.gather(*sent)
        assert sorted(response.status_code for response in answered) == [201, 201, 409, 409, 409, 409]
        error = error_of(next(response for response in answered if response.status_code == 409), "too_many_searches")
        assert "2 saved searches" in error["message"]
        assert error["details"][0]["field"] == "name"
        listed = (await app.client.get("/v1/searches")).json()["searches"]
        await app.client.delete(f"/v1/searches/{listed[0]['id']}")
        assert (await app.client.post("/v1/searches", json={**BODY, "name": "n9"})).status_code == 201
        limits = (await app.client.get("/v1/platforms")).json()["limits"]
        assert limits["savedSearches"] == 2


async def test_scopes_and_web_pages(app: RunningApp) -> None:
    url = app.settings.database_url
    order = bearer(await new_token(url, "order"))
    error_of(await app.client.post("/v1/searches", json=BODY, headers=order), "forbidden")
    page = bearer(await new_token(url, "search", origins=["https://shop.example.com"]))
    error_of(await app.client.post("/v1/searches", json=BODY, headers=page), "forbidden")
    error_of(await app.client.get("/v1/searches", headers=page), "forbidden")


async def test_forced_filters_hold_and_a_revoked_token_is_not_called_back(app: RunningApp) -> None:
    shop = Shop(app)
    with Receiver() as receiver, Receiver() as other:
        filters = '{"price": {"max": 5}}'
        narrow = bearer(await new_token(app.settings.database_url, "search", filters=filters))
        sent = {"name": "narrow", "callbackUrl": receiver.url}
        assert (await app.client.post("/v1/searches", json=sent, headers=narrow)).status_code == 201
        await saved(app.client, other)
        await app.client.put("/v1/catalogue/730/items", json=[simple_item(1001, 9), simple_item(1002, 5)])
        await until_called_back(app, receiver, 1002)
        await until_called_back(app, other, 1001, 1002)
        async with shop.store.transaction() as connection:
            row = next(token for token in await tokens.list_all(connection) if token.filters)
            await tokens.revoke(connection, row.id, datetime.now(UTC))
        await app.client.put("/v1/catalogue/730/items", json=[simple_item(1003, 1)])
        await until_called_back(app, other, 1001, 1002, 1003)
        assert len(received(receiver)) == 1


async def test_a_deleted_search_does_not_call_back_and_is_erased(feed_settings: Settings) -> None:
    ahead = timedelta()
    settings = feed_settings.model_copy(update={"deliver_callbacks": False})
    async with running(settings) as app:
        store, delays = Shop(app).store, (timedelta(hours=1),) * 3
        with Receiver(responses(503)) as receiver, Receiver() as other:
            async with dispatching(store, delays=delays, clock=lambda: datetime.now(UTC) + ahead):
                search = await saved(app.client, receiver)
                await app.client.put("/v1/catalogue/730/items", json=[simple_item(1001)])

                await until(lambda: len(receiver.received) == 1, otherwise="nothing was sent")
                assert (await app.client.delete(f"/v1/searches/{search['id']}")).status_code == 200
                receiver.behaviour = responses(204)
                ahead = timedelta(hours=2)  # the second attempt would be due
                await saved(app.client, other)
                await app.client.put("/v1/catalogue/730/items", json=[simple_item(1002)])
                await until_called_back(app, other, 1002)
                assert len(receiver.received) == 1
        now = datetime.now(UTC)
        async with store.transaction() as connection:
            assert await searches.erase(connection, now, now - timedelta(days=1), 100) == 1
            for column in (saved_searches.c.id, search_matches.c.search_id, deliveries.c.order_id):
                rows = await connection.execute(select(func.count()).where(column == search["id"]))
                assert rows.scalar_one() == 0


async def test_a_search_says_that_it_missed_what_a_lost_log_had(app: RunningApp, place: Place) -> None:
    with Receiver() as receiver:
        search = await saved(app.client, receiver)
        assert search["gapAt"] is None
        place.client.indices.delete(index=f"{place.alias.removesuffix('-730')}-changes-*")
        await app.client.put("/v1/catalogue/730/items", json=[simple_item(1001)])

        async def has_gap() -> bool:
            entry = (await app.client.get(f"/v1/searches/{search['id']}")).json()["search"]
            return entry["gapAt"] is not None

        await until(has_gap, otherwise="nobody says so")
        await app.client.put("/v1/catalogue/730/items", json=[simple_item(1002)])
        await until_called_back(app, receiver, 1002)
