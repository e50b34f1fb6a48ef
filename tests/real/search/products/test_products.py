"""Texts are matched with products, then with their listings: both are of one generation and of one moment."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from api.engine.product_keys import MIN_MANY
from api.engine.product_search import SAMPLE_KEYS
from indexer.documents.checked_item import checked_item
from indexer.documents.document import index_document
from mappings.names import products_of
from mappings.platforms import read_platforms
from tests.support.api.catalogue import put_index
from tests.support.api.envelope import error_of
from tests.support.app import RunningApp
from tests.support.indexer.generation import create_before_products, put_products
from tests.support.search.serving import serving

(CS2,) = read_platforms()
Item = dict[str, Any]


def item(number: int, name: str, kind: str = "Rifle", **more: Any) -> Item:
    return {"id": number, "name": name, "price": float(number), "details": {"type": kind}, **more}


async def ids(app: RunningApp, query: str, **more: Any) -> list[int]:
    """The ids that a text finds, three times in a row: what was looked up first is remembered then."""
    id_lists: list[list[int]] = []
    for _ in range(3):
        response = await app.search({"query": query, "limit": 100, **more})
        assert response.status_code == 200, response.text
        id_lists.append([each["id"] for each in response.json()["gear"]])
    assert id_lists[0] == id_lists[1] == id_lists[2]
    return id_lists[0]


async def put(app: RunningApp, *items: Item) -> None:
    response = await app.client.put("/v1/catalogue/730/items?visible=true", json=list(items))
    assert response.status_code == 200, response.text


async def test_a_product_that_comes_is_found_by_a_text_that_was_searched_before(
    opensearch_url: str, tmp_path: Path
) -> None:
    async with serving(opensearch_url, tmp_path, [item(1, "AK-47 | Zorkmid")]) as (app, _):
        assert await ids(app, "zorkmid") == [1]
        assert await ids(app, "-zorkmid") == []
        await put(app, item(2, "Zorkmid Case", "Container"), item(3, "AWP | Grue"))
        assert sorted(await ids(app, "zorkmid")) == [1, 2]
        assert await ids(app, "-zorkmid") == [3]


async def test_a_detail_with_blanks_side_by_side_says_many_keys(opensearch_url: str, tmp_path: Path) -> None:
    knives = [item(number, f"Zorkmid {number}", "Butterfly ★  Knife") for number in range(1, MIN_MANY + 50)]
    async with serving(opensearch_url, tmp_path, [*knives, item(9000, "Grue", "Butterfly ★  Knife")]) as (app, _):
        for _ in range(3):
            response = (await app.search({"query": "zorkmid"})).json()
            assert response["total"] == len(knives)
        filtered = await app.search({"filters": {"type": ["butterfly  knife"]}, "facets": ["type"], "limit": 1})
        assert (filtered.json()["total"], filtered.json()["gear"][0]["details"]["type"]) == (
            len(knives) + 1,
            "Butterfly ★  Knife",
        )
        assert filtered.json()["facets"]["type"] == [{"value": "Butterfly Knife", "count": len(knives) + 1}]


async def test_many_keys_that_a_detail_says_do_not_hold_for_products_that_come(
    opensearch_url: str, tmp_path: Path
) -> None:
    knives = [item(number, f"Zorkmid {number}", "Knife") for number in range(1, MIN_MANY + 50)]
    others = [item(5000 + number, f"Zorkmid {number}", "Gloves") for number in range(9)]
    async with serving(opensearch_url, tmp_path, [*knives, *others, item(9000, "Grue", "Knife")]) as (app, _):
        for _ in range(3):
            response = (await app.search({"query": "zorkmid", "sort": "price_desc"})).json()
            assert (response["total"], response["gear"][0]["id"]) == (len(knives) + len(others), 5008)
        await put(app, item(9001, "Grue Two", "Knife"), item(9002, "Zorkmid Two", "Container"))
        response = (await app.search({"query": "zorkmid", "sort": "price_desc"})).json()
        assert (response["total"], response["gear"][0]["id"]) == (len(knives) + len(others) + 1, 9002)
        without = await ids(app, "-zorkmid")
        assert without == [9000, 9001]


async def test_a_load_between_two_searches_moves_both_indices(opensearch_url: str, tmp_path: Path) -> None:
    async with serving(opensearch_url, tmp_path, [item(1, "Zorkmid"), item(2, "Grue")]) as (app, engine):
        assert await ids(app, "zorkmid") == [1]
        alias = app.settings.alias(730)
        (older,) = engine.indices.get_alias(name=alias)
        put_index(app.settings, CS2, [item(1, "Grue"), item(2, "Zorkmid")])
        assert await ids(app, "zorkmid") == [2]
        engine.indices.delete(index=f"{older},{products_of(older)}")
        assert await ids(app, "zorkmid") == [2]


async def test_texts_searched_while_loads_follow_each_other_have_the_answer_of_one_of_them(
    opensearch_url: str, tmp_path: Path
) -> None:
    catalogues = [[item(n, f"{name} {n}") for n in range(1, 30)] for name in ("Zorkmid", "Grue Zorkmid")]
    async with serving(opensearch_url, tmp_path, catalogues[0]) as (app, engine):
        alias, done = app.settings.alias(730), asyncio.Event()

        async def reload() -> None:
            for turn in range(1, 9):
                made_at = datetime.now(UTC) + timedelta(seconds=turn)
                before = list(engine.indices.get_alias(name=alias))
                await asyncio.to_thread(put_index, app.settings, CS2, catalogues[turn % 2], made_at)
                removed = ",".join(f"{index},{products_of(index)}" for index in before)
                await asyncio.to_thread(engine.indices.delete, index=removed)
            done.set()

        reloading = asyncio.create_task(reload())
        responses = []
        while not done.is_set():
            responses.append((await app.search({"query": "zorkmid", "sort": "price_asc", "limit": 1})).json())
        await reloading
        totals = {(response.get("total"), response["status"]) for response in responses}
        assert totals == {(29, "success")}, responses


async def test_a_cursor_reads_the_products_of_its_generation_to_the_end(opensearch_url: str, tmp_path: Path) -> None:
    async with serving(opensearch_url, tmp_path, [item(n, f"Zorkmid {n}") for n in range(1, 6)]) as (app, engine):
        alias = app.settings.alias(730)
        (older,) = engine.indices.get_alias(name=alias)
        body = {"query": "zorkmid", "sort": "price_asc", "limit": 2}
        page = (await app.search({**body, "cursor": "*"})).json()
        put_index(app.settings, CS2, [item(1, "Grue")])
        item_ids = [each["id"] for each in page["gear"]]
        cursors = [page["nextCursor"]]
        while cursors[-1] is not None:
            page = (await app.search({**body, "cursor": cursors[-1]})).json()
            assert page["total"] == 5
            item_ids += [each["id"] for each in page["gear"]]
            cursors.append(page["nextCursor"])
        assert item_ids == [1, 2, 3, 4, 5]
        engine.indices.delete(index=f"{older},{products_of(older)}")
        expired = await app.search({**body, "cursor": cursors[0]})
        assert error_of(expired)["code"] == "cursor_expired"


async def test_a_word_is_found_behind_products_that_nobody_offers(opensearch_url: str, tmp_path: Path) -> None:
    names = [f"Zorkmid {number:04}" for number in range(2 * SAMPLE_KEYS)]
    documents = [index_document(checked_item(item(n, name)), CS2) for n, name in enumerate(names, 1)]
    last = max(documents, key=lambda document: document["product"])
    offered = item(int(last["id"]), str(last["name"]))
    async with serving(opensearch_url, tmp_path, [offered, item(9000, "Grue")]) as (app, engine):
        (index,) = engine.indices.get_alias(name=app.settings.alias(730))
        put_products(engine, index, documents)
        assert await ids(app, "zorkmit") == [offered["id"]], "a typo is mended where an item is on offer"


ATTACHED = [{"name": "Crown (Foil)", "type": "Sticker"}]
GAME = [
    item(1, "AK-47 | Zorkmid", paint={"float": 0.25, "seed": 661, "index": 282, "pattern": 3}),
    item(2, "Grue", attachments=ATTACHED),
    item(3, "Zorkmid Grue", attachments=ATTACHED),
]
TEXTS = ("zorkmid", "grue -zorkmid", "zorkmit", "grue with crown foil", "zorkmid or grue", "zork")


async def test_a_generation_without_its_products_is_no_empty_page(opensearch_url: str, tmp_path: Path) -> None:
    async with serving(opensearch_url, tmp_path, GAME, product_cache_mib=0) as (app, engine):
        assert await ids(app, "zorkmid")
        engine.indices.delete(index=f"{app.settings.alias(730)}-2*-products")
        response = await app.search({"query": "zorkmid"})
        assert (response.status_code, error_of(response)["code"]) == (503, "search_unavailable")
        assert "gear-indexer doctor --fix repairs it" in error_of(response)["message"]
        assert (await app.search({})).status_code == 503, "an item that no answer has shown yet needs its product"


async def test_an_index_from_before_products_is_a_503_that_names_the_command(
    opensearch_url: str, tmp_path: Path
) -> None:
    """As right after an upgrade, before the catalogue is loaded again."""
    async with serving(opensearch_url, tmp_path, GAME) as (app, engine):
        alias = app.settings.alias(730)
        engine.indices.delete(index=f"{alias}-2*")
        create_before_products(engine, alias)
        error_of(await app.client.get("/health/ready?for=search"), "search_unavailable")
        item_response = await app.client.get("/v1/gear/1?platform=730")
        for response in (item_response, await app.search({}), await app.search({"query": "zorkmid"})):
            assert "with gear-indexer load" in error_of(response, "search_unavailable")["message"]


@pytest.mark.parametrize("text", ["zorkmid", "-zorkmid", "grue"])
async def test_an_empty_catalogue_has_nothing(opensearch_url: str, tmp_path: Path, text: str) -> None:
    async with serving(opensearch_url, tmp_path, []) as (app, _):
        assert await ids(app, text) == []


async def test_products_of_another_generation_than_the_listings_are_not_believed(
    opensearch_url: str, tmp_path: Path
) -> None:
    """As after a rollback by hand that moves the alias of listings alone."""
    async with serving(opensearch_url, tmp_path, GAME) as (app, engine):
        alias = app.settings.alias(730)
        (older,) = engine.indices.get_alias(name=alias)
        put_index(app.settings, CS2, [item(1, "Zorkmid")])
        assert await ids(app, "zorkmid") == [1]
        moved = [{"remove": {"index": f"{alias}-*", "alias": alias}}, {"add": {"index": older, "alias": alias}}]
        engine.indices.update_aliases(body={"actions": moved})
        for text in ("zorkmid", "-grue"):
            response = await app.search({"query": text})
            assert (response.status_code, error_of(response)["code"]) == (503, "search_unavailable")
        ready = (await app.client.get("/health/ready?for=search")).status_code
        assert ready == 503
        assert (await app.search({})).json()["total"] == len(GAME)
