"""New listings come in by themselves while somebody looks at a search, and are shown when that person wants them."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from playwright.async_api import Page, expect

from tests.support.api.waiting import until
from tests.support.app import new_token
from tests.support.browser.window import ShopWindow

CARDS = "#results .grid .card:not(.skeleton-card)"
NAME = "AK-47 | Redline (Field-Tested)"
FEED = "/v1/gear/changes"
# A hidden tab, as the browser tells its page.
HIDE = """hidden => {
    Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
    document.dispatchEvent(new Event("visibilitychange"));
}"""

# A request of its own: those before it were sent.
ASK = "() => fetch('/llms.txt').then(() => null)"
RETRY_SECONDS = 5


def listing(number: int, **more: Any) -> dict[str, Any]:
    """A listing that no test before this one has written."""
    weapon = {"type": "Rifle", "weapon": "AK-47", "exterior": "Field-Tested"}
    return {"id": number, "name": NAME, "price": 12.5, "details": weapon, **more}


@asynccontextmanager
async def operator(window: ShopWindow) -> AsyncIterator[httpx.AsyncClient]:
    """A client that may write the catalogue."""
    token = await new_token(window.database_url, "catalogue")
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=f"{window.base}/v1/catalogue/730", headers=headers, timeout=60) as client:
        yield client


async def upsert(client: httpx.AsyncClient, *items: dict[str, Any]) -> None:
    """Writes listings; each must be taken."""
    response = await client.put("/items", json=list(items))
    assert (response.status_code, response.json().get("written")) == (200, len(items)), response.text


async def delete(client: httpx.AsyncClient, *numbers: int) -> None:
    """Takes listings away."""
    response = await client.request("DELETE", "/items", json={"ids": numbers})
    assert response.status_code == 200, response.text


@asynccontextmanager
async def followed(window: ShopWindow, path: str) -> AsyncIterator[Page]:
    """A page that waits for changes of what it shows."""
    async with window.opened("/llms.txt") as page:
        async with page.expect_request(lambda request: FEED in request.url and "since" in (request.post_data or "")):
            await page.goto(window.base + path)
        await expect(page.locator(".total")).to_have_text(re.compile("[0-9]"))
        yield page


async def test_a_new_listing_comes_in_when_a_person_wants_it(window: ShopWindow) -> None:
    numbers = [910_001, 910_002, 910_003]
    async with operator(window) as client, followed(window, "/explore?q=ak&weapon=AK-47&sort=price_asc") as page:
        first = await page.locator(CARDS).first.inner_text()
        total = await window.total(query="ak", filters={"weapon": ["AK-47"]})
        try:
            await upsert(
                client, *map(listing, numbers), listing(910_009, details={"weapon": "AWP"}, name="AWP | Asiimov")
            )
            notice = page.get_by_role("button", name="3 new listings")
            await expect(notice).to_be_visible()
            assert await page.locator(CARDS).first.inner_text() == first, "nothing moves by itself"
            await delete(client, numbers[0])
            await page.get_by_role("button", name="2 new listings").click()
            await expect(page.locator(f"{CARDS} .fresh")).to_have_count(2)
            await expect(page.locator(CARDS).first.get_by_role("link")).to_have_attribute("aria-label", NAME)
            await expect(page.locator(".total")).to_have_text(f"{total + 2:,} items")
            await expect(page.locator(".new-listings button")).to_have_count(0)
            await expect(page.locator("#results")).to_be_focused()
            links = await page.locator(f"{CARDS} a").evaluate_all("all => all.map(one => one.href)")
            assert len(set(links)) == len(links)
            await page.get_by_role("button", name="Remove Weapon: AK-47").click()
            await expect(page.locator(f"{CARDS} .fresh")).to_have_count(0)
        finally:
            await delete(client, *numbers, 910_009)
    assert window.complaints == []


async def test_in_the_view_by_name_it_is_counted(window: ShopWindow) -> None:
    async with operator(window) as client, followed(window, "/explore?q=uncommon&view=names") as page:
        try:
            await upsert(client, listing(910_021, name="Uncommon"))
            await page.get_by_role("button", name="1 new listing").click()
            await expect(page.locator(CARDS).filter(has_text="1 offer")).to_have_count(1)
        finally:
            await delete(client, 910_021)
    assert window.complaints == []


async def test_a_hidden_tab_asks_nothing_and_catches_up(window: ShopWindow) -> None:
    path = "/explore?q=ak"
    async with operator(window) as client, followed(window, path) as page, followed(window, path) as visible:
        await page.evaluate(HIDE, True)
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url) if FEED in request.url else None)
        try:
            for number, notice in ((910_011, "1 new listing"), (910_012, "2 new listings")):
                await upsert(client, listing(number))
                await expect(visible.get_by_role("button", name=notice)).to_be_visible()
            assert requests == [], "a tab that is not hidden has asked twice meanwhile"
            await page.evaluate(HIDE, False)
            await expect(page.get_by_role("button", name="2 new listings")).to_be_visible()
        finally:
            await delete(client, 910_011, 910_012)
    assert window.complaints == []


@pytest.mark.parametrize(
    ("status", "code", "goes_on"),
    [(503, "search_unavailable", True), (410, "bookmark_expired", True), (403, "forbidden", False)],
)
async def test_without_the_feed_the_page_works_quietly(
    window: ShopWindow, status: int, code: str, goes_on: bool
) -> None:
    requests: list[str] = []
    is_paused = asyncio.Event()

    async with window.opened("/llms.txt") as page:
        error = {"status": "error", "error": {"code": code, "message": code, "details": None, "requestId": "0"}}

        async def refuse(route: Any) -> None:
            requests.append(route.request.url)
            await is_paused.wait()
            await route.fulfill(status=status, json=error)

        await page.route(f"**{FEED}", refuse)
        await page.clock.install()
        await page.goto(f"{window.base}/explore?q=ak")
        await expect(page.locator(CARDS).first).to_be_visible()
        await until(lambda: len(requests) == 1)
        await page.clock.pause_at(await page.evaluate("Date.now() / 1000 + 1"))
        async with page.expect_response(f"**{FEED}"):
            is_paused.set()
        await page.clock.run_for(RETRY_SECONDS * 1000 - 1)
        await page.evaluate(ASK)
        assert len(requests) == 1, "it waits before it asks again"
        await page.clock.run_for(1000 if goes_on else 600_000)
        await page.evaluate(ASK)
        assert len(requests) == (2 if goes_on else 1)
        await expect(page.get_by_role("alert")).to_have_count(0)
        await expect(page.locator(".new-listings button")).to_have_count(0)
    assert [text for text in window.complaints if not re.search(str(status), text)] == []
