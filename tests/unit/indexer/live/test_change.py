"""Changes as they are read, and the later of two by their times."""

import time

import pytest

from indexer.documents.refusal import ItemRefusedError
from indexer.live.change import UNDATED, Batch, Change, ReadChange, checked_version, delete_of, upsert_of
from mappings.platforms import read_platforms

(CS2,) = read_platforms()


@pytest.mark.parametrize(
    ("line", "change"),
    [
        (b" 7 ", Change(7, None)),
        (b"-9223372036854775808", Change(-(2**63), None)),
        (b'{"id": 7, "name": "whatever"}', Change(7, None)),
        ({"id": 7, "changedAt": None}, Change(7, None)),
        (b'{"id": 7, "changedAt": "1970-01-01T00:00:01.0000019Z"}', Change(7, None, 1_000_001)),
    ],
)
def test_a_delete_is_an_id_or_an_object_with_one(line: bytes, change: Change) -> None:
    assert delete_of(line) == change


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (b"seven", None),
        (b"7.0", "id"),
        (b"true", "id"),
        (b"9223372036854775808", "id"),
        (b'{"id": 7, "changedAt": 7}', "changedAt"),
        (ItemRefusedError.of_item("no such line"), None),
    ],
)
def test_what_is_no_delete_is_refused(line: bytes, field: str | None) -> None:
    with pytest.raises(ItemRefusedError) as refused:
        delete_of(line)
    assert refused.value.refusals[0].field == field


def test_an_item_may_be_a_little_ahead_of_the_clock() -> None:
    def at(seconds: float) -> int:
        utc_time = time.gmtime(time.time() + seconds)
        text = time.strftime("%Y-%m-%dT%H:%M:%SZ", utc_time)
        return upsert_of({"id": 1, "name": "a", "changedAt": text}, CS2).version

    assert not upsert_of(b'{"id": 1, "name": "a"}', CS2).is_dated
    assert at(3) > time.time_ns() // 1000
    with pytest.raises(ItemRefusedError, match="changedAt: must be at most 5 seconds ahead of the clock here"):
        at(60)


def test_a_time_in_other_units_is_refused_as_the_number_that_it_is() -> None:
    with pytest.raises(ItemRefusedError) as refused:
        checked_version(1_796_000_000_000_000_000)
    assert refused.value.refusals[0].value == "1796000000000000000 microseconds since 1970"


def test_the_first_moment_of_1970_is_a_time() -> None:
    change = delete_of({"id": 7, "changedAt": "1970-01-01T00:00:00Z"})
    assert (change.version, change.is_dated) == (0, True)


def test_of_two_changes_in_a_batch_the_later_one_stays() -> None:
    def batched(*versions: int) -> tuple[int, int]:
        batch = Batch()
        for line, version in enumerate(versions):
            batch.add(ReadChange("", line, Change(1, None, version)))
        return batch.reads[1].line, batch.superseded

    assert batched(5, 6) == (1, 1)
    assert batched(6, 5) == (0, 1)
    assert batched(6, 6) == (1, 1), "the last of one time"
    assert batched(6, UNDATED) == (1, 1), "without a time it is now"
    assert batched(UNDATED, 6) == (0, 1)
    assert batched(UNDATED, UNDATED, UNDATED) == (2, 2)
