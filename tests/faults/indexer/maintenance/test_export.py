"""An export that falls short is an error."""

from contextlib import closing
from pathlib import Path

import orjson
import pytest

from indexer.errors import CommandError
from indexer.maintenance import export
from mappings.connection import SearchSettings, connect
from tests.support.indexer.fixtures import Place, items
from tests.support.indexer.wire import Fault, Wire


def test_an_export_that_falls_short_is_an_error_and_leaves_no_file(place: Place, wire: Wire) -> None:
    place.put(items(10))
    hits = {"hits": {"total": {"value": 10}, "hits": []}, "_shards": {"total": 1, "successful": 1, "failed": 0}}
    wire.rule = lambda method, path, body: (
        Fault("response", 200, orjson.dumps(hits)) if path.startswith("/_search?") else None
    )
    response = place.json("export", "--platform", "730", "--output", "short.ndjson", code=1)
    assert "incomplete: 0 items came of 10" in response["error"]
    assert (response["complete"], response["items"], response["expected"]) == (False, 0, 10)
    assert not list(Path().glob("short*"))


def test_a_part_of_the_index_that_does_not_answer_is_an_error(
    place: Place, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "RETRY_SECONDS", 0.3)
    place.put(items(1))
    part = {"hits": {"total": {"value": 1}, "hits": []}, "_shards": {"total": 2, "successful": 1, "failed": 1}}
    wire.rule = lambda method, path, body: (
        Fault("response", 200, orjson.dumps(part)) if path.startswith("/_search?") else None
    )
    with closing(connect(SearchSettings(), retries=0)) as client:
        pieces = export.Export(client, place.alias).pieces()
        with pytest.raises(CommandError, match="not every part"):
            b"".join(pieces)
