"""Readers of the change feed that replay what they are told, and items that change beside them."""

import asyncio
import secrets
from dataclasses import dataclass, field
from typing import Any

import httpx

from indexer.cli.main import main
from tests.support.indexer.fixtures import Place, lines
from tests.support.search.items import make_items
from tests.support.services.processes import command

Json = dict[str, Any]
ITEMS = make_items(60, seed=3)


@dataclass
class Reader:
    """Follows what a search finds; `items` is what it takes for the search's hits now."""

    client: httpx.AsyncClient
    search: Json = field(default_factory=dict)
    limit: int = 100
    items: dict[int, Json] = field(default_factory=dict)
    changes: list[Json] = field(default_factory=list)
    next: str | None = None

    async def begin(self) -> "Reader":
        """A bookmark first, then the items: what changes meanwhile is told."""
        self.next = (await self.ask())["next"]
        self.items = await all_items(self.client, self.search)
        return self

    async def ask(self, **more: Any) -> Json:
        """One answer, which must be a success; nothing is applied."""
        response = await self.client.post("/v1/gear/changes", json={**self.search, **more}, timeout=90)
        assert response.status_code == 200, response.text
        body: Json = response.json()
        assert set(body) == {"status", "changes", "next", "more"}
        return body

    async def read(self, wait: int = 0) -> list[Json]:
        """Reads and applies one page; each change must be one of what this reader has."""
        response = await self.ask(since=self.next, limit=self.limit, wait=wait)
        assert len(response["changes"]) <= self.limit
        for change in response["changes"]:
            self.apply(change)
        self.next = response["next"]
        assert response["changes"] or not response["more"]
        return list(response["changes"])

    def apply(self, change: Json) -> None:
        """Replays a change; fails for one that was told before, or out of order."""
        number, kind, gear = change["id"], change["change"], change.get("gear")
        self.changes.append(change)
        assert (number in self.items) == (kind != "listed"), change
        if kind == "gone":
            assert gear is None
            del self.items[number]
        else:
            assert gear is not None
            assert gear["id"] == number
            assert self.items.get(number) != gear, change
            self.items[number] = gear

    async def until(self, count: int) -> list[Json]:
        """Reads until there are so many changes; returns them."""
        listed: list[Json] = []
        async with asyncio.timeout(60):
            while len(listed) < count:
                listed += await self.read(wait=5)
        assert len(listed) == count, listed
        return listed

    async def agrees(self) -> None:
        """Reads on until it has what a search finds; fails where that does not come."""
        expected: dict[int, Json] = {}
        for _ in range(60):
            while await self.read():
                pass
            expected = await all_items(self.client, self.search)
            if self.items == expected:
                return
            await self.read(wait=1)
        assert self.items == expected


async def all_items(client: httpx.AsyncClient, search: Json) -> dict[int, Json]:
    """Every hit of a search, by id."""
    items: dict[int, Json] = {}
    cursor: str | None = "*"
    while cursor is not None:
        # a chosen order would change what some texts mean
        response = await client.post("/v1/gear/search", json={**search, "limit": 100, "cursor": cursor}, timeout=90)
        assert response.status_code == 200, response.text
        items |= {item["id"]: item for item in response.json()["gear"]}
        cursor = response.json()["nextCursor"]
    return items


async def upsert(place: Place, *items: Json) -> None:
    """Writes items as an operator does."""
    await _run(place, "upsert", lines(list(items)))


async def delete(place: Place, *numbers: int) -> None:
    """Deletes items as an operator does."""
    await _run(place, "delete", "\n".join(map(str, numbers)).encode())


async def load(place: Place, items: list[Json], keep: int = 9) -> None:
    """Loads a catalogue as an operator does."""
    await _run(place, "load", lines(items), "--min-share", "0", "--max-price-change", "100", "--keep", str(keep))


async def _run(place: Place, verb: str, content: bytes, *options: str) -> None:
    file = place.folder / f"{secrets.token_hex(4)}.ndjson"
    await asyncio.to_thread(file.write_bytes, content)
    arguments = (verb, str(file), "--platform", "730", "--quiet", *options)
    async with command(place.folder, place.environment, *arguments, program=gear_indexer) as running:
        assert await running.wait() == 0, running.written.read_text(encoding="utf-8")


def gear_indexer(*arguments: str) -> None:
    """`gear-indexer` with these arguments."""
    main(arguments, prog_name="gear-indexer")
