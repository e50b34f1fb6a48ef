"""The page with forms in a real browser: all of it comes from the service, and what is tried there is answered."""

import asyncio
from pathlib import Path

from playwright.async_api import Browser, expect

from store import migrate
from tests.app import serving, settings_for

PATIENCE = 30_000  # milliseconds; the machine may be busy


async def test_the_forms_need_nothing_but_the_service(chromium: Browser, tmp_path: Path) -> None:
    settings = settings_for("http://127.0.0.1:1", "none", tmp_path)
    await migrate.upgrade(settings.database_url)
    server = serving(settings)
    client = await asyncio.to_thread(server.__enter__)
    try:
        base = str(client.base_url).rstrip("/")
        page = await chromium.new_page()
        complaints: list[str] = []
        asked: list[str] = []
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        await page.goto(f"{base}/docs")
        live = page.locator("#operations-health-live_health_live_get")
        await live.get_by_role("button").first.click(timeout=PATIENCE)
        await live.get_by_role("button", name="Try it out").click(timeout=PATIENCE)
        await live.get_by_role("button", name="Execute").click(timeout=PATIENCE)
        await expect(live.locator(".live-responses-table")).to_contain_text('"status"', timeout=PATIENCE)
        await page.close()
    finally:
        await asyncio.to_thread(server.__exit__, None, None, None)
    assert complaints == []
    assert [url for url in asked if not url.startswith((base, "data:"))] == []
    assert f"{base}/docs/swagger-ui-bundle.js" in asked
