"""One server and its page for all tests of a worker."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser

from tests.support.browser.window import ShopWindow, shop_window


@pytest.fixture(scope="session")
async def shop_window_of_all(
    chromium: Browser, opensearch_url: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[ShopWindow]:
    """The server, once."""
    async with shop_window(chromium, opensearch_url, tmp_path_factory.mktemp("explore")) as window:
        yield window


@pytest.fixture
def window(shop_window_of_all: ShopWindow) -> ShopWindow:
    """The served page, of which no browser has complained yet."""
    shop_window_of_all.complaints.clear()
    return shop_window_of_all
