"""Engines for tests of what happens before or between searches."""

from collections.abc import Sequence

from api.engine.answers import Answer, Json
from mappings.platforms import Platform


class NoEngine:
    """An engine that nobody may ask."""

    async def search(self, platforms: Sequence[Platform], body: Json, *filter_path: str) -> Answer:
        raise AssertionError(body)

    async def search_all(
        self, platforms: Sequence[Platform], bodies: Sequence[Json], *filter_path: str
    ) -> list[Answer]:
        raise AssertionError(bodies)

    async def search_pit(self, body: Json) -> Answer:
        raise AssertionError(body)
