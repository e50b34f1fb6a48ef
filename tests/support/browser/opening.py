"""Serves the app for tests of pages, and opens an address in a real browser."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from playwright.async_api import Browser, Page, expect

from api.settings import Settings
from tests.support.app import serving

PICTURE = "https://images.example.com/redline.svg"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="480"><rect width="640" height="480"/></svg>'
TIMEOUT_MILLISECONDS = 30_000  # the machine may be busy
expect.set_options(timeout=TIMEOUT_MILLISECONDS)


@asynccontextmanager
async def served(settings: Settings) -> AsyncIterator[str]:
    """The address of a real server with these settings."""
    server = serving(settings)
    client: httpx.Client = await asyncio.to_thread(server.__enter__)
    try:
        yield str(client.base_url).rstrip("/")
    finally:
        await asyncio.to_thread(server.__exit__, None, None, None)


@asynccontextmanager
async def opened(browser: Browser, url: str, complaints: list[str], **options: Any) -> AsyncIterator[Page]:
    """The page in a new profile; what the browser complains of is collected."""
    context = await browser.new_context(**options)
    context.set_default_timeout(TIMEOUT_MILLISECONDS)
    await context.route(PICTURE, lambda route: route.fulfill(content_type="image/svg+xml", body=SVG))
    page = await context.new_page()
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        await page.goto(url)
        yield page
    finally:
        await context.close()
