"""Operators pin names to texts and hide names, while the service runs; what a buyer excludes stays excluded."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from api.search.prices.routes import PriceServices
from tests.support.api.catalogue import simple_item
from tests.support.api.operators import Shop, operated_shop

LORE, ASIIMOV, REDLINE, STATTRAK = (
    "AWP | Dragon Lore (Factory New)",
    "AWP | Asiimov (Field-Tested)",
    "AK-47 | Redline (Field-Tested)",
    "StatTrak™ AK-47 | Redline (Field-Tested)",
)
ITEMS = [
    {**simple_item(1, 900.0, LORE), "details": {"weapon": "AWP"}},
    {**simple_item(2, 90.0, ASIIMOV), "details": {"weapon": "AWP"}},
    {**simple_item(3, 80.0, ASIIMOV), "details": {"weapon": "AWP"}},
    {**simple_item(4, 20.0, REDLINE), "details": {"weapon": "AK-47"}},
    {**simple_item(5, 40.0, STATTRAK), "details": {"weapon": "AK-47", "quality": "StatTrak™"}},
]


@pytest.fixture
async def shop(opensearch_url: str, tmp_path: Path) -> AsyncIterator[Shop]:
    async with operated_shop(opensearch_url, tmp_path, ITEMS) as started:
        yield started


async def add(shop: Shop, **entry: Any) -> str:
    """Adds an entry; returns its id."""
    return str((await shop.called("POST", "/v1/vocabulary", 201, json=entry))["entry"]["id"])


async def test_pinned_names_come_first_in_their_order_and_go_again(shop: Shop) -> None:
    before = await shop.names("awp")
    assert sorted(before) == sorted([LORE, ASIIMOV, ASIIMOV])
    pin = await add(shop, pin={"texts": ["AWP ", "ak"], "names": [REDLINE, ASIIMOV]})
    await shop.until_names("awp", [REDLINE, ASIIMOV, ASIIMOV, LORE])
    assert await shop.names("A.W.P") == [REDLINE, ASIIMOV, ASIIMOV, LORE], "case and signs do not matter"
    assert await shop.names("ak", groupBy="name") == [REDLINE, ASIIMOV, STATTRAK]
    assert await shop.names("awp asiimov") == [ASIIMOV, ASIIMOV], "another text"
    assert await shop.names("awp", sort="price_desc") == [LORE, ASIIMOV, ASIIMOV, REDLINE], "an order is an order"
    assert await shop.names("cheapest awp") == [ASIIMOV, ASIIMOV, LORE], "another text"
    await shop.called("DELETE", f"/v1/vocabulary/{pin}", 200)
    await shop.until_names("awp", before)


async def test_a_pin_breaks_no_filter_no_amount_and_no_exclusion(shop: Shop) -> None:
    texts = ["awp", "redline -stattrak", "awp under 85", "zweihorn"]
    await add(shop, pin={"texts": texts, "names": [STATTRAK, REDLINE]})
    await shop.until_names("zweihorn", [STATTRAK, REDLINE])
    assert sorted(await shop.names("awp", filters={"weapon": ["AWP"]})) == sorted([ASIIMOV, ASIIMOV, LORE])
    assert await shop.names("awp", filters={"price": {"max": 30}}) == [REDLINE]
    assert await shop.names("redline -stattrak") == [REDLINE]
    assert await shop.names("awp under 85") == [STATTRAK, REDLINE, ASIIMOV]
    assert await shop.names("awp under 30") == []


async def test_pages_facets_and_totals_count_pinned_items(shop: Shop) -> None:
    await add(shop, pin={"texts": ["awp"], "names": [REDLINE]})
    await shop.until("awp", 4)
    response = (await shop.app.search({"query": "awp", "limit": 1, "page": 2, "facets": ["weapon"]})).json()
    assert response["total"] == 4
    assert response["facets"]["weapon"] == [{"value": "AWP", "count": 3}, {"value": "AK-47", "count": 1}]
    assert response["gear"][0]["name"] != REDLINE
    cursor, names = "*", []
    while cursor:
        page = (await shop.app.search({"query": "awp", "limit": 3, "cursor": cursor})).json()
        names += [item["name"] for item in page["gear"]]
        cursor = page["nextCursor"]
    assert names == await shop.names("awp")


async def test_interpretation_and_explain_tell_of_a_pin(shop: Shop) -> None:
    await shop.command("pin", REDLINE, "--text", "awp")
    await shop.until("awp", 4)
    response = (await shop.app.search({"query": "awp", "explain": True})).json()
    assert response["interpretation"]["pinned"] == [REDLINE]
    assert "pinned" not in (await shop.app.search({"query": "ak", "explain": True})).json()["interpretation"]
    explained = await shop.explained(4, "awp")
    assert (explained["answered"], explained["rank"]) == (True, 1)
    assert any("pins its name" in sentence for sentence in explained["sentences"])


async def test_a_name_is_hidden_from_a_text_or_from_all(shop: Shop) -> None:
    await shop.command("hide", ASIIMOV, "--text", "awp")
    await shop.until_names("awp", [LORE])
    assert await shop.names("asiimov") == [ASIIMOV, ASIIMOV]
    await shop.command("hide", ASIIMOV)
    await shop.until("asiimov", 0)
    assert sorted(await shop.names("")) == sorted([LORE, REDLINE, STATTRAK])
    suggested = await shop.called("GET", "/v1/gear/suggest?q=asi", 200)
    assert suggested["suggestions"] == []
    assert (await shop.called("GET", "/v1/gear/2", 200))["available"], "it can be read and ordered by its id"
    explained = await shop.explained(2, "asiimov")
    assert explained["reasons"] == ["hidden"]
    listed = await shop.command("list")
    assert [each["hide"] for each in listed] == [
        {"texts": ["awp"], "names": [ASIIMOV]},
        {"texts": [], "names": [ASIIMOV]},
    ]


async def test_a_hidden_name_is_in_no_price_list(shop: Shop) -> None:
    shop.app.app.state.services[PriceServices].price_lists._fresh_seconds = 600  # however long a command takes here

    async def listed() -> list[str]:
        return sorted(row["name"] for row in (await shop.called("GET", "/v1/gear/prices", 200))["prices"])

    assert await listed() == sorted([LORE, ASIIMOV, REDLINE, STATTRAK])
    await shop.command("hide", ASIIMOV)
    await shop.until("asiimov", 0)
    assert await listed() == sorted([LORE, REDLINE, STATTRAK])


async def test_what_is_hidden_is_not_pinned(shop: Shop) -> None:
    await shop.command("pin", REDLINE, LORE, "--text", "zweihorn")
    await shop.command("hide", REDLINE)
    await shop.until_names("zweihorn", [LORE])


async def test_a_trial_of_a_pin_changes_nothing(shop: Shop) -> None:
    pin = {"texts": ["awp"], "names": [REDLINE]}
    tried = await shop.called("POST", "/v1/vocabulary/test", 200, json={"query": "awp", "pin": pin})
    assert (tried["before"]["total"], tried["after"]["total"]) == (3, 4)
    assert tried["after"]["names"][0] == REDLINE
    assert len(await shop.names("awp")) == 3
