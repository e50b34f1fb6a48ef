"""`/explore/operations` in a real browser: a token, the state, a missing word added and taken away, for everybody."""

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from playwright.async_api import Page, expect

from api.explore.page import assets
from indexer.engine.hidden_index import now_text
from indexer.locking.owner import Owner
from indexer.locking.record import LockRecord, LockRecords
from mappings.connection import SearchSettings, connect
from tests.support.api.waiting import until
from tests.support.app import new_token
from tests.support.browser.window import DESKTOP, NARROW, PHONE, ShopWindow, expect_accessible, expect_fit
from tests.support.indexer.fixtures import Place
from tests.support.indexer.follower import FollowerProcess

PAGE: Final = "/explore/operations"
MAX_BYTES: Final = 60_000
LANGUAGES: Final = sorted(
    path.removeprefix("operations/languages/").removesuffix(".json")
    for path in assets().by_path
    if path.startswith("operations/languages/")
)


@asynccontextmanager
async def operating(window: ShopWindow, **options: Any) -> AsyncIterator[Page]:
    """The page after an operator has entered a token, by keyboard alone."""
    token = await new_token(window.database_url, "operate", "catalogue", "search")
    async with window.opened(PAGE, **options) as page:
        await page.locator("input[type=password]").focus()
        await page.keyboard.type(token)
        await page.keyboard.press("Enter")
        await expect(page.locator("#state")).to_be_visible()
        yield page


async def searched_in_vain(window: ShopWindow, text: str) -> None:
    """A buyer searches, and the count is in the store."""
    assert await window.total(query=text) == 0
    token = await new_token(window.database_url, "catalogue")
    async with httpx.AsyncClient(base_url=window.base, headers={"Authorization": f"Bearer {token}"}) as client:

        async def counted() -> bool:
            response = await client.get("/v1/searches/unanswered", params={"limit": 1000}, timeout=60)
            return text in [each["text"] for each in response.json()["searches"]]

        await until(counted, seconds=60)


async def test_a_missing_word_is_seen_tried_added_and_removed(window: ShopWindow) -> None:
    text = "zweihornkarambit"
    await searched_in_vain(window, text)
    async with operating(window) as page:
        await page.get_by_role("button", name=f"Add a word {text}").click()
        await expect(page.get_by_label("What buyers write")).to_have_value(text)
        await expect(page.get_by_label("The words of names")).to_be_focused()
        await page.keyboard.type("karambit")
        await page.get_by_role("button", name="Try it").click()
        await expect(page.get_by_role("heading", name="As it is: 0")).to_be_visible()
        await expect(page.get_by_role("heading", name=re.compile(r"With it: [1-9]"))).to_be_visible()
        await page.get_by_role("button", name="Add it").click()
        row = page.get_by_role("row", name=re.compile(f"term {text} karambit test"))
        await expect(row).to_be_visible()
        await expect_accessible(page)
        await row.get_by_role("button", name=f"Remove {text}").click()
        await expect(row).to_have_count(0)
    assert window.complaints == []


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=["desktop", "phone"])
async def test_axe_finds_nothing(window: ShopWindow, theme: str, device: dict[str, Any]) -> None:
    async with window.opened(PAGE, color_scheme=theme, **device) as page:
        await expect(page.locator("input[type=password]")).to_be_visible()
        await expect_accessible(page)
    async with operating(window, color_scheme=theme, **device) as page:
        await expect(page.get_by_role("cell", name="serves")).to_be_visible()
        await expect_accessible(page)
        width = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert width == 0, "a table scrolls by itself"
    assert window.complaints == []


@contextmanager
def following(window: ShopWindow, folder: Path) -> Iterator[FollowerProcess]:
    """A real follower of the window's items; its rejects are in the folder."""
    variables = {
        "GEAR_OPENSEARCH_URL": window.engine_url,
        "GEAR_INDEX_PREFIX": window.prefix,
        "GEAR_DATABASE_URL": window.database_url.replace("+aiosqlite", ""),
    }
    settings = SearchSettings(opensearch_url=window.engine_url, index_prefix=window.prefix)
    client = connect(settings)
    follower = None
    try:
        alias = settings.alias(730)
        records, now = LockRecords(client, alias), now_text()
        owner = Owner(id="e15e", host="elsewhere", pid=7, machine="another", started="1")
        # a load would have made the place of the records
        lock = LockRecord(owner=owner, command="load", index=None, since=now, heartbeat=now, expiry=60)
        records.remove(records.create(lock))
        follower = FollowerProcess(Place(client, alias, folder, {**os.environ, **variables}), "-")
        yield follower
    finally:
        if follower is not None:
            follower.process.kill()
            follower.end()
        client.close()


async def test_a_followers_lag_and_rejects_by_reason_are_shown(window: ShopWindow, tmp_path: Path) -> None:
    with following(window, tmp_path) as follower:
        good = {"id": 920_001, "name": "AK-47 | Redline", "price": 1}
        follower.write(good, b"poison", b"poison", {"id": 920_002}, {**good, "price": -1})
        await asyncio.to_thread(follower.wait_read, 5)
        async with operating(window) as page:
            loads = page.get_by_role("table", name="Loads and followers: cs2")
            row = loads.get_by_role("row").filter(has_text="follow")
            await expect(row.get_by_role("cell")).to_have_text(
                ["follow", re.compile("^stdin"), re.compile("runs$"), "5", "4", "0", re.compile(r"^\d+ s$")]
            )
            reasons = page.get_by_role("table", name="Rejected, by reason: cs2").get_by_role("row")
            await expect(reasons.filter(has_text="name: ").get_by_role("cell").nth(1)).to_have_text("1")
            await expect(reasons.filter(has_text="price: ").get_by_role("cell").nth(1)).to_have_text("1")
            await expect(reasons.filter(has_text="JSON").get_by_role("cell").nth(1)).to_have_text("2")
            await expect_accessible(page)
            await page.clock.install()
            await page.clock.set_fixed_time(datetime.now(UTC) + timedelta(minutes=5))
            follower.process.kill()
            await expect(row).to_contain_text("silent")
            await expect_accessible(page)
    assert window.complaints == []


@pytest.mark.parametrize("code", LANGUAGES)
async def test_every_language_fits_a_phone(window: ShopWindow, code: str) -> None:
    words = json.loads(assets().by_path[f"operations/languages/{code}.json"].content)
    phone = {**PHONE, "viewport": {"width": NARROW, "height": 700}}
    async with operating(window, locale=code, **phone) as page:
        await expect(page.locator("html")).to_have_attribute("lang", code)
        assert await page.title() == words["title"]
        await expect(page.get_by_role("heading", name=words["unanswered"])).to_be_visible()
        await expect_fit(page, NARROW)
    assert window.complaints == []


async def test_it_speaks_german_and_a_reload_keeps_the_token(window: ShopWindow) -> None:
    async with operating(window) as page:
        await page.get_by_label("Language").select_option("de")
        await expect(page.get_by_role("heading", name="Vergeblich gesucht")).to_be_visible()
        await page.reload()
        await expect(page.get_by_role("heading", name="Zustand")).to_be_visible()
        await page.get_by_role("button", name="Token vergessen").click()
        await expect(page.locator("input[type=password]")).to_be_visible()
        await page.reload()
        await expect(page.locator("input[type=password]")).to_be_visible()


async def test_a_token_without_the_scope_is_refused_with_the_reason(window: ShopWindow) -> None:
    token = await new_token(window.database_url, "search")
    async with window.opened(PAGE) as page:
        await page.locator("input[type=password]").fill(token)
        await page.get_by_role("button", name="Use it").click()
        await expect(page.get_by_role("alert")).to_contain_text("does not have the scope")
        await expect(page.locator("input[type=password]")).to_be_visible()


async def test_without_the_engine_it_says_what_is_missing_and_recovers(window: ShopWindow) -> None:
    async with operating(window) as page:
        window.proxy.refuse()
        await expect(page.locator(".fact.bad", has_text="Engine")).to_contain_text("does not answer")
        window.proxy.restore()
        await expect(page.locator(".fact", has_text="Engine")).to_contain_text("nodes")


def test_the_page_is_small_and_has_all_its_words() -> None:
    files = assets().by_path
    languages = [asset for path, asset in files.items() if path.startswith("operations/languages/")]
    own = [asset for path, asset in files.items() if path.startswith("operations/") and asset not in languages]
    shared = [files[name] for name in ("ui.js", "api.js", "words.js", "messages.js", "theme.css", "page.css")]
    vendor = [asset for path, asset in files.items() if path.startswith("vendor/") and path.endswith(".js")]
    largest = max(len(asset.compressed) for asset in languages)
    assert sum(len(asset.compressed) for asset in (*own, *shared, *vendor)) + largest < MAX_BYTES
    used_words = set(re.findall(r'tell\("(\w+)"', files["operations/operations.js"].content.decode()))
    assert used_words <= set(re.findall(r'(\w+): "', files["operations/words.js"].content.decode()))
