"""What a rollback takes back is said before it happens."""

import os
import subprocess
import sys
from typing import Any

import pytest

from indexer.maintenance import comparison
from tests.support.indexer.fixtures import Place, items, lines


def _two_loads(place: Place) -> tuple[str, str]:
    """1 to 9, then 4 to 12 with another price for 5; then 6 is changed live, 7 deleted and 20 put in."""
    first = place.load(items(9))["index"]
    second = place.load([{**one, "price": 99} if one["id"] == 5 else one for one in items(9, first=4)])["index"]
    changed = [{"id": 6, "name": "changed", "price": 1}, {"id": 20, "name": "new", "price": 1}]
    place.json("upsert", "-", "--platform", "730", "--quiet", stdin=lines(changed))
    place.json("delete", "7", "--platform", "730", "--quiet")
    place.client.indices.refresh(index=second)
    return first, second


def test_what_changes_is_told_before_the_rollback(place: Place) -> None:
    first, second = _two_loads(place)
    told = place.json("rollback", "--platform", "730", "--dry-run")
    assert told["swapped"] is False
    changes = told["changes"]
    numbers = {name: changes[name] for name in ("vanish", "appear", "differ", "changedLive")}
    assert numbers == {"vanish": 4, "appear": 4, "differ": 2, "changedLive": 2}
    assert (changes["serving"]["index"], changes["serving"]["items"]) == (second, 9)
    assert (changes["target"]["index"], changes["target"]["items"]) == (first, 9)
    assert changes["target"]["loadedAt"] < changes["serving"]["loadedAt"] or first < second
    assert place.served() == [4, 5, 6, 8, 9, 10, 11, 12, 20]
    result = place.run("rollback", "--platform", "730", "--json")
    assert result.exit_code == 0, result.output
    assert "4 items vanish, 4 appear again, 2 have another content" in result.stderr
    assert "2 items were changed live since the load" in result.stderr
    assert place.served() == list(range(1, 10))
    back = place.json("rollback", "--platform", "730", "--to", second)
    assert back["changes"]["vanish"] == 4
    assert place.served() == [4, 5, 6, 8, 9, 10, 11, 12, 20]


@pytest.mark.parametrize(("answer", "code"), [("n", 1), ("y", 0)])
def test_on_a_terminal_it_asks_first(place: Place, answer: str, code: int) -> None:
    _two_loads(place)
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "indexer.cli.main", "rollback", "--platform", "730"]
    environment = {**place.environment, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, env=environment, stdin=theirs, stderr=subprocess.PIPE, cwd=place.folder) as process:
        os.close(theirs)
        os.write(ours, f"{answer}\n".encode())
        _, said = process.communicate(timeout=60)
        os.close(ours)
    assert (process.returncode, b"Have it serve?" in said) == (code, True), said
    assert place.served() == (list(range(1, 10)) if answer == "y" else [4, 5, 6, 8, 9, 10, 11, 12, 20])


def test_very_large_ones_are_told_in_sums(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "MOST_COMPARED", 17)
    _two_loads(place)
    changes = place.json("rollback", "--platform", "730", "--dry-run")["changes"]
    assert {name: changes[name] for name in ("vanish", "appear", "differ", "changedLive")} == {
        "vanish": None,
        "appear": None,
        "differ": None,
        "changedLive": 2,
    }


def test_pages_of_both_sides_are_read_to_their_ends(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "PAGE", 3)
    _two_loads(place)
    changes: dict[str, Any] = place.json("rollback", "--platform", "730", "--dry-run")["changes"]
    assert (changes["vanish"], changes["appear"], changes["differ"]) == (4, 4, 2)


def test_a_load_that_swaps_in_meanwhile_ends_the_rollback(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.load(items(1))
    place.load(items(2))
    compare = comparison.compare

    def and_load(*arguments: Any) -> comparison.Comparison:
        told = compare(*arguments)
        place.load(items(3))
        return told

    monkeypatch.setattr("indexer.maintenance.upkeep.compare", and_load)
    error = place.json("rollback", "--platform", "730", code=1)["error"]
    assert "look again" in error
    assert place.served() == [1, 2, 3]
