"""The doctor on a real engine: what only two indices can have wrong is made, found, and repaired where that is safe."""

import pytest

from indexer.doctor.checks import MAX_UNUSED
from indexer.documents.product import description_document
from mappings.definition import read_definition
from mappings.names import products_of
from tests.support.indexer.examined import codes, findings, repaired, snapshot, stays
from tests.support.indexer.fixtures import Place, items
from tests.support.indexer.generation import create_before_products, create_generation
from tests.support.indexer.holders import ELSEWHERE, beating
from tests.support.indexer.shop import Shop


def serving(place: Place) -> str:
    index: str = place.json("status", "--platform", "730")["serving"]
    return index


def orphaned(place: Place, owner: str | None = None) -> str:
    """The products of a load that has made no more than them."""
    index = f"{place.alias}-20200101000000000-{read_definition().fingerprint}"
    create_generation(place.client, index, f"{index}-loading", owner=owner)
    place.client.indices.delete(index=index)
    return products_of(index)


def test_listings_without_their_products_are_reported(loaded: Place) -> None:
    loaded.client.indices.delete(index=products_of(serving(loaded)))
    missing = stays(loaded, "products-missing", "every search with a text fails")
    assert missing["severity"] == "error"
    assert missing["remedy"].startswith("gear-indexer load")
    loaded.load(items(3))
    assert findings(loaded) == []


def test_products_that_no_item_names_any_more_are_reported(loaded: Place) -> None:
    """As where a catalogue is only changed, never loaded again."""
    index = products_of(serving(loaded))
    written = [description_document(f"of an item that has gone {number}") for number in range(MAX_UNUSED + 1)]
    bulk_lines = [b'{"index":{"_id":"%s"}}\n%s\n' % (each.key.encode(), each.content) for each in written]
    assert not loaded.client.bulk(index=index, body=b"".join(bulk_lines[1:]))["errors"]
    assert findings(loaded) == []
    assert not loaded.client.bulk(index=index, body=bulk_lines[0])["errors"]
    (unused,) = findings(loaded, code=0)
    assert (unused["code"], unused["severity"]) == ("products-unused", "warning")
    assert "10,001 of the 10,004" in unused["message"]
    assert unused["remedy"] == "gear-indexer load FILE... --platform 730"
    loaded.load(items(3))
    assert findings(loaded) == []


def test_an_index_from_before_products_is_reported_with_the_command_that_mends_it(place: Place) -> None:
    """As right after an upgrade, before the catalogue is loaded again."""
    Shop(place.environment["GEAR_DATABASE_URL"]).open()
    index, command = create_before_products(place.client, place.alias), "gear-indexer load FILE... --platform 730"
    by_code = {each["code"]: each for each in findings(place, code=1)}
    assert [by_code[code]["subject"] for code in ("products-missing", "mapping-drift")] == [index, index]
    assert {by_code[code]["remedy"] for code in ("products-missing", "mapping-drift")} == {command}
    assert f"definition differs from this version's: load again, {command}" in place.run("status").stdout
    report = place.load(items(1))
    assert (report["previous"], findings(place)) == (index, [])


def _nowhere(place: Place, old: str, now: str) -> None:
    place.client.indices.delete_alias(index=products_of(now), name=products_of(place.alias))


def _elsewhere(place: Place, old: str, now: str) -> None:
    """As somebody leaves it who moved the aliases by hand."""
    _nowhere(place, old, now)
    _both(place, old, now)


def _both(place: Place, old: str, now: str) -> None:
    place.client.indices.put_alias(index=products_of(old), name=products_of(place.alias))


@pytest.mark.parametrize("fault", [_nowhere, _elsewhere, _both], ids=lambda fault: fault.__name__.strip("_"))
def test_the_alias_of_the_products_is_put_right(loaded: Place, fault: object) -> None:
    old, now = serving(loaded), loaded.load(items(3))["index"]
    healthy = snapshot(loaded)
    assert callable(fault)
    fault(loaded, old, now)
    repaired(loaded, "products-alias", wanted=healthy)


def test_products_that_items_name_and_that_are_missing_are_reported(loaded: Place) -> None:
    index = serving(loaded)
    hit, *_ = loaded.client.search(index=products_of(index), body={})["hits"]["hits"]
    loaded.client.delete(index=products_of(index), id=hit["_id"])
    missing = stays(loaded, "products-incomplete", "1 of the 3 products")
    assert missing["severity"] == "error"
    loaded.load(items(3))
    assert findings(loaded) == []


def test_a_product_that_was_altered_is_reported(loaded: Place) -> None:
    index = serving(loaded)
    hit, *_ = loaded.client.search(index=products_of(index), body={})["hits"]["hits"]
    loaded.client.update(index=products_of(index), id=hit["_id"], body={"doc": {"name": "Another"}})
    altered = stays(loaded, "products-altered", f"such as {hit['_id']}")
    assert (altered["severity"], altered["subject"]) == ("error", index)
    assert altered["remedy"].startswith("gear-indexer load")
    loaded.load(items(3))
    assert findings(loaded) == []


def test_the_keys_of_another_definition_are_not_looked_at(loaded: Place) -> None:
    """They may be made otherwise: what is wrong is the definition."""
    index = serving(loaded)
    for name in (index, products_of(index)):
        loaded.client.indices.put_mapping(index=name, body={"_meta": {"fingerprint": "another"}})
    hit, *_ = loaded.client.search(index=products_of(index), body={})["hits"]["hits"]
    loaded.client.update(index=products_of(index), id=hit["_id"], body={"doc": {"name": "Another"}})
    assert set(codes(findings(loaded))) == {"mapping-drift"}


def test_an_item_that_names_no_product_is_reported(loaded: Place) -> None:
    index = serving(loaded)
    source = loaded.client.get(index=index, id="1")["_source"]
    del source["product"]
    loaded.client.index(index=index, id="1", body=source, params={"refresh": "true"})
    stays(loaded, "products-incomplete", "1 items name no product")


def test_products_without_listings_are_removed(loaded: Place) -> None:
    healthy = snapshot(loaded)
    left = orphaned(loaded)
    assert left in snapshot(loaded)
    repaired(loaded, "products-orphaned", wanted=healthy)


def test_the_products_of_a_load_that_runs_are_left_alone(loaded: Place) -> None:
    left = orphaned(loaded, owner=ELSEWHERE.id)
    with beating(loaded, seconds=0.2, expiry=60):
        assert findings(loaded, "--fix") == []
        assert left in snapshot(loaded)


def test_the_settings_and_the_mapping_of_products_are_checked_too(loaded: Place) -> None:
    healthy, products = snapshot(loaded), products_of(serving(loaded))
    loaded.client.indices.put_settings(index=products, body={"index": {"refresh_interval": "-1"}})
    repaired(loaded, "refresh", wanted=healthy)
    loaded.client.indices.put_mapping(index=products, body={"properties": {"stray": {"type": "long"}}})
    drift = stays(loaded, "mapping-drift", "fields unexpected stray")
    assert drift["subject"] == products


def test_closed_products_are_reported(loaded: Place) -> None:
    products = products_of(serving(loaded))
    loaded.client.indices.close(index=products)
    (closed,) = findings(loaded)
    assert (closed["code"], closed["subject"]) == ("closed", products)
    loaded.client.indices.open(index=products, params={"wait_for_active_shards": "1"})
    assert findings(loaded) == []
