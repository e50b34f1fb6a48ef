"""Live changes of a new version while its load runs beside an index of the version before: each in its definition."""

from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from indexer.documents.checked_item import checked_item
from indexer.documents.document import index_document
from indexer.engine.bulk import Outcome
from indexer.engine.generations import Generations
from indexer.engine.retry import RetryPolicy
from indexer.errors import CommandError
from indexer.live.change import Change
from indexer.live.writer import LiveWriter
from mappings.definition import Definition, read_definition
from mappings.names import generation_name, products_of
from mappings.platforms import read_platforms
from tests.support.indexer.fixtures import Place, items
from tests.support.indexer.generation import create_generation

VERSION = 2_000_000_000_000_000
BEFORE = read_definition()


def next_definition(reads: frozenset[str]) -> Definition:
    """This definition and a field more."""
    mappings = BEFORE.body["mappings"]
    properties = {**mappings["properties"], "extra": {"type": "keyword"}}
    body = {**BEFORE.body, "mappings": {**mappings, "properties": properties}}
    return Definition(body, BEFORE.products, "0e0e0e0e", reads, (BEFORE.fingerprint,))


def change(item: dict[str, Any]) -> Change:
    document = index_document(checked_item(item), next(iter(read_platforms())))
    return Change(item["id"], {**document, "extra": "new"}, VERSION)


def test_changes_are_written_to_each_index_in_its_own_definition(place: Place) -> None:
    before = place.load(items(3))["index"]
    after = next_definition(frozenset({BEFORE.fingerprint}))
    retry = RetryPolicy(10)
    generations = Generations(place.client, place.alias, after, retry)
    loading = generation_name(place.alias, datetime.now(UTC), after.fingerprint)
    generations.create(loading, "a test")
    generations.begin(loading, 1, "a test")
    live = LiveWriter(place.client, place.alias, after, None, retry)
    changes = [change({"id": 1, "name": "Changed", "price": 9}), Change(2, None, VERSION), change(items(1, 4)[0])]
    written = live.write(changes)
    assert sorted(written.indices) == sorted([before, loading])
    assert written.results == dict.fromkeys((1, 2, 4), (Outcome.DONE, ""))
    for index, extra in ((before, None), (loading, "new")):
        source = place.client.get(index=index, id="1")["_source"]
        assert (source["name"], source.get("extra")) == ("Changed", extra)
    place.client.indices.refresh(index=place.alias)
    assert place.served() == [1, 3, 4]
    meta = place.client.indices.get_mapping(index=loading)[loading]["mappings"]["_meta"]
    assert BEFORE.can_read(meta), "the version before goes on with what the new one has loaded"


def test_products_are_written_to_each_index_in_its_own_definition(place: Place) -> None:
    """The version before had no finishes of products."""
    before = replace(deepcopy(BEFORE), fingerprint="0b0b0b0b")
    del before.products["mappings"]["properties"]["finish"]
    after, retry = replace(BEFORE, reads=frozenset({before.fingerprint})), RetryPolicy(10)
    serving, loading = (generation_name(place.alias, datetime.now(UTC), each.fingerprint) for each in (before, after))
    create_generation(place.client, serving, place.alias, definition=before)
    create_generation(place.client, loading, f"{loading}-loading", definition=after)
    for index, definition in ((serving, before), (loading, after)):
        Generations(place.client, place.alias, definition, retry).begin(index, 1, "a test")
    item = {"id": 1, "name": "AK-47 | Redline", "price": 9, "details": {"weapon": "AK-47"}}
    document = index_document(checked_item(item), next(iter(read_platforms())))
    live = LiveWriter(place.client, place.alias, after, None, retry)
    written = live.write([Change(1, document, VERSION)])
    assert (sorted(written.indices), written.results[1]) == (sorted([serving, loading]), (Outcome.DONE, ""))
    for index, finish in ((serving, None), (loading, "Redline")):
        product = place.client.get(index=products_of(index), id=document["product"])["_source"]
        assert (product["name"], product.get("finish")) == ("AK-47 | Redline", finish)


def test_changes_to_an_index_outside_the_range_are_refused(place: Place) -> None:
    place.load(items(3))
    after, retry = next_definition(frozenset()), RetryPolicy(10)
    live = LiveWriter(place.client, place.alias, after, None, retry)
    with pytest.raises(CommandError, match="another definition"):
        live.write([change(items(1)[0])])
    assert replace(after, reads=frozenset({BEFORE.fingerprint})).can_read(BEFORE.meta())
