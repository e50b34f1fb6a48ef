"""Every duplicate id of a catalogue is found, and no other is taken for one, however the ids are scattered."""

import tempfile
from io import FileIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import CommandError
from indexer.loading.deduplicate import IdSet
from mappings.items.item import MAX_INTEGER, MIN_INTEGER


def small_id_set() -> IdSet:
    """Runs of eight ids."""
    return IdSet(run_ids=8)


IDS = st.integers(MIN_INTEGER, MAX_INTEGER) | st.integers(0, 30) | st.sampled_from((MIN_INTEGER, MAX_INTEGER))


@given(st.lists(IDS, max_size=80))
def test_an_id_is_new_exactly_once(numbers: list[int]) -> None:
    added: set[int] = set()
    with small_id_set() as ids:
        for number in numbers:
            assert ids.add(number) == (number not in added)
            added.add(number)


def test_ids_that_share_a_mark_are_distinguished() -> None:
    """Every one of these has the mark 0: only the ids themselves tell."""
    same = [(high << 32) | (high * 0x9E3779B1 & 0xFFFFFFFF) for high in range(60)]
    with small_id_set() as ids:
        assert all(ids.add(number) for number in same)
        assert not any(ids.add(number) for number in same)
        assert all(ids.add(number + 1) for number in same)


def test_ids_in_any_order_over_many_runs() -> None:
    numbers = [number * 7919 % 1000 * 10**15 - 5 * 10**17 for number in range(1000)]
    with small_id_set() as ids:
        assert all(ids.add(number) for number in numbers)
        assert not any(ids.add(number) for number in reversed(numbers))


def test_a_full_disk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: FileIO("/dev/full", "r+"))
    with small_id_set() as ids:
        for number in range(7):
            assert ids.add(number)
        with pytest.raises(CommandError, match=r"No space left on device.*TMPDIR"):
            ids.add(7)
