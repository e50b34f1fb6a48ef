"""A generation is two indices: made, proved, swapped, rolled back and removed as one, also when something dies."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from indexer.documents.checked_item import checked_item
from indexer.documents.document import index_document
from indexer.engine.retry import RetryPolicy
from indexer.engine.scan import PAGE_ITEMS
from indexer.products.comparison import altered_products
from indexer.products.writer import MAX_PENDING
from mappings.definition import read_definition
from mappings.names import products_of
from mappings.platforms import read_platforms
from tests.support.indexer.fixtures import Place, items, lines
from tests.support.indexer.generation import found_by_text, products_among, products_in
from tests.support.indexer.loaders import killed_load, loader_held
from tests.support.indexer.wire import CUT, LOSE, Fault, Wire, is_bulk, pass_all

(CS2,) = read_platforms()
LOAD = ("load", "many.ndjson", "--platform", "730", "--quiet")
MANY = 200
RETRY = RetryPolicy(10)


def stickered(count: int) -> list[dict[str, Any]]:
    """Items of a few products, with stickers on them, and one long description."""
    return [
        {
            "id": number,
            "name": f"Thing {number % 3}",
            "price": 1,
            "attachments": [{"name": f"Sticker {number % 4}"}],
            "description": "long " * 99 if number == 1 else None,
        }
        for number in range(1, count + 1)
    ]


def aliases(place: Place) -> dict[str, list[str]]:
    """The aliases of each index."""
    return {
        name: sorted(body["aliases"])
        for name, body in place.client.indices.get_alias(index=f"{place.alias}-2*").items()
    }


def serves(place: Place, index: str) -> None:
    """Fails unless both aliases point to both indices of this generation alone, and no other alias is left."""
    named = {name: indices for name, indices in aliases(place).items() if indices}
    assert named == {index: [place.alias], products_of(index): [products_of(place.alias)]}


def many(place: Place) -> Path:
    path = place.folder / "many.ndjson"
    path.write_bytes(lines(items(MANY, first=1000)))
    return path


def test_a_load_writes_each_product_and_each_name_of_a_sticker_once(place: Place) -> None:
    report = place.load(stickered(50))
    documents = [index_document(checked_item(item), CS2) for item in stickered(50)]
    assert products_in(place.client, report["index"]) == {each.key for each in products_among(documents)}
    proof = report["proof"]
    assert (proof["products"], proof["missingProducts"], proof["withoutProduct"]) == (3 + 4 + 4 + 1, 0, 0)
    assert proof["alteredProducts"] == 0
    serves(place, report["index"])
    state = place.json("status", "--platform", "730")["generations"][0]
    stats = place.client.indices.stats(index=f"{report['index']}*", metric="store")["_all"]["primaries"]
    assert state["bytes"] == stats["store"]["size_in_bytes"]


def test_a_game_whose_items_are_all_different_is_loaded_and_found(place: Place) -> None:
    count = 2 * MAX_PENDING + 7
    report = place.load(items(count))
    assert (report["proof"]["products"], report["proof"]["agrees"]) == (count, True)
    for number in (1, MAX_PENDING, MAX_PENDING + 1, count):
        assert found_by_text(place.client, place.alias, f"item {number}") == [number]


SEARCHED = [{"exists": {"field": "product"}}, {"exists": {"field": "stickers"}}]
PART = {"bool": {"must_not": SEARCHED}}


def _before_the_proof(place: Place, wire: Wire, query: dict[str, Any], act: Callable[[str, str], None]) -> list[str]:
    """Acts on the one or the first document that this finds among the products; its key, once that was done."""
    done: list[str] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if "point_in_time" in path and method == "POST" and path.startswith(f"/{place.alias}-2"):
            products = products_of(path.split("/")[1])
            place.client.indices.refresh(index=products)
            hit = place.client.search(index=products, body={"query": query, "size": 1})
            for document in hit["hits"]["hits"][:1]:
                act(products, document["_id"])
                done.append(document["_id"])
            wire.rule = pass_all
        return None

    wire.rule = rule
    return done


@pytest.mark.parametrize("query", [*SEARCHED, PART], ids=["product", "sticker", "part"])
def test_a_missing_product_stops_the_swap(place: Place, wire: Wire, query: dict[str, Any]) -> None:
    old = place.load(stickered(9))["index"]
    _before_the_proof(place, wire, query, lambda products, key: place.client.delete(index=products, id=key))
    report = place.load(stickered(9), code=1)
    assert "1 of their 12 products are missing" in report["error"]
    assert (report["swapped"], report["proof"]["missingProducts"]) == (False, 1)
    assert place.indices() == [old]
    serves(place, old)


ALTERED = [
    ({"exists": {"field": "product"}}, {"name": "Another"}),
    ({"exists": {"field": "stickers"}}, {"stickers": "Another"}),
    (PART, {"part": "another"}),
]


@pytest.mark.parametrize(("query", "changes"), ALTERED, ids=["product", "sticker", "part"])
def test_a_product_altered_behind_the_loads_back_stops_the_swap(
    place: Place, wire: Wire, query: dict[str, Any], changes: dict[str, Any]
) -> None:
    old = place.load(stickered(9))["index"]
    keys = _before_the_proof(
        place, wire, query, lambda products, key: place.client.update(index=products, id=key, body={"doc": changes})
    )
    report = place.load(stickered(9), code=1)
    (key,) = keys
    assert f"1 products were altered (such as {key})" in report["error"]
    assert (report["swapped"], report["proof"]["agrees"], report["proof"]["alteredProducts"]) == (False, False, 1)
    assert report["proof"]["missingProducts"] == 0
    assert place.indices() == [old]
    serves(place, old)


def test_each_of_several_pages_of_products_is_read_once(place: Place) -> None:
    index = place.load(items(3))["index"]
    assert altered_products(place.client, index, RETRY) == (0, None)
    keys = [f"wrong {number}" for number in range(2 * PAGE_ITEMS + 7)]
    body = lines([row for key in keys for row in ({"create": {"_id": key}}, {"platform": 730})])
    assert not place.client.bulk(index=products_of(index), body=body)["errors"]
    altered = altered_products(place.client, index, RETRY)
    assert altered.number == len(keys)
    assert altered.first in keys


@pytest.mark.parametrize("fault", [CUT, LOSE, None], ids=["cut", "lost", "none"])
def test_swap_and_rollback_move_both_aliases_in_one_request(place: Place, wire: Wire, fault: Fault | None) -> None:
    requests: list[list[dict[str, Any]]] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if method == "POST" and path.startswith("/_aliases"):
            requests.append(orjson.loads(body)["actions"])
            return fault if len(requests) == 1 else None
        return None

    first = place.load(items(2))["index"]
    serves(place, first)
    wire.rule = rule
    second = place.load(items(2))["index"]
    serves(place, second)
    place.json("rollback", "--platform", "730")
    serves(place, first)
    place.json("rollback", "--platform", "730", "--to", second)
    serves(place, second)
    assert len(requests) == (4 if fault == CUT else 3)
    for actions in requests:
        added = {action["add"]["alias"]: action["add"]["index"] for action in actions if "add" in action}
        assert added[products_of(place.alias)] == products_of(added[place.alias])


def test_a_generation_that_lost_its_products_does_not_serve_again(place: Place) -> None:
    first, second = (place.load(items(2))["index"] for _ in range(2))
    place.client.indices.delete(index=products_of(first))
    assert "products of" in place.json("rollback", "--platform", "730", code=1)["error"]
    serves(place, second)


def test_the_alias_is_taken_from_wherever_it_points(place: Place) -> None:
    """As somebody leaves it who removed the listings alone, by hand."""
    old = place.load(items(2))["index"]
    place.client.indices.delete(index=old)
    newest = place.load(items(2))["index"]
    serves(place, newest)
    assert place.indices() == [newest]


def test_an_index_in_the_place_of_the_alias_is_found_before_anything_is_loaded(place: Place) -> None:
    name = products_of(place.alias)
    place.client.indices.create(index=name)
    report = place.load(items(2), code=1)
    assert f"an index is named {name}" in report["error"]
    assert report["read"] == 0


def _creates_listings(method: str, path: str) -> bool:
    return method == "PUT" and path.count("/") == 1 and "-730-2" in path and not path.endswith("-products")


@pytest.fixture
def orphan(place: Place, wire: Wire) -> str:
    """The products of a load that was killed before it made the index of its listings."""
    place.load(items(2))
    many(place)
    with loader_held(place, wire, _creates_listings, "many.ndjson") as (process, _):
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    wire.rule = pass_all
    (left,) = [name for name in place.indices() if name.endswith("-products")]
    return left


def test_what_a_load_left_that_died_between_the_two_indices_is_removed_by_the_next(place: Place, orphan: str) -> None:
    assert place.served() == [1, 2]
    assert len(place.json("status", "--platform", "730")["generations"]) == 1
    error = place.json(*LOAD, "--resume", code=1)["error"]
    assert "no interrupted load is left to resume" in error
    report = place.load(items(3))
    assert report["removed"] == [orphan]
    assert orphan not in place.indices()
    serves(place, report["index"])


def test_what_a_load_left_that_died_between_the_two_indices_is_removed_by_prune(place: Place, orphan: str) -> None:
    serving = place.json("status", "--platform", "730")["serving"]
    response = place.json("prune", "--platform", "730")
    assert (response["removed"], response["kept"]) == ([orphan], [serving])
    assert place.indices() == [serving]


@pytest.mark.parametrize("fault", [CUT, LOSE], ids=["cut", "lost"])
@pytest.mark.parametrize("products", [True, False], ids=["products", "listings"])
def test_a_load_that_fails_between_the_two_indices_leaves_neither(
    place: Place, wire: Wire, fault: Fault, products: bool
) -> None:
    old = place.load(items(2))["index"]

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        creates = method == "PUT" and path.count("/") == 1 and "-730-2" in path
        return fault if creates and path.endswith("-products") is products else None

    wire.rule = rule
    place.load(items(3), code=1)
    wire.rule = pass_all
    assert place.indices() == [old]
    serves(place, old)


def _drop_products(place: Place, index: str) -> None:
    body: dict[str, Any] = {"query": {"match_all": {}}}
    place.client.delete_by_query(index=products_of(index), body=body, params={"refresh": "true"})


def _nothing(place: Place, index: str) -> None:
    assert len(products_in(place.client, index)) < MANY, "they are written some at once"


@pytest.mark.parametrize("lose", [_nothing, _drop_products], ids=["as-it-was-left", "lost"])
def test_a_resumed_load_writes_the_products_of_skipped_items_again(
    place: Place, wire: Wire, lose: Callable[[Place, str], None]
) -> None:
    many(place)
    left = killed_load(place, wire, lambda method, path: is_bulk(path) and wire.bulks >= 4, 21)
    lose(place, left["index"])
    report = place.json(*LOAD, "--resume", "--chunk-items", "20")
    assert report["resumed"] > 0
    assert (report["index"], report["proof"]["products"]) == (left["index"], MANY)
    assert len(products_in(place.client, report["index"])) == MANY
    serves(place, report["index"])


def test_a_load_whose_products_are_gone_is_not_resumed(place: Place, wire: Wire) -> None:
    many(place)
    left = killed_load(place, wire, lambda method, path: is_bulk(path) and wire.bulks >= 4, 21)
    place.client.indices.delete(index=products_of(left["index"]))
    error = place.json(*LOAD, "--resume", code=1)["error"]
    assert error == f"the products of {left['index']} are missing: load again, without --resume"
    report = place.json(*LOAD)
    assert report["removed"] == [left["index"]]
    serves(place, report["index"])


def test_products_that_a_template_changed_do_not_serve(place: Place) -> None:
    name = place.alias.replace("-730", "-products")
    template = {"index_patterns": [f"{place.alias}-*-products"], "template": {"settings": {"refresh_interval": "9s"}}}
    definition = read_definition()
    place.client.indices.put_index_template(name=name, body=template)
    try:
        report = place.load(items(2))
        assert report["swapped"] is True, "what the definition says wins over a template"
    finally:
        place.client.indices.delete_index_template(name=name)
    settings = place.client.indices.get_settings(index=products_of(report["index"]), params={"flat_settings": "true"})
    (live,) = (body["settings"] for body in settings.values())
    assert live["index.refresh_interval"] == definition.products["settings"]["index"]["refresh_interval"]
