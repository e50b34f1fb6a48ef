"""Operators add terms to the vocabulary while the service runs: no restart, and no load of the items."""

from datetime import UTC, datetime

import pytest
from structlog.testing import capture_logs

from api.settings import Settings
from store import vocabulary_terms
from store.connection.engine import Store
from store.records import Actor
from tests.support.api.envelope import error_of
from tests.support.api.operators import APPLIED_SECONDS, Shop
from tests.support.api.waiting import until
from tests.support.app import new_token


@pytest.fixture
def settings(shop: Shop) -> Settings:
    return shop.app.settings


async def test_a_term_applies_within_5_seconds_and_gone_as_soon(shop: Shop) -> None:
    assert await shop.names("zweihorn") == [], "the response is cached now"
    added = await shop.command("add", "zweihorn", "--words", "dragon lore")
    await shop.until("zweihorn", 1, APPLIED_SECONDS)
    assert await shop.names("awp zweihorn") == ["AWP | Dragon Lore (Factory New)"]
    assert await shop.command("remove", added["id"]) == {"removed": added["id"]}
    await shop.until("zweihorn", 0, APPLIED_SECONDS)


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
    assert added["term"] == {"spellings": ["zweihorn"], "words": "dragon lore", "filters": {}}
    assert added["author"]
    assert [each["id"] for each in await shop.command("list")] == [added["id"]]
    await shop.command("remove", added["id"])
    assert await shop.command("list") == []
    (listed,) = await shop.command("list", "--removed")
    assert listed["removedAt"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("add", "zweihorn"), "means nothing"),
        (("add", "...", "--words", "dragon lore"), "has no letter and no digit"),
        (("add", "zweihorn", "--filter", "weapons=AWP"), "Extra inputs are not permitted"),
        (("add", "zweihorn", "--filter", "AWP"), "not of the form FIELD=VALUE"),
        (("add", "z" * 61, "--words", "dragon lore"), "at most 60 characters"),
        (("add", "zweihorn", "--words", "dragon lore", "--platform", "731"), "is no known platform"),
        (("test", "z" * 201, "zweihorn", "--words", "dragon lore"), "the API refuses this body (validation_failed)"),
        (("remove", "term_x"), "nothing that applies has the id"),
    ],
)
async def test_what_makes_no_sense_is_refused(shop: Shop, arguments: tuple[str, ...], message: str) -> None:
    assert message in await shop.refused(*arguments)


async def test_by_http_the_same_rules_hold_and_the_token_is_the_author(shop: Shop) -> None:
    term = {"spellings": ["zweihorn"], "words": "dragon lore"}
    tried = await shop.called("POST", "/v1/vocabulary/test", 200, json={"query": "zweihorn", "term": term})
    assert (tried["before"]["total"], tried["after"]["names"]) == (0, ["AWP | Dragon Lore (Factory New)"])
    assert await shop.names("zweihorn") == [], "nothing has changed"
    added = (await shop.called("POST", "/v1/vocabulary", 201, json={"platform": 730, "term": term}))["entry"]
    assert (added["author"], added["removedAt"]) == ("test", None)
    await shop.until("zweihorn", 1)
    assert await shop.command("list") == [added]
    assert (await shop.called("GET", "/v1/vocabulary?platform=cs2", 200))["entries"] == [added]
    assert (await shop.called("DELETE", f"/v1/vocabulary/{added['id']}", 200))["removed"] == added["id"]
    await shop.until("zweihorn", 0)
    error_of(await shop.app.client.delete(f"/v1/vocabulary/{added['id']}"), "not_found")
    assert (await shop.called("GET", "/v1/vocabulary", 200))["entries"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, ""),
        ({"term": {"spellings": ["x"]}}, "term"),
        ({"term": {"spellings": ["..."], "words": "dragon lore"}}, "term"),
        ({"term": {"spellings": [], "words": "dragon lore"}}, "term.spellings"),
        ({"term": {"spellings": ["x"], "filters": {"weapons": ["AWP"]}}}, "term.filters.weapons"),
        ({"pin": {"texts": ["!"], "names": ["x"]}}, "pin.texts.0"),
        ({"pin": {"texts": [], "names": ["x"]}}, "pin.texts"),
        ({"hide": {"names": []}}, "hide.names"),
        ({"hide": {"names": ["x"]}, "pin": {"texts": ["a"], "names": ["x"]}}, ""),
    ],
)
async def test_by_http_what_makes_no_sense_is_refused_and_named(
    shop: Shop, body: dict[str, object], field: str
) -> None:
    error = error_of(await shop.app.client.post("/v1/vocabulary", json=body), "validation_failed")
    assert [each["field"] for each in error["details"]] == [field]


async def test_only_the_scope_catalogue_may_change_the_vocabulary(shop: Shop) -> None:
    token = await new_token(shop.app.settings.database_url, "search", "order", "fulfil", "metrics")
    headers = {"Authorization": f"Bearer {token}"}
    body = {"hide": {"names": ["AWP | Asiimov (Field-Tested)"]}}
    error_of(await shop.app.client.post("/v1/vocabulary", json=body, headers=headers), "forbidden")


async def test_searches_go_on_with_the_terms_while_the_store_is_away(shop: Shop, settings: Settings) -> None:
    """A worker that cannot read them keeps those it has."""
    await shop.command("add", "zweihorn", "--words", "dragon lore")
    await shop.until("zweihorn", 1)
    store = Store(settings.database_url, cipher=settings.cipher)
    try:
        async with store.transaction() as connection:
            await connection.exec_driver_sql("ALTER TABLE vocabulary_terms RENAME TO elsewhere")
        with capture_logs() as logs:

            async def has_failed() -> bool:
                return any(line.get("work") == "vocabulary" for line in logs)

            await until(has_failed)
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
