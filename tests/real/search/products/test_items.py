"""What listings and products store apart is one item in every answer, byte for byte as it was loaded."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from opensearchpy import OpenSearch

from api.engine.client import Engine
from api.engine.documents import ProductDocument
from api.engine.responses import hits_of
from api.errors import ApiError
from api.search.service import SearchServices
from indexer.documents.checked_item import checked_item
from indexer.maintenance.export import Export
from mappings.connection import SearchSettings
from mappings.names import products_of
from mappings.platforms import read_platforms
from tests.support.api.catalogue import put_index
from tests.support.api.envelope import error_of
from tests.support.app import RunningApp
from tests.support.search.serving import new_engine, serving

(CS2,) = read_platforms()
Item = dict[str, Any]


def index_of(app: RunningApp, client: OpenSearch) -> str:
    """The index that serves."""
    (index,) = client.indices.get_alias(name=app.settings.alias(730))
    return str(index)


def item(number: int) -> Item:
    """An item of one of three products, with whatever items may have."""
    kinds: list[Item] = [
        {"name": "AK-47 | Redline (Field-Tested)", "details": {"type": "Rifle", "weapon": "AK-47", "rarity": "Covert"}},
        {"name": '★ Jörmungandr \\ "x"', "image": "https://example.com/龍.png", "description": "Fresh from a case."},
        {"name": "Case", "description": "A long description. " * 20, "inspectLink": f"steam://{number}"},
    ]
    attachments = [
        {"id": 4, "name": "Sticker | Crown (Foil)", "wear": 0.25, "type": "sticker", "image": "https://e.com/c.png"},
        {"name": "Sticker | Crown (Foil)"},
    ]
    paint = {"float": 0.1 + number / 1e3, "seed": 661, "index": 2**63 - 1, "pattern": None}
    return {"id": number, **kinds[number % 3], "price": number / 100, "paint": paint, "attachments": attachments}


def ids(*numbers: int) -> dict[str, Any]:
    """The search body for these items."""
    query = {"terms": {"id": list(numbers)}}
    return {"query": query, "sort": [{"id": "asc"}], "size": 100, "track_total_hits": True}


ITEMS = [item(number) for number in range(1, 10)]
LOADED = {each["id"]: checked_item(each).response for each in ITEMS}


async def test_every_answer_shows_items_as_they_were_loaded(opensearch_url: str, tmp_path: Path) -> None:
    async with serving(opensearch_url, tmp_path, ITEMS) as (app, client):
        for body in ({}, {"sort": "price_desc"}, {"query": "case"}, {"cursor": "*", "facets": ["type"]}):
            response = await app.search({"limit": 100, **body})
            shown = [each["id"] for each in response.json()["gear"]]
            assert shown, response.text
            assert all(LOADED[each] in response.content for each in shown)
        grouped = await app.search({"groupBy": "name", "sort": "name_asc"})
        assert len(grouped.json()["gear"]) == 3
        assert all(LOADED[each["id"]][:-1] in grouped.content for each in grouped.json()["gear"])
        single = await app.client.get("/v1/gear/2?platform=730")
        assert LOADED[2] in single.content
        export = Export(client, app.settings.alias(730))
        exported = [orjson.loads(line) for line in b"".join(export.pieces()).splitlines()]
        assert [orjson.dumps({**each, "listedAt": 0}) for each in exported] == [
            orjson.dumps({**orjson.loads(LOADED[number]), "listedAt": 0}) for number in sorted(LOADED)
        ]


async def test_an_item_that_an_order_has_bound_and_freed_is_as_it_was(opensearch_url: str, tmp_path: Path) -> None:
    """The engine writes the numbers of a document that it updates in its own way."""
    async with serving(opensearch_url, tmp_path, ITEMS) as (app, client):
        alias = app.settings.alias(730)
        for bound in (True, False):
            client.update(index=alias, id="5", body={"doc": {"bound": bound}}, params={"refresh": "true"})
        response = await app.search({"filters": {"ids": [5]}})
        assert LOADED[5] in response.content


async def test_a_picture_that_changes_is_shown_on_every_item_that_says_so(opensearch_url: str, tmp_path: Path) -> None:
    """A worker that has shown the one before shows the new one; an item that was not sent again stays as it was."""
    old, new = ({"name": "Zorkmid", "price": 1, "image": f"https://example.com/{name}.png"} for name in ("a", "b"))
    async with serving(opensearch_url, tmp_path, [{"id": number, **old} for number in (1, 2, 3)]) as (app, _):
        for body in ({}, {"query": "zorkmid"}):
            pictures = {each["id"]: each["image"] for each in (await app.search(body)).json()["gear"]}
            assert pictures == dict.fromkeys((1, 2, 3), old["image"])
        changed = [{"id": number, **new} for number in (1, 2)]
        response = await app.client.put("/v1/catalogue/730/items?visible=true", json=changed)
        assert response.status_code == 200, response.text
        for body in ({}, {"query": "zorkmid"}):
            pictures = {each["id"]: each["image"] for each in (await app.search(body)).json()["gear"]}
            assert pictures == {1: new["image"], 2: new["image"], 3: old["image"]}


async def test_a_missing_product_stops_only_the_answers_that_need_it(opensearch_url: str, tmp_path: Path) -> None:
    async with serving(opensearch_url, tmp_path, ITEMS) as (app, client):
        index = index_of(app, client)
        key = client.get(index=index, id="2")["_source"]["descriptionPart"]
        client.delete(index=products_of(index), id=key, params={"refresh": "true"})
        async with new_engine(app) as engine:
            for refused in (engine.search([CS2], ids(2)), engine.item(CS2, 2)):
                with pytest.raises(ApiError, match="lacks a product") as raised:
                    await refused
                assert raised.value.code == "search_unavailable"
            assert len(hits_of(await engine.search([CS2], ids(1, 4, 7, 9)))) == 4


async def test_parts_that_were_read_ahead_are_not_asked_for_again(opensearch_url: str, tmp_path: Path) -> None:
    async with serving(opensearch_url, tmp_path, ITEMS) as (app, client), new_engine(app) as engine:
        await engine.read_ahead([CS2], at_once=2)
        everything: dict[str, Any] = {"query": {"match_all": {}}}
        client.delete_by_query(index=products_of(index_of(app, client)), body=everything, params={"refresh": "true"})
        assert [hit["item"] for hit in hits_of(await engine.search([CS2], ids(*LOADED)))] == list(LOADED.values())


async def test_a_platform_that_was_never_loaded_keeps_no_other_from_being_read_ahead(
    opensearch_url: str, tmp_path: Path
) -> None:
    never_loaded = CS2.model_copy(update={"id": 570, "slug": "dota2"})
    async with serving(opensearch_url, tmp_path, ITEMS) as (app, client), new_engine(app) as engine:
        await engine.read_ahead([never_loaded, CS2])
        client.indices.delete(index=products_of(index_of(app, client)))
        assert [hit["item"] for hit in hits_of(await engine.search([CS2], ids(*LOADED)))] == list(LOADED.values())


class ReplacedEngine(Engine):
    """The real engine, under which something happens before the first products are read."""

    def __init__(self, settings: SearchSettings, change: Any) -> None:
        super().__init__(settings, timeout=30)
        self.change = change

    async def _get_products(self, targets: Any) -> list[ProductDocument]:
        change, self.change = self.change, None
        if change is not None:
            change()
        return await super()._get_products(targets)


async def test_a_search_whose_generation_is_removed_under_it_answers_from_the_next(
    opensearch_url: str, tmp_path: Path
) -> None:
    async with serving(opensearch_url, tmp_path, ITEMS) as (app, client):
        index = index_of(app, client)
        following = [{**item(number), "name": "Grue"} for number in (1, 2)]

        def replace_catalogue() -> None:
            put_index(app.settings, CS2, following)
            client.indices.delete(index=f"{index},{products_of(index)}")

        engine = ReplacedEngine(app.settings, replace_catalogue)
        services = app.app.state.services
        services[SearchServices] = replace(services[SearchServices], engine=engine)
        response = await app.search({})
        await engine.close()
        assert response.status_code == 200, response.text
        assert [each["name"] for each in response.json()["gear"]] == ["Grue", "Grue"]


async def test_a_cursor_whose_products_are_removed_has_expired(opensearch_url: str, tmp_path: Path) -> None:
    """One that is begun then is a 503: to begin again would not help."""
    items = [{"id": number, "name": f"Grue {number}", "price": number} for number in range(1, 7)]
    async with serving(opensearch_url, tmp_path, items, product_cache_mib=0) as (app, client):
        first = (await app.search({"cursor": "*", "limit": 3})).json()
        client.indices.delete(index=products_of(index_of(app, client)))
        following = await app.search({"cursor": first["nextCursor"], "limit": 3})
        assert error_of(following)["code"] == "cursor_expired"
        reopened = await app.search({"cursor": "*", "sort": "price_desc", "limit": 3})
        assert error_of(reopened)["code"] == "search_unavailable"
