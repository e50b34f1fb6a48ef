"""Killed at any moment: the old index serves, status says what is left, and a load goes on with it or removes it."""

from dataclasses import replace
from pathlib import Path

import pytest

from indexer.documents.digest import Checksum
from indexer.engine.retry import RetryPolicy
from indexer.engine.tombstones import Tombstones
from indexer.errors import CommandError
from indexer.loading.resume import Checkpoint, Checkpoints, Offset
from tests.support.indexer.fixtures import Place, items, lines
from tests.support.indexer.loaders import killed_load
from tests.support.indexer.wire import CUT, Fault, Wire, is_bulk, pass_all

MANY = 200
LOAD = ("load", "many.ndjson", "--platform", "730", "--quiet")


@pytest.fixture
def place(place: Place) -> Place:
    """Many requests for few items."""
    return replace(place, chunk_items=20)


def _source(place: Place) -> Path:
    """Items with a refused one in front and a repeated one near the end: neither takes part in any chunk."""
    rows = [{"id": "no"}, *items(MANY, first=1000)]
    rows.insert(MANY - 10, rows[5])
    path = place.folder / "many.ndjson"
    path.write_bytes(lines(rows))
    return path


def _first(method: str, path: str) -> bool:
    return is_bulk(path)


def _settings(method: str, path: str) -> bool:
    return method == "PUT" and path.endswith("/_settings")


@pytest.mark.parametrize("point", ["before anything is acknowledged", "in the middle", "before the swap"])
def test_a_killed_load_is_gone_on_with_from_what_was_acknowledged(place: Place, wire: Wire, point: str) -> None:
    old = place.load(items(2))["index"]
    _source(place)
    before = wire.bulks
    when, least = {
        "before anything is acknowledged": (_first, 0),
        "in the middle": (lambda method, path: is_bulk(path) and wire.bulks >= before + 4, 21),
        "before the swap": (_settings, MANY + 1),
    }[point]
    left = killed_load(place, wire, when, least)
    assert place.served() == [1, 2]
    assert left["state"] == "unfinished"
    assert left["checkpoint"]["sources"] == ["many.ndjson"]
    assert "load --resume with the same sources goes on with it" in place.run("status").stdout
    report = place.json(*LOAD, "--resume")
    assert (report["index"], report["swapped"], report["proof"]["agrees"]) == (left["index"], True, True)
    counts = [report[name] for name in ("read", "indexed", "rejected", "duplicates")]
    assert counts == [MANY + 2, MANY, 1, 1]
    acknowledged = {"before anything is acknowledged": [0], "before the swap": [MANY]}.get(point, [20, 40, 60])
    assert report["resumed"] in acknowledged
    assert place.served() == list(range(1000, 1000 + MANY))
    assert place.indices() == [old, report["index"]]
    assert len((place.folder / report["rejects"]).read_bytes().splitlines()) == 2


def test_a_load_killed_after_its_swap_is_done_and_tidied_up_by_the_next(place: Place, wire: Wire) -> None:
    _source(place)
    wire.rule = pass_all
    first = place.load(items(2))["index"]
    second = place.load(items(2))["index"]
    killed_load(place, wire, lambda method, path: method == "DELETE" and first in path)
    assert place.served() == list(range(1000, 1000 + MANY))
    assert {first, second} < {*place.indices()}
    error = place.json(*LOAD, "--resume", code=1)["error"]
    assert "no interrupted load is left to resume" in error
    report = place.load(items(1), "--min-share", "0")
    assert place.indices() == [report["previous"], report["index"]]


def test_what_was_changed_live_meanwhile_is_not_lost(place: Place, wire: Wire) -> None:
    place.load(items(2))
    _source(place)
    before = wire.bulks
    killed_load(place, wire, lambda method, path: is_bulk(path) and wire.bulks >= before + 4, 21)
    place.json("delete", "1003", "1150", "--platform", "730", "--quiet")
    changed = [{"id": number, "name": "changed", "price": 1} for number in (1004, 1151, 7)]
    place.json("upsert", "-", "--platform", "730", "--quiet", stdin=lines(changed))
    report = place.json(*LOAD, "--resume")
    assert (report["proof"]["changedLive"], report["proof"]["deletedLive"]) == (3, 2)
    assert place.served() == [7, *(number for number in range(1000, 1000 + MANY) if number not in (1003, 1150))]
    for number in (1004, 1151):
        assert place.client.get(index=place.alias, id=str(number))["_source"]["name"] == "changed"


def test_other_sources_are_refused_and_leave_what_is_there(place: Place, wire: Wire) -> None:
    path = _source(place)
    content = path.read_bytes()
    left = killed_load(place, wire, lambda method, path: is_bulk(path) and wire.bulks >= 4, 21)
    path.write_bytes(content + b"\n")
    error = place.json(*LOAD, "--resume", code=1)["error"]
    assert f"have {len(content) + 1:,} bytes where those of the interrupted load had {len(content):,}" in error
    path.write_bytes(content.replace(b"Item 1001", b"Item 9999"))
    bulks = wire.bulks
    error = place.json(*LOAD, "--resume", code=1)["error"]
    assert "the sources are not those of the interrupted load" in error
    assert "without --resume" in error
    assert wire.bulks == bulks, "nothing was sent"
    path.write_bytes(content)
    report = place.json(*LOAD, "--resume")
    assert (report["index"], report["swapped"]) == (left["index"], True)


def test_there_must_be_something_to_go_on_with(place: Place) -> None:
    _source(place)
    assert "no interrupted load is left" in place.json(*LOAD, "--resume", code=1)["error"]
    unfinished = f"{place.alias}-20200101000000000-00000000"
    place.client.indices.create(index=unfinished, body={"aliases": {f"{unfinished}-loading": {}}})
    assert "has no checkpoint of its load" in place.json(*LOAD, "--resume", code=1)["error"]
    assert place.indices() == [unfinished]
    result = place.run("load", "-", "--platform", "730", "--resume", stdin="")
    assert result.exit_code == 2
    assert "stdin (-) cannot be read again" in result.stderr


def test_an_engine_that_stays_away_leaves_what_can_be_gone_on_with(place: Place, wire: Wire) -> None:
    _source(place)
    wire.rule = lambda method, path, body: CUT if is_bulk(path) and wire.bulks >= 4 else None
    report = place.json(*LOAD, "--retry-timeout", "1", code=1)
    assert "gave up after 1 seconds" in report["error"]
    assert "--resume goes on with it" in report["error"]
    wire.rule = pass_all
    again = place.json(*LOAD, "--resume")
    assert (again["index"], again["swapped"]) == (report["index"], True)
    assert again["resumed"] > 0
    assert place.served() == list(range(1000, 1000 + MANY))


def test_a_loader_that_was_taken_for_dead_moves_nobodys_checkpoint(place: Place) -> None:
    Tombstones(place.client, place.alias, RetryPolicy(1)).create()
    first, second = (Checkpoints(place.client, place.alias, "index") for _ in range(2))
    checkpoint = Checkpoint(owner="first", sources=("a",), size=None)
    first.write(checkpoint)
    assert second.read() == checkpoint
    second.write(Checkpoint(owner="second", sources=("a",), size=None))
    for _ in range(2):  # what it has read of the other's does not let it write over that
        with pytest.raises(CommandError, match="another load has gone on"):
            first.write(checkpoint.at_offset(Offset(10, Checksum(10))))
    stored = second.read()
    assert stored is not None
    assert (stored.owner, stored.read) == ("second", 0)


def test_answers_to_a_checkpoint_may_be_lost(place: Place, wire: Wire) -> None:
    _source(place)
    count = iter(range(1000))

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        return Fault("lose") if "/_doc/checkpoint" in path and next(count) % 3 == 1 else None

    wire.rule = rule
    assert place.json(*LOAD)["swapped"] is True
