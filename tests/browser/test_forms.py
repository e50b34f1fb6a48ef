"""The page with forms in a real browser: all of it comes from the service, and what is tried there is answered."""

from pathlib import Path

from playwright.async_api import Browser, expect

from tests.support.app import settings_for
from tests.support.browser.opening import opened, served
from tests.support.store.migrated import migrated


async def test_the_forms_need_nothing_but_the_service(chromium: Browser, tmp_path: Path) -> None:
    settings = settings_for("http://127.0.0.1:1", "none", tmp_path)
    await migrated(settings.database_url)
    complaints: list[str] = []
    requested: list[str] = []
    async with served(settings) as base, opened(chromium, "about:blank", complaints) as page:
        page.on("request", lambda request: requested.append(request.url))
        await page.goto(f"{base}/docs")
        live = page.locator("#operations-health-getLiveness")
        await live.get_by_role("button").first.click()
        await live.get_by_role("button", name="Try it out").click()
        await live.get_by_role("button", name="Execute").click()
        await expect(live.locator(".live-responses-table")).to_contain_text('"status"')
    assert complaints == []
    assert [url for url in requested if not url.startswith((base, "data:"))] == []
    assert f"{base}/docs/swagger-ui-bundle.js" in requested
