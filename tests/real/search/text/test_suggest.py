"""Suggestions while typing are what a count over the same items gives: exact, in their order, of what is on offer."""

import random
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer.documents.checked_item import checked_item
from indexer.documents.digest import encode_document
from indexer.documents.document import index_document
from indexer.engine.bulk import index_lines
from mappings.connection import connect
from mappings.definition import read_definition
from mappings.names import generation_name
from mappings.platforms import read_platforms
from tests.support.api.catalogue import CS2, put_index, simple_item
from tests.support.api.envelope import fields_of
from tests.support.api.waiting import until
from tests.support.app import running, serving, settings_for
from tests.support.examples import examples
from tests.support.indexer.generation import create_generation, put_products
from tests.support.indices import new_prefix
from tests.support.orders.shop import place_past_the_app
from tests.support.search.items import make_items
from tests.support.search.suggest_oracle import expected, suggested

_STICKERS = (
    {"name": "Sticker | Crown (Foil)", "type": "sticker", "wear": 0.1},
    {"name": "Sticker | Crown (Foil)", "type": "sticker", "wear": None},
    {"name": "Sticker | NiKo | London 2018", "type": "Sticker"},
    {"name": "Sticker | niko  | London 2018", "type": "sticker"},
    {"name": "Sticker | Jörmungandr (Glitter)"},
    {"name": "Sticker | I ♥ $", "type": "sticker"},
    {"name": "Charm | Crowned", "type": "charm"},
)


def _with_stickers(items: list[dict[str, Any]], seed: int) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    return [{**item, "attachments": chance.sample(_STICKERS, chance.choice((0, 1, 3, 5)))} for item in items]


ITEMS = _with_stickers(make_items(400, seed=23), seed=5)
_TEXTS = (
    "a", "ak", "ak4", "ak47", "ak 4", "ak-47 r", "AK-47 | Redline (F", "redl", "redline ak", "m4a1", "m4 a", "m4 a1 pr",
    "fives", "five sev", "st", "stattrak", "★ st", "★", "♥", "龍", "龍王", "dragon", "doppler", "jorm", "JÖRMUNGANDR",
    "saiba", "the p", "phoenix coll", "crown", "crown f", "sticker niko", "sticker | niko", "i ♥", "p", "p2", "p250",
    "asimov", "asiimvo", "redlien", "karmabit", "crwon", "jormungadnr collecton", "readline", "edline", "p259", "ak48",
    "ligne rou", "línea ro", "ak drac", "drachen", "desert e", "faca borb", "розпис", "pistolet w", "s", "sa",
    "linea de ro", "baj", "awpp", "prinstraem", "glitter", "crowned", "nothing has this", "!", " ", "  ak  ", "ﬁ", "İ",
)  # fmt: skip


@pytest.fixture(scope="module")
def client(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of the app with 400 items, stickers on many of them."""
    folder = tmp_path_factory.mktemp("suggest")
    with new_prefix(opensearch_url) as prefix:
        app_settings = settings_for(opensearch_url, prefix, folder)
        put_index(app_settings, CS2, ITEMS)
        with serving(app_settings) as served:
            yield served


def engine_requests(client: httpx.Client, **params: Any) -> Any:
    response = client.get("/v1/gear/suggest", params=params)
    assert response.status_code == 200, response.text
    return suggested(response.json())


@pytest.mark.parametrize("text", _TEXTS)
def test_suggestions_are_what_a_plain_count_gives(client: httpx.Client, text: str) -> None:
    most = expected(ITEMS, text, 20)
    for limit in (1, 8, 20):
        assert engine_requests(client, q=text, limit=limit) == most[:limit]


@settings(max_examples=examples(30, 120), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whatever_of_a_name_is_typed_is_suggested_as_a_plain_count_gives(client: httpx.Client, data: Any) -> None:
    item = data.draw(st.sampled_from(ITEMS))
    name = data.draw(st.sampled_from([item["name"], *(attachment["name"] for attachment in item["attachments"])]))
    start = data.draw(st.integers(0, len(name) - 1))
    text = name[start : start + data.draw(st.integers(1, 12))]
    if len(text) > 2 and data.draw(st.booleans()):  # swap, drop or double a letter
        place = data.draw(st.integers(1, len(text) - 2))
        middle = data.draw(st.sampled_from([text[place + 1] + text[place], text[place], text[place] * 2]))
        text = text[:place] + middle + text[place + len(middle) :]
    assert engine_requests(client, q=text, platform="730") == expected(ITEMS, text, 8)


@settings(max_examples=examples(30, 120), suppress_health_check=list(HealthCheck))
@given(text=st.text(min_size=1, max_size=100))
def test_any_text_is_just_text(client: httpx.Client, text: str) -> None:
    assert client.get("/v1/gear/suggest", params={"q": text}).status_code == 200


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({}, "q"),
        ({"q": ""}, "q"),
        ({"q": "x" * 101}, "q"),
        ({"q": "x", "limit": 0}, "limit"),
        ({"q": "x", "limit": 21}, "limit"),
        ({"q": "x", "limit": "many"}, "limit"),
        ({"q": "x", "page": 1}, "page"),
    ],
)
def test_what_is_outside_the_limits_is_a_422(client: httpx.Client, params: dict[str, Any], field: str) -> None:
    assert fields_of(client.get("/v1/gear/suggest", params=params), "validation_failed") == [field]
    unknown = client.get("/v1/gear/suggest", params={"q": "x", "platform": "570"})
    assert fields_of(unknown, "unknown_platform") == ["platform"]


async def test_what_is_sold_counts_no_more(opensearch_url: str, index_prefix: str, tmp_path: Path) -> None:
    app_settings = settings_for(opensearch_url, index_prefix, tmp_path)
    (platform,) = read_platforms()
    put_index(app_settings, platform, [simple_item(1), simple_item(2), simple_item(3, name="AWP | Fade")])
    async with running(app_settings) as app:

        async def counts(text: str, limit: int = 8) -> dict[str, int]:
            response = await app.client.get("/v1/gear/suggest", params={"q": text, "limit": limit})
            return {text: count for text, _, count in suggested(response.json())}

        assert await counts("a") == {"AK-47 | Redline (Field-Tested)": 2, "AWP | Fade": 1}
        assert await counts("a", limit=1) == {"AK-47 | Redline (Field-Tested)": 2}
        await place_past_the_app(app_settings, 1)
        await place_past_the_app(app_settings, 3)

        async def is_counted() -> bool:
            return await counts("a") == {"AK-47 | Redline (Field-Tested)": 1}

        await until(is_counted)
        assert await counts("awp") == {}
        assert await counts("a", limit=1) == {"AK-47 | Redline (Field-Tested)": 1}, "however old its frequent values"


@pytest.fixture
async def split(
    opensearch_url: str, index_prefix: str, tmp_path: Path
) -> AsyncIterator[tuple[list[dict[str, Any]], httpx.AsyncClient]]:
    """Many names with few items each in an index of five shards, none of which knows what most items have."""
    app_settings = settings_for(opensearch_url, index_prefix, tmp_path)
    chance = random.Random(1)
    details = dict.fromkeys(("weapon", "set", "exterior"))
    items = [
        {"id": number, "name": f"Rifle {chance.randrange(300):03}", "attachments": [], "details": details}
        for number in range(1500)
    ]
    (platform,) = read_platforms()
    definition = read_definition()
    index = generation_name(app_settings.alias(730), datetime.now(UTC), definition.fingerprint)
    documents = [index_document(checked_item(item), platform) for item in items]
    lines = [index_lines(document["id"], 1, *encode_document(document, 1).pieces) for document in documents]
    engine = connect(app_settings)
    try:
        create_generation(engine, index, app_settings.alias(730), definition=definition.with_shards(5))
        put_products(engine, index, documents)
        engine.bulk(index=index, body=b"".join(lines), params={"refresh": "true"})
    finally:
        engine.close()
    async with running(app_settings) as app:
        yield items, app.client


async def test_counts_are_exact_on_several_shards(
    split: tuple[list[dict[str, Any]], httpx.AsyncClient],
) -> None:
    items, client = split
    most = expected(items, "rif", 20)
    for limit in (1, 3, 20):
        response = await client.get("/v1/gear/suggest", params={"q": "rif", "limit": limit})
        assert suggested(response.json()) == most[:limit]
