"""What a load goes on from is acknowledged up to there, in whatever order the answers come."""

from hypothesis import given
from hypothesis import strategies as st

from indexer.documents.digest import Checksum
from indexer.loading.committed_offset import LowWater, Mark


@given(st.permutations(range(8)), st.sets(st.integers(0, 7)))
def test_only_what_has_no_gap_before_it_is_reached(order: list[int], refused: set[int]) -> None:
    """Chunks of ten items; each third one was superseded once."""
    read = 0
    heard: list[Mark] = []
    low_water = LowWater(lambda: Mark(read, Checksum(read)), heard.append)
    for number in range(8):
        read += 10
        assert low_water.sent() == number
    done: set[int] = set()
    for number in order:
        if number in refused:
            continue
        low_water.acknowledged(number, int(number % 3 == 0))
        done.add(number)
        whole = next(one for one in range(9) if one not in done)
        if whole:
            assert heard[-1] == Mark(whole * 10, Checksum(whole * 10), (whole + 2) // 3)
        else:
            assert heard == []
    assert [mark.read for mark in heard] == sorted({mark.read for mark in heard})
