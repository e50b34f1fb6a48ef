"""A command line on a real engine under names of its own, and a place for its files."""

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result
from opensearchpy import OpenSearch

from indexer.cli.main import main
from mappings.connection import SearchSettings, connect
from mappings.names import products_of
from tests.support.api.catalogue import CS2, put_index
from tests.support.indexer.shop import Shop
from tests.support.indexer.wire import Wire


@dataclass(frozen=True)
class Place:
    """Where a test works: the engine, the alias that it fills, its folder, and the environment for a process."""

    client: OpenSearch
    alias: str
    folder: Path
    environment: dict[str, str]
    chunk_items: int | None = None  # a bulk request of a load

    def run(self, *arguments: str, stdin: str | bytes | None = None) -> Result:
        """Runs a command in this process."""
        if arguments[0] == "load" and self.chunk_items is not None:
            arguments = (*arguments, "--chunk-items", str(self.chunk_items))
        return CliRunner().invoke(main, list(arguments), input=stdin)

    def json(self, *arguments: str, stdin: str | bytes | None = None, code: int = 0) -> dict[str, Any]:
        """Runs a command with --json; its answer, once its exit code is checked."""
        result = self.run(*arguments, "--json", stdin=stdin)
        assert result.exit_code == code, result.output
        response: dict[str, Any] = orjson.loads(result.stdout)
        return response

    def load(self, items: list[dict[str, Any]], *options: str, code: int = 0) -> dict[str, Any]:
        """Loads items from stdin."""
        return self.json("load", "-", "--platform", "730", "--quiet", *options, stdin=lines(items), code=code)

    def put(self, items: list[dict[str, Any]]) -> str:
        """Makes an index of these items serve, in a tenth of the time of a load; its name.

        Only loads bind what is sold, and are later than changes from before them.
        """
        return put_index(SearchSettings(), CS2, items)

    def indices(self) -> list[str]:
        """Every index of this test, but the products of a generation whose listings are among them."""
        names = set(self.client.indices.get(index=f"{self.alias}*"))
        return sorted(names - {products_of(name) for name in names})

    def served(self) -> list[int]:
        """The ids that a search through the alias finds, ascending."""
        body = {"sort": ["id"], "size": 1000, "_source": False}
        return [int(hit["_id"]) for hit in self.client.search(index=self.alias, body=body)["hits"]["hits"]]


@pytest.fixture
def place(opensearch_url: str, index_prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    settings = {
        "GEAR_OPENSEARCH_URL": opensearch_url,
        "GEAR_INDEX_PREFIX": index_prefix,
        "GEAR_DATABASE_URL": f"sqlite:///{tmp_path}/orders.db",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    client = connect(SearchSettings())
    yield Place(client, f"{index_prefix}-730", tmp_path, {**os.environ, **settings})
    client.close()


@pytest.fixture
def wire(place: Place, opensearch_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    """A proxy between the commands and the engine, through which the test breaks things."""
    with Wire(opensearch_url) as proxy:
        monkeypatch.setenv("GEAR_OPENSEARCH_URL", proxy.url)
        place.environment["GEAR_OPENSEARCH_URL"] = proxy.url
        yield proxy


@pytest.fixture
def scripted() -> Iterator[tuple[Wire, OpenSearch]]:
    """A wire with no engine behind it, whose rule answers everything, and a client of it."""
    with Wire("http://127.0.0.1:1") as proxy, closing(connect(SearchSettings(opensearch_url=proxy.url))) as client:
        yield proxy, client


def items(count: int, first: int = 1) -> list[dict[str, Any]]:
    """Small valid items."""
    return [{"id": number, "name": f"Item {number}", "price": number / 100} for number in range(first, first + count)]


def lines(items: list[dict[str, Any]]) -> bytes:
    """Items as NDJSON."""
    return b"\n".join(orjson.dumps(item) for item in items)


@pytest.fixture
def loaded(place: Place) -> Place:
    """A platform in perfect order: one generation serves, and the database is migrated."""
    Shop(place.environment["GEAR_DATABASE_URL"]).open()
    place.put(items(3))
    return place


@pytest.fixture
def unrefreshed(place: Place) -> Place:
    """A generation whose products are visible only where somebody refreshes them."""
    index = place.put(items(2))
    place.client.indices.put_settings(index=products_of(index), body={"index": {"refresh_interval": "-1"}})
    return place


@pytest.fixture
def lost(place: Place) -> str:
    """The serving index, which binds item 2 for an order that the database does not have."""
    Shop(place.environment["GEAR_DATABASE_URL"]).open()
    place.put(items(3))
    index = place.put(items(3))
    place.client.update(index=index, id="2", body={"doc": {"bound": True}}, params={"refresh": "true"})
    return index
