"""Several searches in one round trip."""

from typing import Any

import pytest

from api.engine.client import Engine
from api.errors import ApiError
from mappings.platforms import Platform

LOADED, ALSO_LOADED, NEVER_LOADED = (
    Platform(id=number, slug=f"p{number}", name="p", currency="USD", minor_digits=2) for number in (1, 2, 3)
)
EVERYTHING: dict[str, Any] = {"track_total_hits": True, "sort": ["id"]}
SECOND: dict[str, Any] = {"track_total_hits": True, "sort": ["id"], "query": {"term": {"id": 2}}}


async def unavailable(engine: Engine, platforms: list[Platform], bodies: list[dict[str, Any]]) -> str:
    """The message of the error that all of these searches end in."""
    with pytest.raises(ApiError) as refused:
        await engine.search_all(platforms, bodies)
    assert refused.value.code == "search_unavailable"
    return refused.value.message
