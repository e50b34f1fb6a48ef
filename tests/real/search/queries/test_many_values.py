"""Facets of fields with odd and with very many values, and of several platforms: still exact."""

import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from api.search.facets.facets import MAX_BUCKETS
from mappings.connection import connect
from mappings.platforms import read_platforms
from tests.support.api.catalogue import put_index, simple_item
from tests.support.api.envelope import error_of, fields_of
from tests.support.api.platform_files import platform_folder
from tests.support.app import RunningApp, running, settings_for
from tests.support.indices import drop_indices

MANY = MAX_BUCKETS + 50
LAST = f"Colour {MANY:05}"


def coloured(number: int, color: str, **details: str) -> dict[str, Any]:
    return {**simple_item(number), "details": {"color": color, **details}}


@pytest.fixture(scope="module")
async def app(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningApp]:
    """Platform 730 with 5,050 colours of one item each, one more spelling of the last, and three of `Straße`; 570 with
    two more items of the last; 10 never loaded."""
    folder, prefix = tmp_path_factory.mktemp("many"), f"t{secrets.token_hex(5)}"
    files = platform_folder(folder, (570, "dota2", "USD", 2), (10, "cs1", "USD", 2))
    items = [coloured(number, f"Colour {number:05}") for number in range(1, MANY + 1)]
    items.append(coloured(MANY + 1, f"★ {LAST}", type="Other"))
    items += [
        coloured(MANY + 2 + place, "Red", set=value) for place, value in enumerate(("Straße", "STRASSE", "Strasse"))
    ]
    items += [coloured(MANY + 9, "Red", set="Gone")]
    others = [coloured(number, LAST, tournament="Both") for number in (1, 2)]
    async with running(settings_for(opensearch_url, prefix, folder, platform_files=files)) as started:
        try:
            for platform in read_platforms(files):
                if platform.id != 10:
                    put_index(started.settings, platform, items if platform.id == 730 else others)
            client = connect(started.settings)
            try:
                client.delete(index=f"{prefix}-730", id=str(MANY + 9), params={"refresh": "true"})
            finally:
                client.close()
            yield started
        finally:
            drop_indices(opensearch_url, prefix)


async def counted(app: RunningApp, name: str, **body: Any) -> list[tuple[str, int]]:
    response = await app.search({**body, "facets": [name], "sort": "newest"})
    assert response.status_code == 200, response.text
    return [(entry["value"], entry["count"]) for entry in response.json()["facets"][name]]


async def test_of_very_many_values_500_are_listed_and_the_selected_with_their_exact_counts(app: RunningApp) -> None:
    by_hand = [("Red", 3), (LAST, 2), (f"★ {LAST}", 2), *((f"Colour {number:05}", 1) for number in range(1, 498))]
    assert await counted(app, "color", platform=730) == by_hand
    selected = await counted(app, "color", platform=730, filters={"color": ["colour 04000", "unknown"]})
    assert selected == [*by_hand, ("Colour 04000", 1)]
    narrowed = await counted(app, "color", platform=730, filters={"color": ["colour 04000", LAST], "type": ["other"]})
    assert narrowed == [(LAST, 1), (f"★ {LAST}", 1), ("Colour 04000", 0)]


async def test_spellings_are_folded_as_filters_fold_them(app: RunningApp) -> None:
    alike = [(value, 3) for value in ("STRASSE", "Strasse", "Straße")]
    assert await counted(app, "set", platform=730) == alike
    for value, count in alike:
        assert (await app.search({"platform": 730, "filters": {"set": [value]}})).json()["total"] == count
    nothing = await counted(app, "set", platform=730, filters={"set": ["strasse"], "type": ["Other"]})
    assert nothing == [(value, 0) for value in ("STRASSE", "Strasse", "Straße")]


async def test_a_value_that_no_item_has_any_longer_is_not_listed(app: RunningApp) -> None:
    assert ("Gone", 0) not in await counted(app, "set", platform=730, filters={"set": ["gone"]})


async def test_facets_count_over_all_platforms(app: RunningApp) -> None:
    assert (await counted(app, "color"))[:4] == [(LAST, 4), (f"★ {LAST}", 4), ("Red", 3), ("Colour 00001", 1)]
    assert await counted(app, "tournament") == [("Both", 2)]
    assert await counted(app, "tournament", platform=570) == [("Both", 2)]
    assert await counted(app, "tournament", platform=730) == []


async def test_what_is_no_facet_is_a_422_that_names_its_place(app: RunningApp) -> None:
    for facets, field in ((["color", "seed"], "facets.1"), ([None], "facets.0"), ("color", "facets")):
        assert fields_of(await app.search({"facets": facets}), "validation_failed") == [field]
    assert fields_of(await app.search({"facets": ["color"] * 12}), "validation_failed") == ["facets"]


async def test_facets_of_a_platform_never_loaded_are_a_503(app: RunningApp) -> None:
    error_of(await app.search({"platform": 10, "facets": ["color", "price"]}), "search_unavailable")


async def test_prices_of_different_currencies_are_not_counted_together(opensearch_url: str, tmp_path: Path) -> None:
    files = platform_folder(tmp_path, (570, "dota2", "JPY", 0))
    async with running(settings_for(opensearch_url, "tnever", tmp_path, platform_files=files)) as app:
        refused = await app.search({"sort": "newest", "facets": ["price"]})
        assert fields_of(refused, "validation_failed") == ["platform"]
