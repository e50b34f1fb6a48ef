"""Several platforms: one file each and no code; searched together, priced only where the currency is one."""

import secrets
from collections.abc import AsyncIterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from api.search.service import SearchServices
from mappings.connection import connect
from mappings.platforms import read_platforms
from tests.support.api.catalogue import put_index, simple_item
from tests.support.api.envelope import error_of, fields_of
from tests.support.api.platform_files import platform_folder
from tests.support.app import RunningApp, new_token, running, settings_for
from tests.support.indices import drop_indices


@pytest.fixture(scope="module", params=["USD", "JPY"])
async def both(
    request: pytest.FixtureRequest, opensearch_url: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[RunningApp]:
    """An app with platform 730 in USD and 570 in the test's currency, ids 1 to 4 in each, and 10, never loaded."""
    folder, prefix = tmp_path_factory.mktemp("both"), f"t{secrets.token_hex(5)}"
    currency = request.param
    files = platform_folder(folder, (570, "dota2", currency, 2 if currency == "USD" else 0), (10, "cs1", "USD", 2))
    async with running(settings_for(opensearch_url, prefix, folder, platform_files=files)) as app:
        try:
            for platform in read_platforms(files):
                if platform.id != 10:
                    items = [simple_item(number, float(5 - number), f"of {platform.slug}") for number in range(1, 5)]
                    put_index(app.settings, platform, items)
            yield app
        finally:
            drop_indices(opensearch_url, prefix)


async def hits_of(app: RunningApp, body: dict[str, Any]) -> list[tuple[int, str]]:
    response = await app.search(body)
    assert response.status_code == 200, response.text
    gear = response.json()["gear"]
    return [(item["id"], item["name"]) for item in gear]


def one_currency(app: RunningApp) -> bool:
    return len({platform.currency for platform in app.app.state.services[SearchServices].platforms}) == 1


async def test_all_platforms_are_searched_and_ties_go_by_id_then_platform(both: RunningApp) -> None:
    body: dict[str, Any] = {"sort": "float_asc"}
    everything = [(number, f"of {slug}") for number in range(1, 5) for slug in ("dota2", "cs2")]
    assert await hits_of(both, body) == everything
    pages = [await hits_of(both, {**body, "limit": 3, "page": page}) for page in (1, 2, 3)]
    assert list(chain(*pages)) == everything
    assert (await both.search({**body, "limit": 1})).json()["total"] == 8


async def test_a_platform_may_be_named(both: RunningApp) -> None:
    for number, slug in ((730, "cs2"), (570, "dota2")):
        assert await hits_of(both, {"platform": number}) == [(item_id, f"of {slug}") for item_id in (4, 3, 2, 1)]


async def test_ids_are_unique_within_a_platform_only(both: RunningApp) -> None:
    assert len(await hits_of(both, {"filters": {"ids": [2]}, "sort": "name_asc"})) == 2
    assert len(await hits_of(both, {"filters": {"ids": [2]}, "platform": 570})) == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"sort": "price_asc"},
        {"sort": "price_desc"},
        {"sort": "relevance"},
        {"filters": {"price": {"max": 3}}, "query": "of"},
    ],
)
async def test_prices_are_compared_only_within_one_currency(both: RunningApp, body: dict[str, Any]) -> None:
    response = await both.search(body)
    if one_currency(both):
        assert response.status_code == 200
    else:
        assert fields_of(response, "validation_failed") == ["platform"]
        assert (await both.search({**body, "platform": 730})).status_code == 200


async def test_what_needs_no_prices_needs_no_platform(both: RunningApp) -> None:
    for body in ({"query": "of"}, {"sort": "name_desc"}, {"sort": "newest", "filters": {"price": {}}}):
        assert len(await hits_of(both, body)) == 8


async def test_prices_are_in_the_platforms_own_minor_units(both: RunningApp) -> None:
    body = {"platform": 570, "filters": {"price": {"min": 1.5, "max": 3}}}
    assert [number for number, _ in await hits_of(both, body)] == [3, 2]


async def test_an_unknown_platform_is_a_422_that_names_the_known(both: RunningApp) -> None:
    response = await both.search({"platform": 5})
    assert fields_of(response, "unknown_platform") == ["platform"]
    assert "10 (cs1), 570 (dota2), 730 (cs2)" in response.json()["error"]["message"]


async def test_an_item_needs_its_platform(both: RunningApp) -> None:
    assert fields_of(await both.client.get("/v1/gear/1"), "validation_failed") == ["platform"]
    for slug in ("cs2", "dota2"):
        response = await both.client.get(f"/v1/gear/1?platform={slug}")
        assert response.json()["gear"]["name"] == f"of {slug}"


async def test_a_platform_never_loaded_is_a_503_that_says_what_to_do(both: RunningApp) -> None:
    for response in (await both.search({"platform": 10}), await both.client.get("/v1/gear/1?platform=10")):
        error = error_of(response, "search_unavailable")
        assert "load the catalogue with gear-indexer load" in error["message"]


async def test_each_platform_tells_its_own_count(both: RunningApp) -> None:
    platforms = (await both.client.get("/v1/platforms")).json()["platforms"]
    assert [(platform["id"], platform["items"], platform["indexedAt"] is None) for platform in platforms] == [
        (10, 0, True),
        (570, 4, False),
        (730, 4, False),
    ]


async def test_a_platform_that_cannot_answer_is_never_left_out_in_silence(both: RunningApp) -> None:
    index = f"{both.settings.alias(570)}-*"
    client = connect(both.settings)
    try:
        client.indices.close(index=index)
        error_of(await both.search({"sort": "name_asc"}), "search_unavailable")
        error_of(await both.search({"platform": 570}), "search_unavailable")
        error_of(await both.client.get("/v1/gear/1?platform=570"), "search_unavailable")
        error_of(await both.client.get("/v1/platforms"), "search_unavailable")
        error_of(await both.client.get("/health/ready"), "search_unavailable")
        assert (await both.search({"platform": 730})).status_code == 200
    finally:
        client.indices.open(index=index)
        client.cluster.health(index=index, params={"wait_for_status": "yellow"})
        client.close()
    assert len(await hits_of(both, {"sort": "name_asc"})) == 8


async def test_with_nothing_loaded_every_question_is_a_503(opensearch_url: str, tmp_path: Path) -> None:
    files = platform_folder(tmp_path, (570, "dota2", "USD", 2))
    async with running(settings_for(opensearch_url, "tnever", tmp_path, platform_files=files)) as app:
        error_of(await app.search({}), "search_unavailable")
        error_of(await app.client.get("/v1/gear/1?platform=cs2"), "search_unavailable")
        error_of(await app.client.get("/health/ready"), "search_unavailable")
        platforms = (await app.client.get("/v1/platforms")).json()["platforms"]
        assert [(platform["items"], platform["indexedAt"]) for platform in platforms] == [(0, None), (0, None)]


async def test_a_token_that_filters_by_price_names_a_platform_where_currencies_differ(both: RunningApp) -> None:
    token = await new_token(both.settings.database_url, "search", filters='{"price": {"max": 2}}')
    headers = {"Authorization": f"Bearer {token}"}
    for request in (
        both.client.build_request("POST", "/v1/gear/search", json={}, headers=headers),
        both.client.build_request("GET", "/v1/gear/suggest", params={"q": "of"}, headers=headers),
    ):
        response = await both.client.send(request)
        if one_currency(both):
            assert response.status_code == 200
        else:
            assert "different currencies" in error_of(response, "validation_failed")["message"]
    response = await both.client.post("/v1/gear/search", json={"platform": 570}, headers=headers)
    assert {item["price"] for item in response.json()["gear"]} == {1.0, 2.0}


async def test_the_sandbox_has_prices_in_every_currency(both: RunningApp) -> None:
    token = await new_token(both.settings.database_url, "order", sandbox=True)
    body = {"account": "client-17", "email": "buyer@example.com", "platform": "dota2", "item": "-41"}
    response = await both.client.post("/v1/gear", json=body, headers={"Authorization": f"Bearer {token}"})
    assert response.status_code == 201, response.text
    assert response.json()["order"]["amounts"]["price"] == (10.5 if one_currency(both) else 11)
