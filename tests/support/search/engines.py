"""Engines for tests of what happens before or between searches."""

from collections.abc import Callable, Sequence
from typing import Any

from api.engine.responses import EngineResponse, Json, Products
from mappings.platforms import Platform


class ScriptedEngine:
    """Answers each search body as a function says, and records the bodies of each round trip."""

    def __init__(self, response: Callable[[Any], EngineResponse]) -> None:
        self._response = response
        self.round_trips: list[list[Json]] = []

    @property
    def sizes(self) -> list[int]:
        """How many search bodies each round trip had."""
        return [len(bodies) for bodies in self.round_trips]

    async def search_all(
        self, platforms: Sequence[Platform], bodies: Sequence[Json], *filter_path: str
    ) -> list[EngineResponse]:
        self.round_trips.append(list(bodies))
        return [self._response(body) for body in bodies]

    async def search_pit(self, body: Json, products: Products) -> EngineResponse:
        self.round_trips.append([body])
        return self._response(body)


class NoEngine(ScriptedEngine):
    """An engine that nobody may ask."""

    def __init__(self) -> None:
        super().__init__(_refuse)


def _refuse(body: Json) -> EngineResponse:
    raise AssertionError(body)
