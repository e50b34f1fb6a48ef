"""A served `/explore` with its key, an engine that can be taken away, and pages of it in a real browser."""

import asyncio
import json
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page, Route

from indexer.sample.catalogue import read_catalogue
from indexer.sample.generator import Sampler
from mappings.platforms import read_platforms
from tests.support.api.catalogue import put_index
from tests.support.app import new_token, settings_for
from tests.support.browser.opening import SVG, TIMEOUT_MILLISECONDS, served
from tests.support.indices import drop_indices
from tests.support.services.wire import TcpProxy
from tests.support.store.migrated import migrated

CATALOGUE: Final = Path(__file__).parents[3] / "data" / "catalogue.ndjson.gz"
(CS2,) = read_platforms()
LISTINGS: Final = 900
PHONE: Final[dict[str, Any]] = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
DESKTOP: Final[dict[str, Any]] = {"viewport": {"width": 1440, "height": 900}}
NARROW: Final = 320
RULES: Final = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
# What reaches beyond the screen and does not scroll by itself.
WIDE: Final = """width => [...document.querySelectorAll("#app *")]
    .filter(one => one.offsetParent && !one.closest("pre, .row, .visually-hidden"))
    .filter(one => one.getBoundingClientRect().right > width + 1).slice(0, 3).map(one => one.outerHTML.slice(0, 120))"""
HOSTILE_ID: Final = 7
MARKUP: Final = "<img src=x onerror='window.ran = 1'><script>window.ran = 1</script>"
HOSTILE: Final[dict[str, Any]] = {
    "id": HOSTILE_ID,
    "name": f"Hostile | {MARKUP}",
    "price": 1.5,
    "image": 'https://images.example.com/"><script>window.ran = 1</script>',
    "inspectLink": "javascript:window.ran = 1",
    "description": f"</script>{MARKUP}",
    "details": {
        "type": MARKUP,
        "weapon": "__proto__",
        "rarity": "constructor",
        "set": "${alert(1)}",
        "color": "{{7*7}}",
    },
    "attachments": [{"id": 1, "name": MARKUP, "wear": 0.5, "type": "sticker", "image": "javascript:window.ran = 1"}],
    "listedAt": "2026-10-01T00:00:00Z",
}


def listings() -> list[dict[str, Any]]:
    """Listings of some well-known names and of a bit of everything; an item that is hostile in every field."""
    rows = read_catalogue(CATALOGUE)
    famous = [row for row in rows if row["weapon"] in ("AK-47", "Karambit")]
    lines = b"".join(Sampler([*famous, *rows[::60]], CS2, 1).batches(LISTINGS)).splitlines()
    return [HOSTILE, *(json.loads(line) for line in lines)]


@dataclass
class ShopWindow:
    """The served page. `complaints` has what browsers complained of since a test began."""

    base: str
    token: str
    proxy: TcpProxy
    browser: Browser
    database_url: str = ""
    engine_url: str = ""
    prefix: str = ""
    complaints: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def opened(self, path: str = "/explore", *, pictures: bool = True, **options: Any) -> AsyncIterator[Page]:
        """The page in a new profile; pictures of items come from here, or not at all."""
        context = await self.browser.new_context(**{"locale": "en-US", **DESKTOP, **options})
        context.set_default_timeout(TIMEOUT_MILLISECONDS)

        async def picture(route: Route) -> None:
            await (route.fulfill(content_type="image/svg+xml", body=SVG) if pictures else route.abort())

        await context.route(re.compile("^https://"), picture)
        page = await context.new_page()
        page.on("console", lambda message: self._complain(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self._complain(str(error)))
        try:
            await page.goto(self.base + path)
            yield page
        finally:
            await context.close()

    def _complain(self, text: str) -> None:
        if "net::ERR_FAILED" not in text:  # a picture that a test held back
            self.complaints.append(text)

    async def total(self, **body: Any) -> int:
        """How many items the API itself finds."""
        return int((await self.search(**body))["total"])

    async def search(self, **body: Any) -> dict[str, Any]:
        """The API's own answer to a search."""
        headers = {"Authorization": f"Bearer {self.token}"}
        async with httpx.AsyncClient(base_url=self.base, headers=headers, timeout=60) as client:
            response = await client.post("/v1/gear/search", json={"platform": 730, **body})
        response.raise_for_status()
        content: dict[str, Any] = response.json()
        return content


async def expect_accessible(page: Page) -> None:
    """Fails with what axe finds."""
    results = await Axe().run(page, options=RULES)
    assert results.violations_count == 0, results.generate_report()


async def expect_fit(page: Page, width: int) -> None:
    """Fails where something makes the page wider than the phone."""
    wide = await page.evaluate(WIDE, width)
    assert await page.evaluate("document.documentElement.scrollWidth") <= width, wide
    assert await page.evaluate("window.innerWidth") == width, wide


@asynccontextmanager
async def shop_window(browser: Browser, opensearch_url: str, folder: Path) -> AsyncIterator[ShopWindow]:
    """A server with listings, behind a wire that can be cut, and a page with a key for its own origin."""
    prefix = f"t{secrets.token_hex(5)}"
    direct = settings_for(opensearch_url, prefix, folder)
    await migrated(direct.database_url)
    await asyncio.to_thread(lambda: put_index(direct, CS2, listings()))
    try:
        with TcpProxy.before(opensearch_url) as proxy:
            settings = settings_for(proxy.url, prefix, folder, explore=True, allow_insecure_callbacks=True)
            async with served(settings) as base:
                settings.public_url = base
                settings.explore_token = await new_token(
                    settings.database_url, "search", "order", sandbox=True, origins=[base], rate_limit=100_000
                )
                yield ShopWindow(
                    base,
                    settings.explore_token,
                    proxy,
                    browser,
                    settings.database_url,
                    opensearch_url,
                    prefix,
                )
    finally:
        drop_indices(opensearch_url, prefix)
