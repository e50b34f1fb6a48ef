"""A shop of a few items whose operator changes the vocabulary while the service runs."""

import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mappings.platforms import read_platforms
from tests.support.api.catalogue import put_index, simple_item
from tests.support.api.platform_files import platform_folder
from tests.support.api.waiting import until
from tests.support.app import RunningApp, running, settings_for
from tests.support.indices import drop_indices
from tests.support.services.processes import ran

ITEMS = [
    {**simple_item(1, 900.0, "AWP | Dragon Lore (Factory New)"), "details": {"weapon": "AWP"}},
    {**simple_item(2, 90.0, "AWP | Asiimov (Field-Tested)"), "details": {"weapon": "AWP"}},
]
APPLIED_SECONDS = 5
"""What is promised."""
LONG = 30


@dataclass(frozen=True)
class Shop:
    """A running service with an operator's commands on its store."""

    app: RunningApp
    environment: dict[str, str]
    folder: Path

    async def command(self, *arguments: str) -> Any:
        """What a command prints as JSON."""
        code, printed, errors = await self._run(*arguments, "--json")
        assert code == 0, errors
        return json.loads(printed)

    async def failing(self, *arguments: str) -> Any:
        """What a command prints as JSON that ends with the exit code 1."""
        code, printed, errors = await self._run(*arguments, "--json")
        assert code == 1, errors
        return json.loads(printed)

    async def printed(self, *arguments: str) -> str:
        """What a command prints for people."""
        code, printed, errors = await self._run(*arguments)
        assert code == 0, errors
        return printed

    async def explained(self, number: int, query: str) -> Any:
        """What `gear-api explain` says of an item."""
        code, printed, errors = await self._run_command("explain", str(number), json.dumps({"query": query}), "--json")
        assert code == 0, errors
        assert errors == ""
        return json.loads(printed)

    async def called(self, method: str, path: str, status: int, **more: Any) -> Any:
        """The answer to a request."""
        response = await self.app.client.request(method, path, **more)
        assert response.status_code == status, response.text
        return response.json()

    async def refused(self, *arguments: str) -> str:
        """What a command says that fails."""
        code, _, errors = await self._run(*arguments)
        assert code != 0
        return errors

    async def _run(self, *arguments: str) -> tuple[int, str, str]:
        return await self._run_command("vocabulary", *arguments)

    async def _run_command(self, *arguments: str) -> tuple[int, str, str]:
        ended = await ran(self.folder, self.environment, *arguments)
        return ended.code, ended.printed, " ".join(ended.errors.split())

    async def names(self, query: str, **more: Any) -> list[str]:
        """The names that a text finds, in their order."""
        response = await self.app.search({"query": query, **more})
        assert response.status_code == 200, response.text
        return [item["name"] for item in response.json()["gear"]]

    async def until_names(self, query: str, names: list[str]) -> None:
        """Waits until a text finds these, however busy this machine is."""

        async def are_these() -> bool:
            return await self.names(query) == names

        await until(are_these, LONG)

    async def until(self, query: str, count: int, seconds: float = LONG) -> None:
        """Waits until a text finds so many items."""

        async def are_so_many() -> bool:
            return len(await self.names(query)) == count

        await until(are_so_many, seconds)


@asynccontextmanager
async def operated_shop(
    opensearch_url: str, folder: Path, items: list[dict[str, Any]] = ITEMS, **more: Any
) -> AsyncIterator[Shop]:
    """The shop with these items; its platform is read in English alone, so that a command takes no time for others."""
    files = platform_folder(folder)
    settings = settings_for(opensearch_url, f"t{secrets.token_hex(5)}", folder, platform_files=files, **more)
    try:
        async with running(settings) as app:
            put_index(settings, next(iter(read_platforms())), items)
            environment = {
                "GEAR_OPENSEARCH_URL": settings.opensearch_url,
                "GEAR_INDEX_PREFIX": settings.index_prefix,
                "GEAR_DATABASE_URL": settings.database_url,
                "GEAR_PLATFORM_FILES": str(files),
            }
            yield Shop(app, environment, folder)
    finally:
        drop_indices(opensearch_url, settings.index_prefix)
