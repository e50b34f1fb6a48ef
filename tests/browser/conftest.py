"""A real Chromium for tests of pages; where there is none the tests are skipped and say how to get one."""

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOW = (
    "there is no Chromium: install the system's package chromium, or run `python -m playwright install chromium`. "
    "GEAR_TEST_BROWSER=required fails here in the place of skipping"
)


def chromium_of(own: str) -> str | None:
    """The system's Chromium, else this one of playwright's if it has been installed."""
    system = next((path for name in NAMES if (path := shutil.which(name))), None)
    return system or (own if Path(own).exists() else None)


@pytest.fixture(scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """The system's Chromium, else playwright's own, without a window."""
    async with async_playwright() as playwright:
        executable = chromium_of(playwright.chromium.executable_path)
        if executable is None:
            if os.environ.get("GEAR_TEST_BROWSER") == "required":
                pytest.fail(HOW, pytrace=False)
            pytest.skip(HOW)
        # as root Chromium has no sandbox of its own; it only meets our pages here
        browser = await playwright.chromium.launch(
            executable_path=executable, args=["--no-sandbox"] if os.getuid() == 0 else []
        )
        try:
            yield browser
        finally:
            await browser.close()
