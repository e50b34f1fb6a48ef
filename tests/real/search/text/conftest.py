"""A shop of a few items whose operator changes the vocabulary."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.api.operators import Shop, operated_shop


@pytest.fixture
async def shop(opensearch_url: str, tmp_path: Path) -> AsyncIterator[Shop]:
    """Every test has one of its own."""
    async with operated_shop(opensearch_url, tmp_path) as started:
        yield started
