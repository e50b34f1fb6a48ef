"""What a rollback changes is shown before it happens."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from time import sleep

import pytest

from indexer.errors import CommandError
from indexer.maintenance.rollback import Rollback
from mappings.definition import read_definition
from mappings.names import parse_generation, products_of
from mappings.platforms import read_platforms
from mappings.timestamps import rfc3339
from tests.support.indexer.fixtures import Place, items, lines
from tests.support.indexer.generation import create_generation


def _two_loads(place: Place) -> tuple[str, str]:
    """1 to 9, then 4 to 12 with another price for 5; then 6 is changed live, 7 deleted and 20 put in."""
    first = place.load(items(9))["index"]
    while _loaded_at(place, first) == f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}":
        sleep(0.01)  # so that the times of the loads differ
    second = place.load([{**item, "price": 99} if item["id"] == 5 else item for item in items(9, first=4)])["index"]
    changed = [{"id": 6, "name": "changed", "price": 1}, {"id": 20, "name": "new", "price": 1}]
    place.json("upsert", "-", "--platform", "730", "--quiet", stdin=lines(changed))
    place.json("delete", "7", "--platform", "730", "--quiet")
    place.client.indices.refresh(index=second)
    return first, second


def _loaded_at(place: Place, index: str) -> str:
    """The time in the name of an index."""
    generation = parse_generation(place.alias, index)
    assert generation is not None
    return rfc3339(generation.created_at)


def test_what_changes_is_shown_before_the_rollback(place: Place) -> None:
    first, second = _two_loads(place)
    report = place.json("rollback", "--platform", "730", "--dry-run")
    assert report["swapped"] is False
    changes = report["changes"]
    assert (changes["serving"]["index"], changes["serving"]["items"]) == (second, 9)
    assert (changes["target"]["index"], changes["target"]["items"]) == (first, 9)
    assert (changes["changedLive"], changes["deletedLive"], changes["definition"]) == (2, 1, "equal")
    times = [_loaded_at(place, index) for index in (first, second)]
    assert [changes["target"]["loadedAt"], changes["serving"]["loadedAt"]] == times
    assert times[0] < times[1]
    assert place.served() == [4, 5, 6, 8, 9, 10, 11, 12, 20]
    result = place.run("rollback", "--platform", "730", "--json")
    assert result.exit_code == 0, result.output
    assert f"to serve: {first}, 9 items" in result.stderr
    assert "2 items were changed live since the load" in result.stderr
    assert "1 items were deleted live since the load" in result.stderr
    assert place.served() == list(range(1, 10))
    back = place.json("rollback", "--platform", "730", "--to", second)
    assert back["changes"]["target"]["items"] == 9
    assert place.served() == [4, 5, 6, 8, 9, 10, 11, 12, 20]


@pytest.mark.parametrize(("response", "code"), [("n", 1), ("y", 0)])
def test_on_a_terminal_it_asks_first(place: Place, response: str, code: int) -> None:
    _two_loads(place)
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "indexer.cli.main", "rollback", "--platform", "730"]
    environment = {**place.environment, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, env=environment, stdin=theirs, stderr=subprocess.PIPE, cwd=place.folder) as process:
        os.close(theirs)
        os.write(ours, f"{response}\n".encode())
        _, output = process.communicate(timeout=60)
        os.close(ours)
    assert (process.returncode, b"Have it serve?" in output) == (code, True), output
    assert place.served() == (list(range(1, 10)) if response == "y" else [4, 5, 6, 8, 9, 10, 11, 12, 20])


def test_fields_that_differ_are_shown(place: Place) -> None:
    first = place.load(items(1))["index"]
    for name in (first, products_of(first)):
        place.client.indices.put_mapping(index=name, body={"properties": {"wear": {"type": "keyword"}}})
    place.load(items(1))
    changes = place.json("rollback", "--platform", "730", "--dry-run")["changes"]
    assert changes["definition"] == "unexpected wear, products.wear"


def test_a_load_that_swaps_in_meanwhile_ends_the_rollback(place: Place) -> None:
    place.load(items(1))
    place.load(items(2))
    platform = read_platforms().by_reference("730")
    assert platform is not None
    rollback = Rollback(place.client, platform, place.alias, read_definition())
    preview = rollback.preview(None)
    place.load(items(3))
    with pytest.raises(CommandError, match="look again"):
        rollback.run(None, None, print, {}, preview=preview)
    assert place.served() == [1, 2, 3]


def test_a_generation_that_was_never_finished_does_not_serve_without_its_alias_either(place: Place) -> None:
    """A snapshot may be restored without aliases."""
    place.load(items(1))
    unfinished = f"{place.alias}-20200101000000000-{read_definition().fingerprint}"
    create_generation(place.client, unfinished)
    place.client.indices.put_settings(index=unfinished, body={"index": {"refresh_interval": "-1"}})
    report = place.json("rollback", "--platform", "730", "--to", unfinished, code=1)
    assert "never filled to its end" in report["error"]
    assert place.served() == [1]
