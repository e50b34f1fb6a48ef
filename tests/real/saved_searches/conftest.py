"""An app over a loaded catalogue, which calls back over http, and whose items change beside it."""

from collections.abc import AsyncIterator

import pytest

from api.settings import Settings
from tests.support.app import RunningApp, running


@pytest.fixture
async def app(feed_settings: Settings) -> AsyncIterator[RunningApp]:
    """The app, started."""
    async with running(feed_settings) as app:
        yield app
