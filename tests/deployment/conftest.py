"""A secured engine with a loaded catalogue."""

import json
from collections.abc import Iterator

import pytest

from tests.support.node.place import Place
from tests.support.node.secured import secured_node
from tests.support.search.items import make_items

USERS = ("api", "loader", "reader", "marker", "writer")


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The engine with one catalogue, loaded by the loader."""
    with secured_node() as node:
        folder = tmp_path_factory.mktemp("secured")
        for user in USERS:
            (node.secrets / f"opensearch_{user}_password").write_text(f"{user}: $ 'of the tests'\n", encoding="utf-8")
        node.apply()
        items = "".join(f"{json.dumps(item)}\n" for item in make_items(60, 1))
        (folder / "items.ndjson").write_text(items, encoding="utf-8")
        place = Place(node, folder)
        place.run("api", "api", "migrate")
        place.run("loader", "indexer", "load", "items.ndjson", "--platform", "730", "--quiet")
        yield place
