"""Faults below a load or a change: the engine is killed and started again."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from tests.support.api.waiting import wait_until
from tests.support.indexer.fixtures import Place, items, lines
from tests.support.indexer.loaders import killed_load
from tests.support.indexer.wire import Wire, is_bulk
from tests.support.servers import Node

MANY = 200
LOAD = ("load", "many.ndjson", "--platform", "730", "--quiet")


def test_a_load_goes_on_after_loader_and_engine_were_killed(
    place: Place, node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = replace(place, chunk_items=20)
    (place.folder / "many.ndjson").write_bytes(lines(items(MANY, first=1000)))
    with Wire(node.url) as wire:
        monkeypatch.setenv("GEAR_OPENSEARCH_URL", wire.url)
        place.environment["GEAR_OPENSEARCH_URL"] = wire.url
        left = killed_load(place, wire, lambda method, path: is_bulk(path) and wire.bulks >= 4, 21)
        node.kill()
        node.start()
        report = place.json(*LOAD, "--resume")
        assert (report["index"], report["proof"]["agrees"], report["proof"]["found"]["items"]) == (
            left["index"],
            True,
            MANY,
        )
        assert report["resumed"] >= 20


# A loader that says when its time is taken: it makes a file before it reads its source.
_TELLING = """
from pathlib import Path
from indexer.cli.main import main
from indexer.loading.load import Load
create = Load._create
Load._create = lambda *arguments: (create(*arguments), Path("created").touch())[0]
main()
"""


def test_a_delete_during_a_load_is_not_undone_by_a_restart_of_the_engine(
    place: Place, node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine forgets the versions of deleted documents with a restart; the load remembers them."""
    monkeypatch.setenv("GEAR_OPENSEARCH_URL", node.url)
    (tmp_path / "all.ndjson").write_bytes(lines(items(6)))
    assert place.json("load", "all.ndjson", "--platform", "730", "--quiet")["swapped"] is True
    arguments = [sys.executable, "-c", _TELLING, "load", "-", "--platform", "730", "--quiet", "--json"]
    environment = {**place.environment, "GEAR_OPENSEARCH_URL": node.url, "PYTHONPATH": ":".join(sys.path)}
    with subprocess.Popen(
        arguments, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
    ) as loader:
        assert loader.stdin is not None
        wait_until((tmp_path / "created").exists)
        assert len(place.json("delete", "--platform", "730", "--quiet", "5")["indices"]) == 2
        node.kill()
        node.start()
        loader.stdin.write(lines(items(6)))
        output, _ = loader.communicate(timeout=120)
    loaded = orjson.loads(output)
    assert loaded["error"] is None
    assert loaded["proof"]["deletedLive"] == 1
    shown = place.json("status", "--platform", "730")
    assert (shown["serving"], shown["items"]) == (loaded["index"], 5)
