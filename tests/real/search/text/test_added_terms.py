"""Operators add terms to the vocabulary while the service runs: no restart, and no load of the items."""

import asyncio
import json
import os
import secrets
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from api.settings import Settings
from mappings.platforms import read_platforms
from store import vocabulary_terms
from store.connection.engine import Store
from store.records import Actor
from tests.support.api.catalogue import put_index, simple_item
from tests.support.app import RunningApp, running, settings_for
from tests.support.indices import drop_indices

ITEMS = [
    {**simple_item(1, 900.0, "AWP | Dragon Lore (Factory New)"), "details": {"weapon": "AWP"}},
    {**simple_item(2, 90.0, "AWP | Asiimov (Field-Tested)"), "details": {"weapon": "AWP"}},
]
APPLIED_SECONDS = 5


@dataclass(frozen=True)
class Shop:
    """A running service, and the commands on its store."""

    app: RunningApp
    environment: dict[str, str]

    async def command(self, *arguments: str) -> Any:
        """What a command prints as JSON."""
        code, printed, told = await self._run(*arguments, "--json")
        assert code == 0, told
        return json.loads(printed)

    async def explained(self, number: int, query: str) -> Any:
        """What `gear-api explain` says of an item."""
        code, printed, told = await self._run_command("explain", str(number), json.dumps({"query": query}), "--json")
        assert code == 0, told
        assert told == ""
        return json.loads(printed)

    async def refused(self, *arguments: str) -> str:
        """What a command says that fails."""
        code, _, told = await self._run(*arguments)
        assert code not in (0, None)
        return told

    async def _run(self, *arguments: str) -> tuple[int | None, str, str]:
        return await self._run_command("vocabulary", *arguments)

    async def _run_command(self, *arguments: str) -> tuple[int | None, str, str]:
        command = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-c", "from api.cli.main import main; main()", *arguments),
            env=os.environ | self.environment,
            stdout=PIPE,
            stderr=PIPE,
        )
        printed, told = await command.communicate()
        return command.returncode, printed.decode(), " ".join(told.decode().split())

    async def names(self, query: str) -> list[str]:
        """The names that a text finds."""
        answer = await self.app.search({"query": query})
        assert answer.status_code == 200, answer.text
        return [item["name"] for item in answer.json()["gear"]]

    async def until(self, query: str, count: int) -> None:
        """Waits until a text finds so many items; fails after the time that is promised."""
        async with asyncio.timeout(APPLIED_SECONDS):
            while len(await self.names(query)) != count:  # noqa: ASYNC110  # the worker tells nobody
                await asyncio.sleep(0.1)


@pytest.fixture
async def settings(opensearch_url: str, tmp_path: Path) -> AsyncIterator[Settings]:
    prefix = f"t{secrets.token_hex(5)}"
    yield settings_for(opensearch_url, prefix, tmp_path)
    drop_indices(opensearch_url, prefix)


@pytest.fixture
async def shop(settings: Settings) -> AsyncIterator[Shop]:
    async with running(settings) as app:
        put_index(settings, next(iter(read_platforms())), ITEMS)
        yield Shop(
            app,
            {
                "GEAR_OPENSEARCH_URL": settings.opensearch_url,
                "GEAR_INDEX_PREFIX": settings.index_prefix,
                "GEAR_DATABASE_URL": settings.database_url,
            },
        )


async def test_a_term_applies_within_5_seconds_and_gone_as_soon(shop: Shop) -> None:
    assert await shop.names("zweihorn") == [], "the response is cached now"
    added = await shop.command("add", "zweihorn", "--words", "dragon lore")
    await shop.until("zweihorn", 1)
    assert await shop.names("awp zweihorn") == ["AWP | Dragon Lore (Factory New)"]
    assert await shop.command("remove", added["id"]) == {"removed": added["id"]}
    await shop.until("zweihorn", 0)


async def test_a_term_may_stand_for_values(shop: Shop) -> None:
    await shop.command("add", "grosse flinte", "flinti", "--filter", "weapon=AWP")
    await shop.until("flinti", 2)
    assert len(await shop.names("grosse flinte asiimov")) == 1


async def test_a_test_shows_what_a_term_would_change_and_changes_nothing(shop: Shop) -> None:
    shown = await shop.command("test", "zweihorn", "zweihorn", "--words", "dragon lore")
    assert shown == {
        "before": {"total": 0, "names": []},
        "after": {"total": 1, "names": ["AWP | Dragon Lore (Factory New)"]},
    }
    assert await shop.command("list") == []


async def test_explain_reads_a_text_with_the_added_terms(shop: Shop) -> None:
    await shop.command("add", "zweihorn", "--words", "dragon lore")
    explained = await shop.explained(1, "zweihorn")
    assert (explained["answered"], explained["total"]) == (True, 1), explained


async def test_terms_are_listed_with_their_author_removed_ones_on_request(shop: Shop) -> None:
    added = await shop.command("add", "zweihorn", "--words", "dragon lore")
    assert added["term"] == {"spellings": ["zweihorn"], "words": "dragon lore"}
    assert added["author"]
    assert [each["id"] for each in await shop.command("list")] == [added["id"]]
    await shop.command("remove", added["id"])
    assert await shop.command("list") == []
    (listed,) = await shop.command("list", "--removed")
    assert listed["removedAt"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("add", "zweihorn"), "means nothing"),
        (("add", "...", "--words", "dragon lore"), "has no letter and no digit"),
        (("add", "zweihorn", "--filter", "weapons=AWP"), "is no string field of an item"),
        (("add", "zweihorn", "--filter", "AWP"), "not of the form FIELD=VALUE"),
        (("add", "z" * 61, "--words", "dragon lore"), "at most 60 characters"),
        (("add", "zweihorn", "--words", "dragon lore", "--platform", "731"), "is no known platform"),
        (("remove", "term_x"), "no term that applies has the id"),
    ],
)
async def test_what_makes_no_sense_is_refused(shop: Shop, arguments: tuple[str, ...], told: str) -> None:
    assert told in await shop.refused(*arguments)


async def test_searches_go_on_with_the_terms_while_the_store_is_away(shop: Shop, settings: Settings) -> None:
    """A worker that cannot read them keeps those it has."""
    await shop.command("add", "zweihorn", "--words", "dragon lore")
    await shop.until("zweihorn", 1)
    store = Store(settings.database_url, cipher=settings.cipher)
    try:
        async with store.transaction() as connection:
            await connection.exec_driver_sql("ALTER TABLE vocabulary_terms RENAME TO elsewhere")
        await asyncio.sleep(2.5)  # at least one read fails
        assert await shop.names("zweihorn awp") == ["AWP | Dragon Lore (Factory New)"]
    finally:
        await store.close()


async def test_a_term_of_a_newer_version_is_left_out(shop: Shop, settings: Settings) -> None:
    store = Store(settings.database_url, cipher=settings.cipher)
    try:
        async with store.transaction() as connection:
            await vocabulary_terms.add(connection, 730, '{"pinned": true}', Actor("newer"), datetime.now(UTC))
    finally:
        await store.close()
    await shop.command("add", "zweihorn", "--words", "dragon lore")
    await shop.until("zweihorn", 1)
