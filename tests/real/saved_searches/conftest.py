"""An app over a loaded catalogue, which calls back over http, and whose items change beside it."""

from collections.abc import AsyncIterator

import pytest

from api.changes.recorder import Intervals
from api.saved_searches.matcher import MATCHER_LIMITS, MatcherLimits
from api.settings import Settings
from tests.support.app import RunningApp, running


@pytest.fixture
async def app(feed_settings: Settings, request: pytest.FixtureRequest) -> AsyncIterator[RunningApp]:
    """The app, started, whose recorder ticks soon; its parameter is the matcher's limits."""
    limits: MatcherLimits = getattr(request, "param", MATCHER_LIMITS)
    async with running(feed_settings, intervals=Intervals(tick_seconds=0.1), matcher_limits=limits) as app:
        yield app
