"""An app over a loaded catalogue, which calls back over http, and whose items change beside it."""

from collections.abc import AsyncIterator

import pytest

from api.saved_searches.matcher import Limits
from api.settings import Settings
from tests.support.app import RunningApp, running


@pytest.fixture
async def app(feed_settings: Settings, request: pytest.FixtureRequest) -> AsyncIterator[RunningApp]:
    """The app, started; its parameter is the matcher's limits."""
    async with running(feed_settings, limits=getattr(request, "param", Limits())) as app:
        yield app
