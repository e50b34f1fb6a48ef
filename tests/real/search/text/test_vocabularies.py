"""Two games searched at once: each reads a text by its own file, and a relaxation applies to both."""

import secrets
import shutil
from collections.abc import AsyncIterator
from typing import Any

import pytest

from mappings.platforms import PLATFORM_FILES, read_platforms
from tests.support.api.catalogue import put_index, simple_item
from tests.support.app import RunningApp, running, settings_for
from tests.support.indices import drop_indices

DOTA = """
id = 570
slug = "dota2"
name = "Dota 2"
currency = "JPY"
minor_digits = 0

[vocabulary.fields.rarity]
Arcana = ["arc"]

[vocabulary.words]
"dragonclaw hook" = ["hook", "st"]

[relevance]
popular = ["Courier", "Wearable"]
"""


def item(number: int, price: float, name: str, **details: str) -> dict[str, Any]:
    """An item with these details."""
    simple = simple_item(number, price, name)
    return {**simple, "details": {**(simple.get("details") or {}), **details}}


ITEMS = {
    730: [
        item(1, 40.0, "StatTrak™ AK-47 | Redline (Field-Tested)", quality="StatTrak™", weapon="AK-47"),
        item(2, 60.0, "StatTrak™ AWP | Dragon Lore (Field-Tested)", quality="StatTrak™", weapon="AWP"),
    ],
    570: [
        item(3, 55.0, "Dragonclaw Hook", rarity="Immortal", type="Wearable"),
        item(4, 45.0, "Manifold Paradox", rarity="Arcana", type="Wearable"),
        item(5, 45.0, "Swift Manifold", rarity="Rare", type="Courier"),
    ],
}


@pytest.fixture(scope="module")
async def app(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningApp]:
    """The app with both games."""
    folder, prefix = tmp_path_factory.mktemp("games"), f"t{secrets.token_hex(5)}"
    files = folder / "platforms"
    shutil.copytree(PLATFORM_FILES, files)
    (files / "570.toml").write_text(DOTA, encoding="utf-8")
    async with running(settings_for(opensearch_url, prefix, folder, platform_files=files)) as started:
        try:
            for platform in read_platforms(files):
                put_index(started.settings, platform, ITEMS[platform.id])
            yield started
        finally:
            drop_indices(opensearch_url, prefix)


async def search_explained(app: RunningApp, query: str, **more: Any) -> dict[str, Any]:
    """The answer to a text, with its explanation."""
    response = await app.search({"query": query, "explain": True, "sort": "float_asc", **more})
    assert response.status_code == 200, response.text
    content: dict[str, Any] = response.json()
    return content


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("st", [1, 2, 3]),  # StatTrak there, a hook here
        ("arc", [4]),
        ("ak", [1]),
        ("dragon", [2, 3]),
        ("st under 50", [1]),  # in each platform's own currency: 50 dollars, 50 yen
        ("over 50 ", [2, 3]),
        ("arcana ", [4]),
        ("st redlime", [1]),
    ],
)
async def test_each_game_reads_by_its_own_words(app: RunningApp, query: str, ids: list[int]) -> None:
    response = await search_explained(app, query)
    assert (sorted(item["id"] for item in response["gear"]), response["total"]) == (ids, len(ids))
    explained = response["interpretation"]
    assert [explained["platform"], *(other["platform"] for other in explained["others"])] == [570, 730]


async def test_one_game_alone_reads_without_the_others(app: RunningApp) -> None:
    assert [hit["id"] for hit in (await search_explained(app, "arc", platform=570))["gear"]] == [4]
    alone = await search_explained(app, "arc", platform=730)
    assert (alone["total"], "others" in alone["interpretation"]) == (0, False)


async def test_the_first_relaxation_with_hits_in_any_game_applies_to_all_games(app: RunningApp) -> None:
    response = await search_explained(app, "manifold swift")
    assert ([hit["id"] for hit in response["gear"]], response["interpretation"]["reading"]) == ([5], "strict")
    mistyped = await search_explained(app, "dragom")
    assert mistyped["interpretation"]["reading"] == "typos"
    assert sorted(hit["id"] for hit in mistyped["gear"]) == [2]


async def test_each_game_ranks_by_its_own_order(app: RunningApp) -> None:
    response = await search_explained(app, "manifold ", platform=570, sort="relevance")
    assert [hit["id"] for hit in response["gear"]] == [5, 4]
