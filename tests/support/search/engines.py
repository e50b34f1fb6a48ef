"""Engines for tests of what happens before or between searches."""

from collections.abc import Callable, Sequence
from typing import Any

from api.engine.answers import Answer, Json, Products
from mappings.platforms import Platform


class ScriptedEngine:
    """Answers each search body as a function says, and records the bodies of each round trip."""

    def __init__(self, answer: Callable[[Any], Answer]) -> None:
        self._answer = answer
        self.round_trips: list[list[Json]] = []

    @property
    def sizes(self) -> list[int]:
        """How many search bodies each round trip had."""
        return [len(bodies) for bodies in self.round_trips]

    async def search_all(
        self, platforms: Sequence[Platform], bodies: Sequence[Json], *filter_path: str
    ) -> list[Answer]:
        self.round_trips.append(list(bodies))
        return [self._answer(body) for body in bodies]

    async def search_pit(self, body: Json, products: Products) -> Answer:
        self.round_trips.append([body])
        return self._answer(body)


class NoEngine(ScriptedEngine):
    """An engine that nobody may ask."""

    def __init__(self) -> None:
        super().__init__(_refuse)


def _refuse(body: Json) -> Answer:
    raise AssertionError(body)
