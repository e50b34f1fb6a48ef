"""A cursor leads to its very end though operators hide names and show them again while it is read."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.api.catalogue import simple_item
from tests.support.api.operators import Shop, operated_shop
from tests.support.search.cursor_pages import pages

NAMES = {number: f"Thing {number}" for number in range(1, 13)}


@pytest.fixture
async def shop(opensearch_url: str, tmp_path: Path) -> AsyncIterator[Shop]:
    items = [simple_item(number, float(number), name) for number, name in NAMES.items()]
    async with operated_shop(opensearch_url, tmp_path, items) as started:
        yield started


async def hide(shop: Shop, *numbers: int) -> str:
    """Hides the names of these items, and waits until it applies; returns the entry's id."""
    hidden = {"names": [NAMES[number] for number in numbers]}
    entry = (await shop.called("POST", "/v1/vocabulary", 201, json={"hide": hidden}))["entry"]["id"]
    await shop.until("", len(NAMES) - len(numbers))
    return str(entry)


@pytest.mark.parametrize("body", [{"sort": "price_asc"}, {"groupBy": "name"}, {"groupBy": "name", "sort": "newest"}])
async def test_a_cursor_ends_where_names_are_hidden_and_shown_while_it_is_read(
    shop: Shop, body: dict[str, Any]
) -> None:
    async def rest(walk: AsyncIterator[dict[str, Any]]) -> list[list[int]]:
        async with asyncio.timeout(60):
            return [[item["id"] for item in page["gear"]] async for page in walk]

    walk = pages(shop.app.search, {**body, "limit": 4})
    assert [item["id"] for item in (await anext(walk))["gear"]] == [1, 2, 3, 4]
    entry = await hide(shop, 1, 6)
    assert await rest(walk) == [[5, 7, 8, 9], [10, 11, 12]]

    walk = pages(shop.app.search, {**body, "limit": 5})
    assert [item["id"] for item in (await anext(walk))["gear"]] == [2, 3, 4, 5, 7]
    await shop.called("DELETE", f"/v1/vocabulary/{entry}", 200)
    await shop.until("", len(NAMES))
    assert await rest(walk) == [[8, 9, 10, 11, 12]]

    entry = await hide(shop, 11, 12)
    walk = pages(shop.app.search, {**body, "limit": 5})
    assert [item["id"] for item in (await anext(walk))["gear"]] == [1, 2, 3, 4, 5]
    await shop.called("DELETE", f"/v1/vocabulary/{entry}", 200)
    await shop.until("", len(NAMES))
    assert await rest(walk) == [[6, 7, 8, 9, 10], [11, 12]]
