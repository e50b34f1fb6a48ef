"""The order's page in a real browser: it follows the order by itself, on a phone and without scripts too."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, expect

from api.orders.page import words
from store.orders import orders
from store.records import Order
from tests.support.app import settings_for
from tests.support.browser.opening import PICTURE, opened, served
from tests.support.orders.desk import Desk, desk_at, order_with_callback
from tests.support.services.receiver import Receiver, responses
from tests.support.store.migrated import migrated


class Shown:
    """A served order and where a browser finds its page."""

    def __init__(self, desk: Desk, order: Order, address: str) -> None:
        self.desk = desk
        self.order = order
        self.url = f"{address}/orders/{order.status_key}"

    async def move(self, *states: str) -> None:
        """Takes the order on."""
        self.order = await self.desk.move(self.order, *states)


@asynccontextmanager
async def shown(folder: Path, **fields: Any) -> AsyncIterator[Shown]:
    """An order with these fields behind a real server, which needs no engine to show it."""
    settings = settings_for("http://127.0.0.1:1", "none", folder)
    await migrated(settings.database_url)
    async with desk_at(settings.database_url) as desk:
        new = replace(order_with_callback(desk.token.token.id, None), **fields)
        async with desk.store.transaction() as connection:
            order = await orders.place(connection, new, datetime.now(UTC))
        async with served(settings) as address:
            yield Shown(desk, order, address)


async def test_an_open_page_follows_the_order_without_being_loaded_again(chromium: Browser, tmp_path: Path) -> None:
    complaints: list[str] = []
    async with shown(tmp_path, item_image=PICTURE) as order, opened(chromium, order.url, complaints) as page:
        await expect(page.locator("h1")).to_have_text("Order received")
        await expect(page.locator("h2")).to_have_text("AK-47 | Redline (Field-Tested)")
        await expect(page.get_by_text("22.47 USD")).to_be_visible()
        assert await page.evaluate("document.querySelector('img').naturalWidth") == 640
        await page.evaluate("window.before = true")
        for state, headline in (("processing", "In progress"), ("delivered", "Delivered"), ("completed", "Completed")):
            await order.move(state)
            await expect(page.locator("h1")).to_have_text(headline)
        assert await page.title() == "Completed: AK-47 | Redline (Field-Tested)"
        assert await page.evaluate("window.before") is True
    assert complaints == []


@pytest.mark.parametrize(
    ("states", "end"), [(("processing", "delivered", "completed"), "thanks"), (("failed",), "sorry")]
)
@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
async def test_an_open_page_goes_on_to_the_shop_at_the_end(
    chromium: Browser, tmp_path: Path, states: tuple[str, ...], end: str, scripts: bool
) -> None:
    with Receiver(responses(200, "Content-Type: text/html", body=b"<h1>The shop</h1>")) as shop:
        there = f"http://127.0.0.1:{shop.port}"
        async with (
            shown(tmp_path, success_url=f"{there}/thanks?order=1", failure_url=f"{there}/sorry?order=1") as order,
            opened(chromium, order.url, [], java_script_enabled=scripts) as page,
        ):
            await expect(page.locator("h1")).to_have_text("Order received")
            await order.move(*states)
            await page.wait_for_url(f"{there}/{end}?order=1")
        visit = next(request for request in shop.received if request.target == f"/{end}?order=1")
        assert "referer" not in visit.headers, "the page's address is a secret"


async def test_without_scripts_the_page_renews_itself(chromium: Browser, tmp_path: Path) -> None:
    async with (
        shown(tmp_path) as order,
        opened(chromium, order.url, [], java_script_enabled=False) as page,
    ):
        await order.move("processing")
        await expect(page.locator("h1")).to_have_text("In progress")


async def test_a_page_that_lost_its_connection_follows_again(chromium: Browser, tmp_path: Path) -> None:
    async with shown(tmp_path) as order, opened(chromium, order.url, []) as page:
        async with page.expect_event("requestfailed"):
            await page.context.set_offline(True)
        await order.move("processing")
        await expect(page.locator("h1")).to_have_text("Order received")
        await page.context.set_offline(False)
        await expect(page.locator("h1")).to_have_text("In progress")


@pytest.mark.parametrize("width", [320, 390, 1280])
async def test_the_page_fits_a_phone(chromium: Browser, tmp_path: Path, width: int) -> None:
    long_name = "★ " + "Souvenir" * 20 + " | Case Hardened (Battle-Scarred)"
    screen = {"viewport": {"width": width, "height": 640}, "is_mobile": width < 1000}
    async with (
        shown(tmp_path, item_name=long_name, item_image=PICTURE) as order,
        opened(chromium, order.url, [], **screen) as page,
    ):
        await expect(page.locator("img")).to_be_visible()
        assert await page.evaluate("document.documentElement.scrollWidth") <= width
        assert await page.evaluate("window.innerWidth") == width


@pytest.mark.parametrize("code", words())
async def test_every_language_fits_a_phone(chromium: Browser, tmp_path: Path, code: str) -> None:
    complaints: list[str] = []
    phone = {"viewport": {"width": 320, "height": 640}, "is_mobile": True, "locale": code}
    async with shown(tmp_path) as order, opened(chromium, order.url, complaints, **phone) as page:
        await order.move("failed")
        await expect(page.locator("h1")).to_have_text(words()[code]["failed"])
        await expect(page.locator("html")).to_have_attribute("lang", code)
        await page.locator("summary").click()
        assert await page.evaluate("document.documentElement.scrollWidth") <= 320
        results = await Axe().run(page)
        assert results.violations_count == 0, results.generate_report()
    assert complaints == []


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
async def test_a_chosen_language_stays(chromium: Browser, tmp_path: Path, scripts: bool) -> None:
    async with shown(tmp_path) as order, opened(chromium, order.url, [], java_script_enabled=scripts) as page:
        await page.get_by_text("English").first.focus()
        await page.keyboard.press("Enter")
        await page.get_by_role("link", name="Deutsch").click()
        await expect(page.locator("h1")).to_have_text("Bestellung eingegangen")
        await order.move("processing")
        await expect(page.locator("h1")).to_have_text("In Arbeit")


async def test_nothing_foreign_runs_in_the_page(chromium: Browser, tmp_path: Path) -> None:
    complaints: list[str] = []
    evil = "<img src=x onerror='window.ran = 1'><script>window.ran = 1</script>"
    async with shown(tmp_path, item_name=evil) as order, opened(chromium, order.url, complaints) as page:
        await expect(page.locator("h2")).to_have_text(evil)
        assert complaints == []
        # as if a hole let markup in after all
        await page.evaluate(
            """() => {
                const script = document.createElement("script");
                script.textContent = "window.ran = 1";
                document.body.append(script);
                const image = "<img src='https://evil.example/x' onerror='window.ran = 1'>";
                document.body.insertAdjacentHTML("beforeend", image);
            }"""
        )
        assert await page.evaluate("window.ran === undefined")
        assert "Content Security Policy" in " ".join(complaints)
