"""An app over a loaded catalogue, whose items change beside it."""

from collections.abc import AsyncIterator

import pytest

from api.changes.recorder import Intervals
from api.settings import Settings
from tests.support.app import RunningApp, running


@pytest.fixture
async def app(feed_settings: Settings, request: pytest.FixtureRequest) -> AsyncIterator[RunningApp]:
    """The app, started; its parameter is the recorder's intervals."""
    async with running(feed_settings, intervals=getattr(request, "param", Intervals())) as app:
        yield app
