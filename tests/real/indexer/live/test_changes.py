"""Live changes: put and deleted in what serves and in what is being loaded; the later change wins everywhere."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from indexer.engine.bulk import Outcome
from indexer.engine.retry import RetryPolicy
from indexer.live.change import upsert_of
from indexer.live.writer import LiveWriter
from indexer.products.writer import ProductWriter
from mappings.definition import read_definition
from tests.support.indexer.fixtures import Place, items
from tests.support.indexer.live_changes import changed_item, delete, names, upsert
from tests.support.indexer.product_items import CS2, an_item
from tests.support.indexer.shop import Shop


def test_items_are_put_replaced_and_deleted(place: Place) -> None:
    place.load(items(4))
    report = upsert(place, [changed_item(2, "new two"), changed_item(9, "nine")])
    assert (report["read"], report["written"], report["superseded"], report["rejected"]) == (2, 2, 0, 0)
    report = delete(place, "1", "77", "-", stdin='3\n\n{"id": 4, "name": "whatever"}\n')
    assert (report["read"], report["deleted"], report["missing"]) == (4, 3, 1)
    assert names(place) == {2: "new two", 9: "nine"}


def test_without_a_loaded_index_changes_are_refused(place: Place) -> None:
    for report in (upsert(place, items(1), code=1), delete(place, "1", code=1)):
        assert "nothing is loaded" in report["error"]
    assert place.indices() == []


def test_an_index_of_another_definition_takes_no_changes(place: Place) -> None:
    old = f"{place.alias}-20200101000000000-00000000"
    place.client.indices.create(index=old, body={"aliases": {place.alias: {}}})
    assert "another definition" in upsert(place, items(1), code=1)["error"]


def test_refused_lines_are_listed_and_all_others_are_done(place: Place) -> None:
    place.load(items(2))
    report = upsert(place, [{"id": 5}, *items(1, first=6)], code=1)
    assert (report["read"], report["written"], report["rejected"]) == (2, 1, 1)
    row = orjson.loads(Path(report["rejects"]).read_bytes())
    assert (row["line"], row["id"], row["field"]) == (1, 5, "name")
    report = delete(place, "-", stdin="6\nsix\n9223372036854775808\n", code=1)
    assert (report["deleted"], report["rejected"]) == (1, 2)
    assert sorted(names(place)) == [1, 2]


def test_of_two_changes_of_one_item_the_later_wins(place: Place) -> None:
    place.load(items(1))
    report = upsert(place, [changed_item(1, "first"), changed_item(1, "second")])
    assert (report["written"], report["superseded"]) == (1, 1)
    assert names(place) == {1: "second"}


def test_a_change_that_is_overtaken_changes_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.load(items(2))
    upsert(place, [changed_item(1, "later")])
    delete(place, "2")
    monkeypatch.setattr("indexer.live.writer.time.time_ns", lambda: 10**18)  # a change from long ago that arrives now
    report = upsert(place, [changed_item(1, "earlier"), changed_item(2, "earlier")])
    assert (report["written"], report["superseded"]) == (0, 2)
    assert names(place) == {1: "later"}


def test_sold_items_stay_sold_when_they_are_changed(place: Place, shop: Shop) -> None:
    place.load(items(3))
    shop.sell(1)
    assert shop.publish() == {1: True}
    report = upsert(place, [changed_item(1, "sold"), changed_item(2, "free")])
    assert (report["written"], report["bound"]) == (2, 1)
    assert place.client.get(index=place.alias, id="1")["_source"]["bound"] is True
    assert place.client.get(index=place.alias, id="2")["_source"]["bound"] is False
    assert shop.publish() == {1: True}  # the dispatcher tells the truth once more; of 2 there is none


def test_an_index_that_may_not_be_written_refuses_no_single_change(place: Place) -> None:
    """They would go to the rejects, and a follower would go on without them."""
    place.load(items(2))
    place.client.indices.put_settings(index=place.alias, body={"index.blocks.write": True})
    report = upsert(place, [changed_item(1, "later")], code=1)
    assert "may not be written: cluster_block_exception" in report["error"]
    assert report["rejected"] == 0
    place.client.indices.put_settings(index=place.alias, body={"index.blocks.write": None})
    assert upsert(place, [changed_item(1, "later")])["written"] == 1


class SharedByThreads(dict[tuple[str, str], ProductWriter]):
    """A dictionary into which another thread inserts while one goes through it."""

    def items(self) -> Any:
        for entry in super().items():
            self["another", "thread's"] = entry[1]
            yield entry


def test_threads_may_share_a_writer_when_a_load_ends(place: Place) -> None:
    place.load(items(1))
    writer = LiveWriter(place.client, place.alias, read_definition(), None, RetryPolicy(30))
    writer.write([upsert_of(an_item(1), CS2)])
    place.load(items(1))
    writer._products = SharedByThreads(writer._products)
    assert writer.write([upsert_of(an_item(1), CS2)]).results == {1: (Outcome.DONE, "")}
