"""What tests of the search's faults share."""

import asyncio

import pytest
import uvloop

from tests.support.faults.engine_client import Run


@pytest.fixture(params=[asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    """Runs a case on an event loop of its own."""
    loop: Run = request.param
    return loop
