"""How `/explore` looks and works for everybody: axe, phone to wide, dark and light, faults, a slow wire."""

import re
import secrets
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import Route, expect

from tests.support.browser.window import DESKTOP, HOSTILE_ID, PHONE, ShopWindow, expect_accessible

ROOT: Final = Path(__file__).parents[3]
CARDS: Final = "#results .grid .card:not(.skeleton-card)"
MAX_SHIFT: Final = 0.05
SHIFT: Final = """() => new Promise(resolve => new PerformanceObserver(list =>
    resolve(list.getEntries().filter(one => !one.hadRecentInput).reduce((sum, one) => sum + one.value, 0))
).observe({type: "layout-shift", buffered: true}) || setTimeout(() => resolve(0), 300))"""


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=["desktop", "phone"])
async def test_axe_finds_nothing(window: ShopWindow, theme: str, device: dict[str, Any]) -> None:
    async with window.opened("/explore?q=ak+redlime", pictures=False, color_scheme=theme, **device) as page:
        await expect(page.locator(CARDS).first).to_be_visible()
        await expect(page.locator(".notice")).to_be_visible()  # read more loosely
        await expect_accessible(page)
        await page.get_by_role("combobox", name="Search the catalogue").fill("kara")
        await expect(page.locator("#suggestions")).to_be_visible()
        await expect_accessible(page)
        await page.keyboard.press("Escape")
        filters = page.get_by_role("button", name=re.compile("^Filters"))
        if await filters.is_visible():
            await filters.click()
            await expect(page.get_by_role("dialog")).to_be_visible()
            await expect_accessible(page)
            await page.get_by_role("button", name=re.compile("^Show results")).click()
        await page.get_by_role("button", name="Show the request").first.click()
        await expect(page.locator("#code pre")).to_contain_text("curl")
        await expect_accessible(page)
        await page.keyboard.press("Escape")
        await page.locator(CARDS).first.get_by_role("link").click()
        await expect(page.get_by_role("heading", name="Facts")).to_be_visible()
        await expect_accessible(page)
        await page.get_by_role("button", name="Place the sandbox order").click()
        await expect(page.locator(".steps")).to_be_visible()
        await expect_accessible(page)
        await page.goto(f"{window.base}/explore?q=ak&price=900000-")
        await expect(page.get_by_text("Nothing found")).to_be_visible()
        await expect_accessible(page)
    assert window.complaints == []


@pytest.mark.parametrize("width", [320, 390, 768, 1024, 1920])
async def test_the_page_fits_every_width_without_shifts(window: ShopWindow, width: int) -> None:
    screen = {"viewport": {"width": width, "height": 800}, "is_mobile": width < 800}
    async with window.opened("/explore?q=ak", pictures=False, **screen) as page:
        await expect(page.locator(CARDS).first).to_be_visible()
        assert await page.evaluate(SHIFT) <= MAX_SHIFT
        for path in ("", f"/explore?item={HOSTILE_ID}"):
            if path:
                await page.goto(window.base + path)
                await expect(page.locator("#item h1")).to_be_visible()
            assert await page.evaluate("document.documentElement.scrollWidth") <= width
            assert await page.evaluate("window.innerWidth") == width
    assert window.complaints == []


async def test_a_missing_engine_is_reported_and_recovered_from(window: ShopWindow) -> None:
    async with window.opened() as page:
        await expect(page.locator(CARDS).first).to_be_visible()
        window.proxy.refuse()
        try:
            word = f"ak {secrets.token_hex(3)}"  # nobody has asked for it
            await page.get_by_role("combobox", name="Search the catalogue").fill(word)
            alert = page.get_by_role("alert")
            await expect(alert).to_contain_text("The search engine is not there at the moment")
            await expect(alert.locator("code")).to_have_text(re.compile("^[0-9a-f]{32}$"))
            await expect(page.locator(CARDS).first).to_be_visible()  # what was there before
            await expect_accessible(page)
        finally:
            window.proxy.restore()
        await expect(alert).to_have_count(0)
        total = await window.total(query=word)
        await expect(page.locator(".total")).to_have_text(re.compile(rf"^{total:,} items?$"))
    assert [text for text in window.complaints if "503" not in text] == []


async def test_a_slow_wire_shows_skeletons_and_the_last_text_wins(window: ShopWindow) -> None:
    window.proxy.delay = 0.4
    try:
        async with window.opened("/explore?q=ak+47") as page:
            await expect(page.locator(".skeleton-card").first).to_be_visible()
            await expect(page.locator("#results .grid")).to_have_attribute("aria-busy", "true")
            await expect(page.locator(CARDS).first).to_be_visible()
            box = page.get_by_role("combobox", name="Search the catalogue")
            async with page.expect_request(lambda request: "karambit" in (request.post_data or "")):
                await box.fill("karambit")
            await box.fill("ak-47 redline")
            total = await window.total(query="ak-47 redline")
            await expect(page.locator(".total")).to_have_text(re.compile(rf"^{total} items?$"))
            assert await page.evaluate(SHIFT) <= MAX_SHIFT
    finally:
        window.proxy.delay = 0.0
    assert window.complaints == []


async def test_without_a_key_the_page_asks_for_a_token_and_forgets_it(window: ShopWindow) -> None:
    async with window.opened() as page:
        page_of = await page.content()
    assert window.token in page_of
    async with window.opened() as page:
        key = re.compile(r'"key": "[^"]+"')

        async def without_key(route: Route) -> None:
            response = await route.fetch()
            await route.fulfill(response=response, body=key.sub('"key": null', await response.text()))

        await page.route(f"{window.base}/explore", without_key)
        await page.reload()
        await page.get_by_label("Token").fill(window.token)
        await expect_accessible(page)
        await page.get_by_role("button", name="Use it").click()
        await expect(page.locator(CARDS).first).to_be_visible()
        await page.get_by_role("button", name="Show the request").click()
        await expect(page.locator("#code")).to_contain_text("$GEAR_TOKEN")
        assert window.token not in await page.locator("#code").inner_text()
        await page.reload()
        await expect(page.get_by_label("Token")).to_be_visible()
    assert window.complaints == []


@pytest.mark.parametrize(
    ("name", "path", "device", "theme"),
    [
        ("explore-desktop", "/explore?q=ak+ft+under+500", DESKTOP, "dark"),
        ("explore-phone", "/explore?q=karambit&view=names", PHONE, "light"),
    ],
)
async def test_screenshots(
    window: ShopWindow, pytestconfig: pytest.Config, name: str, path: str, device: dict[str, Any], theme: str
) -> None:
    """They are in `var/screenshots`; `--update-golden` puts them into the README."""
    async with window.opened(path, pictures=False, color_scheme=theme, **device) as page:
        await expect(page.locator(CARDS).first).to_be_visible()
        await expect(page.locator(".plot:not(.waiting)")).to_have_count(2)
        folder = ROOT / ("docs/images" if pytestconfig.getoption("--update-golden") else "var/screenshots")
        folder.mkdir(parents=True, exist_ok=True)
        picture = folder / f"{name}.png"
        await page.screenshot(path=picture)
        assert picture.stat().st_size > 20_000
