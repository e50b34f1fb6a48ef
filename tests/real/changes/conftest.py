"""An app over a loaded catalogue, whose items change beside it."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from api.changes.recorder import INTERVALS
from api.settings import Settings
from tests.support.app import RunningApp, running


@pytest.fixture
async def app(feed_settings: Settings, request: pytest.FixtureRequest) -> AsyncIterator[RunningApp]:
    """The app, started, whose recorder ticks soon; its parameter is the recorder's other intervals."""
    intervals = replace(getattr(request, "param", INTERVALS), tick_seconds=0.1)
    async with running(feed_settings, intervals=intervals) as app:
        yield app
