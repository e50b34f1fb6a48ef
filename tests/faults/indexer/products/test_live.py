"""Live changes and their products over faults: no item can be found before its product can."""

import itertools
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime

import pytest

from indexer.engine.retry import RetriesExhaustedError, RetryPolicy
from indexer.live.change import upsert_of
from indexer.live.writer import LiveWriter
from mappings.connection import SearchSettings, connect
from mappings.definition import read_definition
from mappings.names import generation_name, products_of
from tests.support.indexer.fixtures import Place, items
from tests.support.indexer.generation import create_generation, found_by_text, products_in, swap
from tests.support.indexer.loaders import loader_half_way
from tests.support.indexer.product_items import CS2, an_item, is_complete, keys, upsert
from tests.support.indexer.wire import CUT, Fault, Wire, is_bulk, pass_all


def test_a_product_is_written_and_refreshed_before_its_listing_is_sent(unrefreshed: Place, wire: Wire) -> None:
    requests: list[str] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if is_bulk(path) or "/_refresh" in path:
            requests.append(path.partition("?")[0])
        return None

    wire.rule = rule
    index = upsert(unrefreshed, an_item(9), an_item(10))["indices"][0]
    products, listings = f"/{products_of(unrefreshed.alias)}/_bulk", f"/{unrefreshed.alias}/_bulk"
    assert requests[:3] == [products, f"/{products_of(index)}/_refresh", listings]


CRASHES: dict[str, Callable[[str], bool]] = {
    "before the product": lambda path: is_bulk(path) and "-products" in path,
    "before the refresh": lambda path: "-products/_refresh" in path,
    "before the listing": lambda path: is_bulk(path) and "-products" not in path,
}


@pytest.mark.parametrize("point", CRASHES)
def test_a_writer_that_dies_between_the_two_writes_leaves_nothing_that_is_half_there(
    unrefreshed: Place, wire: Wire, point: str
) -> None:
    def rule(method: str, path: str, body: bytes) -> Fault | None:
        return CUT if CRASHES[point](path) else None

    wire.rule = rule
    with closing(connect(SearchSettings(opensearch_url=wire.url))) as client:
        writer = LiveWriter(client, unrefreshed.alias, read_definition(), None, RetryPolicy(0.2))
        with pytest.raises(RetriesExhaustedError):
            writer.write([upsert_of(an_item(9), CS2)])
    wire.rule = pass_all
    unrefreshed.client.indices.refresh(index=f"{unrefreshed.alias},{products_of(unrefreshed.alias)}")
    assert unrefreshed.served() == [1, 2]
    assert found_by_text(unrefreshed.client, unrefreshed.alias, "neo noir") == [], "a product without items is no item"
    assert is_complete(unrefreshed)
    upsert(unrefreshed, an_item(9))
    unrefreshed.client.indices.refresh(index=unrefreshed.alias)
    assert found_by_text(unrefreshed.client, unrefreshed.alias, "neo noir") == [9]


def test_changes_during_a_load_reach_both_generations_with_their_products(
    place: Place, wire: Wire, opensearch_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.load(items(2))
    with loader_half_way(place, wire) as (process, end):
        monkeypatch.setenv("GEAR_OPENSEARCH_URL", opensearch_url)  # past the wire, at which the load hangs
        indices = upsert(place, an_item(9))["indices"]
        assert len(indices) == 2
        for index in indices:
            assert keys(an_item(9)) <= products_in(place.client, index)
        end.set()
        wire.rule = pass_all
        assert process.wait(60) == 0
    serving = place.json("status", "--platform", "730")["serving"]
    assert serving in indices
    assert found_by_text(place.client, place.alias, "neo noir") == [9]
    assert is_complete(place)


@pytest.mark.parametrize("point", ["_bulk", "_refresh"])
@pytest.mark.parametrize("end", ["swapped", "removed"])
def test_an_index_that_is_swapped_or_removed_under_a_write_is_looked_up_again(
    place: Place, wire: Wire, end: str, point: str
) -> None:
    """The load ends, well or not, before the products go to what it fills, or before they are refreshed."""
    place.load(items(1))
    loading = generation_name(place.alias, datetime.now(UTC), read_definition().fingerprint)
    create_generation(place.client, loading, f"{loading}-loading")
    meta = {"_meta": {**read_definition().meta(), "version": 1}}
    place.client.indices.put_mapping(index=loading, body=meta)
    wire.rule = _once(lambda path: "-products/" in path and point in path, lambda: _end(place, loading, end))
    assert upsert(place, an_item(9))["written"] == 1
    place.client.indices.refresh(index=place.alias)
    assert found_by_text(place.client, place.alias, "neo noir") == [9]
    assert is_complete(place)
    assert (place.json("status", "--platform", "730")["serving"] == loading) is (end == "swapped")


def _once(matches: Callable[[str], bool], act: Callable[[], None]) -> Callable[[str, str, bytes], Fault | None]:
    count = itertools.count()

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if matches(path) and next(count) == 0:
            act()
        return None

    return rule


def _end(place: Place, loading: str, end: str) -> None:
    if end == "swapped":
        swap(place.client, place.alias, loading)
    else:
        place.client.indices.delete(index=f"{loading},{products_of(loading)}")
