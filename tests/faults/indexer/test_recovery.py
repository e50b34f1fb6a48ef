"""The index is lost and brought back as docs/recovery.md says: from a snapshot, an export, or the source."""

import secrets
from collections.abc import Iterator

import pytest

from mappings.connection import SearchSettings, connect
from tests.support.indexer.fixtures import Place, items, lines
from tests.support.indexer.shop import Shop
from tests.support.recovery_page import age, commands, run
from tests.support.servers import Node


@pytest.fixture
def lossy(place: Place, node: Node, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A place on an engine of the tests' own, whose repository of snapshots nobody shares, with 5 items."""
    monkeypatch.setenv("GEAR_OPENSEARCH_URL", node.url)
    environment = {**place.environment, "GEAR_OPENSEARCH_URL": node.url, "SNAPSHOT": f"s{secrets.token_hex(4)}"}
    client = connect(SearchSettings())
    own = Place(client, place.alias, place.folder, environment)
    own.load(items(5))
    yield own
    lose(own)
    client.close()


def lose(place: Place) -> None:
    """Deletes every index of the test."""
    pattern = f"{place.alias.removesuffix('-730')}-*"
    place.client.indices.delete(index=pattern, params={"expand_wildcards": "all"})
    assert place.client.indices.get(index=f"{place.alias}*") == {}


def shown(place: Place) -> list[int]:
    """The ids that buyers find."""
    body = {"query": {"term": {"bound": False}}, "sort": ["id"], "_source": False}
    place.client.indices.refresh(index=place.alias)
    return [int(hit["_id"]) for hit in place.client.search(index=place.alias, body=body)["hits"]["hits"]]


def test_a_snapshot_is_restored_and_what_was_sold_since_stays_hidden(lossy: Place) -> None:
    shop = Shop(lossy.environment["GEAR_DATABASE_URL"]).open()
    take, restore = commands("From a snapshot")
    run(take, lossy.folder, lossy.environment)
    shop.sell(2)
    shop.publish()
    shop.age()
    lose(lossy)
    run(restore, lossy.folder, lossy.environment)
    assert shown(lossy) == [1, 3, 4, 5]
    assert lossy.json("status", "--platform", "730")["items"] == 5


def test_without_the_source_an_export_is_loaded(lossy: Place) -> None:
    shop = Shop(lossy.environment["GEAR_DATABASE_URL"]).open()
    export, load = commands("From an export")
    run(export, lossy.folder, lossy.environment)
    shop.sell(3)
    lose(lossy)
    run(load, lossy.folder, lossy.environment)
    assert shown(lossy) == [1, 2, 4, 5]


def test_an_export_is_encrypted_and_loaded(lossy: Place) -> None:
    age()
    (keys,) = commands("Encrypted backups")
    export, load = commands("An export, encrypted")
    run(keys + export, lossy.folder, lossy.environment)
    encrypted = (lossy.folder / "items.ndjson.gz.age").read_bytes()
    assert encrypted.startswith(b"age-encryption.org/v1\n")
    lose(lossy)
    run(load, lossy.folder, lossy.environment)
    assert shown(lossy) == [1, 2, 3, 4, 5]


def test_the_source_is_loaded(lossy: Place) -> None:
    shop = Shop(lossy.environment["GEAR_DATABASE_URL"]).open()
    shop.sell(1)
    (lossy.folder / "catalogue.ndjson").write_bytes(lines(items(5)))
    lose(lossy)
    (load,) = commands("From the source")
    run(f"gzip catalogue.ndjson\n{load}", lossy.folder, lossy.environment)
    assert shown(lossy) == [2, 3, 4, 5]
