"""A load resumes from what is acknowledged without a gap, in whatever order the answers come."""

from hypothesis import given
from hypothesis import strategies as st

from indexer.documents.digest import Checksum
from indexer.loading.resume import CommittedOffset, Offset


@given(st.permutations(range(8)), st.sets(st.integers(0, 7)))
def test_only_what_has_no_gap_before_it_is_committed(order: list[int], refused: set[int]) -> None:
    """Chunks of ten items; each third one was superseded once."""
    read = 0
    committed: list[Offset] = []
    offset = CommittedOffset(lambda: Offset(read, Checksum(read)), committed.append)
    for number in range(8):
        read += 10
        assert offset.sent() == number
    acknowledged: set[int] = set()
    for number in order:
        if number in refused:
            continue
        offset.acknowledged(number, int(number % 3 == 0))
        acknowledged.add(number)
        chunks = next(count for count in range(9) if count not in acknowledged)
        if chunks:
            assert committed[-1] == Offset(chunks * 10, Checksum(chunks * 10), (chunks + 2) // 3)
        else:
            assert committed == []
    assert [offset.read for offset in committed] == sorted({offset.read for offset in committed})
