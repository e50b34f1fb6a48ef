"""Beside a restored database: no partial answer of the engine is believed about what is hidden."""

from typing import Any

import orjson

from tests.support.indexer.examined import documents
from tests.support.indexer.fixtures import Place, items, lines
from tests.support.indexer.wire import Fault, Wire, pass_all

PARTIAL: dict[str, Any] = {
    "count": 0,
    "timed_out": False,
    "hits": {"hits": []},
    "_shards": {"total": 2, "successful": 1, "skipped": 0, "failed": 1},
}


def once_partial(wire: Wire, marker: bytes) -> list[str]:
    """Has one shard fail once for such a question; a search that takes no partial answer gets none."""
    paths: list[str] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if marker not in body:
            return None
        wire.rule = pass_all
        paths.append(path)
        if "allow_partial_search_results=false" in path:
            return Fault("response", 503, b"{}")
        return Fault("response", 200, orjson.dumps(PARTIAL))

    wire.rule = rule
    return paths


def test_a_load_believes_no_partial_answer_about_what_is_hidden(place: Place, lost: str, wire: Wire) -> None:
    paths = once_partial(wire, b'{"query":{"term":{"bound":true}}}')
    assert "hides 1 items for orders that the database" in place.load(items(3), code=1)["error"]
    assert len(paths) == 1


def test_an_upsert_believes_no_partial_answer_about_what_is_hidden(place: Place, lost: str, wire: Wire) -> None:
    paths = once_partial(wire, b'{"term":{"bound":true}}')
    place.json("upsert", "-", "--platform", "730", "--quiet", stdin=lines(items(3)))
    assert documents(place, lost)["2"]["bound"] is True
    assert len(paths) == 1
