"""The page in each language: chosen by the browser or by hand, and fitting a phone."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import expect

from tests.support.browser.window import NARROW, PHONE, ShopWindow, expect_fit

LANGUAGES: Final = Path(str(files("api.explore") / "static" / "languages"))
CODES: Final = sorted(file.stem for file in LANGUAGES.glob("*.json"))
CARDS: Final = "#results .grid .card:not(.skeleton-card)"


def words_of(code: str) -> dict[str, Any]:
    """The page's own words in a language."""
    words: dict[str, Any] = json.loads((LANGUAGES / f"{code}.json").read_text(encoding="utf-8"))
    return words


@pytest.mark.parametrize("code", CODES)
async def test_every_language_fits_a_phone(window: ShopWindow, code: str) -> None:
    words = words_of(code)
    phone = {**PHONE, "viewport": {"width": NARROW, "height": 700}}
    requested: list[str] = []
    async with window.opened("/explore?q=ak+ft+-redline", pictures=False, locale=code, **phone) as page:
        await expect(page.locator(CARDS).first).to_be_visible()
        await expect(page.locator("html")).to_have_attribute("lang", code)
        assert await page.title() == f"ak ft -redline · {words['title']}"
        await expect(page.get_by_label(words["searchLabel"])).to_be_visible()
        await expect_fit(page, NARROW)
        await page.get_by_role("button", name=words["filters"]).click()
        await expect(page.get_by_role("dialog", name=words["filters"])).to_be_visible()
        await expect_fit(page, NARROW)
        await page.keyboard.press("Escape")
        page.on("request", lambda request: requested.append(request.url) if "/languages/" in request.url else None)
        await page.locator(CARDS).first.get_by_role("link").click()
        await expect(page.get_by_role("heading", name=words["facts"], exact=True)).to_be_visible()
        await expect_fit(page, NARROW)
        await page.get_by_label(words["orderHow"]).select_option("10")
        await page.get_by_role("button", name=words["orderPlace"]).click()
        await expect(page.locator("#order h1")).to_have_text(words["state_completed"])
        await expect_fit(page, NARROW)
        await page.get_by_role("button", name=words["request"]).first.click()
        await expect(page.get_by_role("dialog", name=words["requestTitle"])).to_be_visible()
        await expect_fit(page, NARROW)
        shown = await page.locator("body").inner_text()
        assert [key for key in words if f"\n{key}\n" in shown and "_" in key] == [], "a word without its text"
        assert requested == [], "one file of words a visit"
    assert window.complaints == []


OF_BROWSERS: Final = {
    **{"zh-TW": "zh-Hant", "zh-HK": "zh-Hant", "zh-CN": "zh-Hans", "zh": "zh-Hans"},
    **{"pt-PT": "pt-BR", "de-AT": "de", "fi-FI": "en", "en-GB": "en"},
}


@pytest.mark.parametrize(("locale", "code"), OF_BROWSERS.items(), ids=str)
async def test_the_browsers_language_is_spoken(window: ShopWindow, locale: str, code: str) -> None:
    async with window.opened(locale=locale) as page:
        await expect(page.locator("html")).to_have_attribute("lang", code)
        await expect(page.locator(".language select")).to_have_value(code)
    assert window.complaints == []


async def test_a_chosen_language_stays_on_the_operators_page_too(window: ShopWindow) -> None:
    async with window.opened() as page:
        await page.get_by_label("Language").select_option("uk")
        await expect(page.locator("html")).to_have_attribute("lang", "uk")
        await page.reload()
        await expect(page.get_by_label(words_of("uk")["searchLabel"])).to_be_visible()
        await page.goto(f"{window.base}/explore/operations")
        await expect(page.locator("html")).to_have_attribute("lang", "uk")
        await expect(page.locator(".language option")).to_have_count(1 + len(CODES))
    assert window.complaints == []
