"""`GET /v1/operations` without an engine: what it asks at the same time ends together."""

import asyncio
from typing import Any

import orjson
import pytest

from api.engine import state
from api.engine.client import Engine
from api.errors import ApiError
from api.operations.routes import OperationsServices, get_operations
from api.readiness import ReadinessState
from tests.support.platforms import shared_platforms


class Calm:
    """An engine that is well and serves nothing, and readers that find nothing."""

    async def generations(self, _: Any) -> dict[int, Any]:
        return {}

    async def read(self) -> None:
        """There are no backlogs."""

    async def check(self) -> ReadinessState:
        return ReadinessState(None, None)


async def test_where_one_question_fails_the_others_have_ended_before_the_response(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = list[str]()

    async def well(_: Engine) -> dict[str, Any]:
        return {"status": "green"}

    async def slow(*_: Any) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("slow")

    async def failing(*_: Any) -> None:
        await asyncio.sleep(0.01)
        raise ApiError("search_unavailable")

    for name, scripted in {"health": well, "generations": failing, "work": slow, "progress_records": slow}.items():
        monkeypatch.setattr(state, name, scripted)
    calm: Any = Calm()
    services = OperationsServices(calm, shared_platforms(), calm, calm)
    response = orjson.loads((await get_operations(None, None, services)).body)  # type: ignore[arg-type]  # of nobody
    assert (response["search"], response["engine"], response["platforms"]) == (True, None, None)
    assert ended == ["slow", "slow"]
