"""The price list says of every name what a look at all items says."""

import asyncio
import json
import zlib
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from random import Random
from statistics import median_low
from typing import Any

import httpx
import pytest

from api.search.prices.price_list import price_list_rows
from api.search.prices.price_lists import PriceLists
from api.search.prices.requests import Sizes
from api.search.prices.routes import PriceServices
from api.settings import Settings
from mappings.fields import OFFERED
from mappings.items.item import GearItem
from mappings.platforms import read_platforms
from tests.support.api.catalogue import put_index, simple_item
from tests.support.api.envelope import error_of
from tests.support.api.waiting import until
from tests.support.app import RunningApp, new_token, running, settings_for
from tests.support.search import oracle
from tests.support.search.items import make_items
from tests.support.search.serving import awaited_revision

URL = "/v1/gear/prices"
(CS2,) = read_platforms()
RANDOM = Random(5)  # made-up prices
SIMPLE = [
    *(simple_item(10_000 + at, RANDOM.randrange(1, 400) / 4, "Many prices") for at in range(300)),
    *(simple_item(20_000 + at, 1.25, "One price") for at in range(5)),
    *(simple_item(30_000 + at, None, "No price") for at in range(2)),
    simple_item(40_000, 2.5, "many  prices"),  # another name
]
ITEMS = make_items(300, seed=9) + [GearItem.model_validate(item).model_dump(by_alias=True) for item in SIMPLE]


def expected(items: Iterable[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The rows by name."""
    listed, rows = list(items), {}
    for name in {item["name"] for item in listed}:
        prices = [item["price"] for item in listed if item["name"] == name and item["price"] is not None]
        median = median_low(prices) if prices else None
        rows[name] = {"name": name, **oracle.offers(listed, {}, name), "priceMedian": median}
    return rows


def rows_of(response: httpx.Response) -> dict[str, dict[str, Any]]:
    """The rows of a document, each name once."""
    assert response.status_code == 200, response.text
    prices = response.json()["prices"]
    rows = {row["name"]: row for row in prices}
    assert len(rows) == len(prices)
    return rows


@pytest.fixture
def stocked(opensearch_url: str, index_prefix: str, tmp_path: Path) -> Settings:
    """Settings of an app over an index of the items."""
    settings = settings_for(opensearch_url, index_prefix, tmp_path)
    put_index(settings, CS2, ITEMS)
    return settings


@pytest.fixture
async def shop(stocked: Settings) -> AsyncIterator[RunningApp]:
    """The app, whose lists are made anew with every change."""
    async with running(stocked) as app:
        _without_age(app)
        yield app


def _without_age(app: RunningApp) -> None:
    services = app.app.state.services[PriceServices]
    tasks = services.price_lists._tasks
    never_fresh = PriceLists(awaited_revision(services.engine), tasks, fresh_seconds=0)
    object.__setattr__(services, "price_lists", never_fresh)


async def test_every_name_has_its_count_prices_and_floats(shop: RunningApp) -> None:
    response = await shop.client.get(URL)
    assert rows_of(response) == expected(ITEMS)
    for query in ("?platform=730", "?platform=cs2"):
        again = await shop.client.get(URL + query)
        assert again.content == response.content


@pytest.mark.parametrize(
    "sizes", [Sizes(), Sizes(part_items=20), Sizes(max_names=20), Sizes(max_prices=8), Sizes(7, 5, 3)]
)
async def test_however_it_is_divided_the_list_is_the_same(shop: RunningApp, sizes: Sizes) -> None:
    services = shop.app.state.services[PriceServices]
    pit = await services.points_in_time.open([CS2])
    rows = [row async for row in price_list_rows(pit, OFFERED, CS2.minor_digits, sizes)]
    await services.points_in_time.discard(pit)
    assert {row["name"]: row for row in rows} == expected(ITEMS)
    assert len(rows) == len(expected(ITEMS))


async def test_the_same_list_has_the_same_tag_and_is_not_sent_again(shop: RunningApp) -> None:
    first = await shop.client.get(URL)
    unchanged = await shop.client.get(URL, headers={"If-None-Match": first.headers["etag"]})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert unchanged.headers["etag"] == first.headers["etag"]
    # another index with the same prices
    put_index(shop.settings, CS2, ITEMS[::-1])
    assert (await shop.client.get(URL, headers={"If-None-Match": first.headers["etag"]})).status_code == 304
    put_index(shop.settings, CS2, ITEMS[1:])
    changed = await shop.client.get(URL, headers={"If-None-Match": first.headers["etag"]})
    assert rows_of(changed) == expected(ITEMS[1:])
    assert changed.headers["etag"] != first.headers["etag"]


async def test_lines_and_compression_have_the_same_rows(shop: RunningApp) -> None:
    # a client that decodes nothing by itself
    async with shop.client.stream("GET", URL, headers={"Accept": "application/x-ndjson"}) as response:
        raw = b"".join([piece async for piece in response.aiter_raw()])
        assert response.headers["content-type"] == "application/x-ndjson"
        assert response.headers["content-encoding"] == "gzip"
        assert {"Accept", "Accept-Encoding"} <= set(response.headers["vary"].split(", "))
    lines = zlib.decompress(raw, wbits=31).splitlines()
    assert {row["name"]: row for row in map(json.loads, lines)} == expected(ITEMS)


async def test_what_is_ordered_is_not_listed(shop: RunningApp) -> None:
    sold = next(item for item in ITEMS if item["name"] == "many  prices")
    order = {"account": "a", "email": "b@shop.example", "platform": "cs2", "item": str(sold["id"])}
    assert (await shop.client.post("/v1/gear", json=order)).status_code == 201

    async def is_gone() -> bool:
        return rows_of(await shop.client.get(URL)) == expected(item for item in ITEMS if item is not sold)

    await until(is_gone, otherwise="the list still has what was ordered")


async def test_a_token_with_filters_lists_what_it_reads(shop: RunningApp) -> None:
    filters = '{"name": ["Many prices", "One price"], "price": {"max": 50}}'
    token = await new_token(shop.settings.database_url, "search", filters=filters)
    visible = [item for item in ITEMS if item["name"] in ("Many prices", "One price") and item["price"] <= 50]
    assert rows_of(await shop.client.get(URL)) == expected(ITEMS)
    response = await shop.client.get(URL, headers={"Authorization": f"Bearer {token}"})
    assert rows_of(response) == expected(visible)
    assert rows_of(await shop.client.get(URL)) == expected(ITEMS)


async def test_many_callers_at_once_make_one_list(shop: RunningApp) -> None:
    services, built = shop.app.state.services[PriceServices], 0
    opened = services.points_in_time.open

    async def counted(*platforms: Any) -> Any:
        nonlocal built
        built += 1
        return await opened(*platforms)

    services.points_in_time.open = counted
    responses = await asyncio.gather(*(shop.client.get(URL) for _ in range(8)))
    assert {response.headers["etag"] for response in responses} == {responses[0].headers["etag"]}
    assert built == 1


async def test_a_point_in_time_that_is_gone_is_no_short_list(shop: RunningApp) -> None:
    services = shop.app.state.services[PriceServices]
    opened = services.points_in_time.open

    async def lost(*platforms: Any) -> Any:
        pit = await opened(*platforms)
        await services.engine.close_pits([pit.id])
        return pit

    services.points_in_time.open = lost
    error_of(await shop.client.get(URL), "search_unavailable")
    services.points_in_time.open = opened
    assert rows_of(await shop.client.get(URL)) == expected(ITEMS)


async def test_a_list_that_is_being_made_when_all_are_cleared_is_given_to_nobody_later(stocked: Settings) -> None:
    async with running(stocked) as app:
        services = app.app.state.services[PriceServices]
        opened, is_open, may_go_on = services.points_in_time.open, asyncio.Event(), asyncio.Event()

        async def slowly(*platforms: Any) -> Any:
            pit = await opened(*platforms)
            if not is_open.is_set():
                is_open.set()
                await may_go_on.wait()
            return pit

        services.points_in_time.open = slowly
        first = asyncio.create_task(app.client.get(URL))
        await is_open.wait()
        put_index(stocked, CS2, ITEMS[1:])
        services.price_lists.clear()
        assert rows_of(await app.client.get(URL)) == expected(ITEMS[1:])
        may_go_on.set()
        assert rows_of(await first) == expected(ITEMS)
        assert rows_of(await app.client.get(URL)) == expected(ITEMS[1:])


async def test_a_list_is_ten_seconds_old_at_most_and_costs_when_it_is_made(stocked: Settings) -> None:
    limited = stocked.model_copy(update={"rate_limit": "60/hour"})
    async with running(limited) as app:
        first = await app.client.get(URL)
        assert first.headers["ratelimit-remaining"] == "10"
        put_index(stocked, CS2, ITEMS[1:])
        second = await app.client.get(URL)
        assert second.content == first.content
        assert second.headers["ratelimit-remaining"] == "9"
        _without_age(app)
        assert error_of(await app.client.get(URL), "rate_limited")["details"] == []


async def test_a_platform_without_a_catalogue_is_not_ready_and_an_unknown_one_is_refused(
    opensearch_url: str, index_prefix: str, tmp_path: Path
) -> None:
    settings = settings_for(opensearch_url, index_prefix, tmp_path)
    async with running(settings) as app:
        error_of(await app.client.get(URL), "search_unavailable")
        error_of(await app.client.get(f"{URL}?platform=csgo"), "unknown_platform")
        error_of(await app.client.get(f"{URL}?sort=price"), "validation_failed")
        put_index(settings, CS2, [])
        assert rows_of(await app.client.get(URL)) == {}
