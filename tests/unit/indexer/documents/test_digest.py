"""The digest: equal for equal items in whatever order, different for any other, and exact however many they are."""

import errno
import tempfile
from collections.abc import Iterable
from io import BufferedRandom, FileIO
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap64

from indexer.documents.digest import Checksum, encode_document
from indexer.errors import CommandError
from indexer.loading.manifest import Manifest, key_of
from mappings.items.digest import PARTS, parts_of
from mappings.items.item import MAX_INTEGER, MIN_INTEGER

HASHES = st.integers(0, 2**64 - 1)
IDS = st.integers(MIN_INTEGER, MAX_INTEGER)


def checksum_of(digests: Iterable[int]) -> Checksum:
    checksum = Checksum()
    for digest in digests:
        checksum.add(digest)
    return checksum


def _document(**other: Any) -> dict[str, Any]:
    return {"platform": 730, "item": b'{"id":1,"name":"a","price":1.5}', "shared": [], "id": 1, "bound": False, **other}


@given(st.lists(HASHES), st.randoms())
def test_the_order_does_not_matter(numbers: list[int], random: Any) -> None:
    shuffled = list(numbers)
    random.shuffle(shuffled)
    assert checksum_of(numbers) == checksum_of(shuffled)


@given(st.lists(HASHES), st.lists(HASHES))
def test_what_is_taken_away_leaves_the_sums_of_the_rest(some: list[int], others: list[int]) -> None:
    assert checksum_of(some + others).without(checksum_of(others)) == checksum_of(some)


@given(st.lists(HASHES, min_size=1), HASHES)
def test_a_lost_an_extra_and_an_altered_item_are_seen(numbers: list[int], other: int) -> None:
    checksum = checksum_of(numbers)
    assert checksum_of(numbers[1:]) != checksum
    assert checksum_of([*numbers, other]) != checksum
    assert (checksum_of([*numbers[1:], other]) == checksum) == (other == numbers[0])


@given(HASHES)
def test_four_parts_are_the_hash_and_the_largest_sum_is_exact_in_a_double(number: int) -> None:
    parts = parts_of(number)
    assert sum(part << shift for part, shift in zip(parts, (48, 32, 16, 0), strict=True)) == number
    assert tuple(checksum_of([number]).parts) == parts
    largest = 0xFFFF * 2**37
    assert float(largest) == largest


def test_the_content_counts_and_when_it_was_written_or_sold_does_not() -> None:
    pieces, digest = encode_document(_document(), 7)
    stored = {"version": 7, "digest": dict(zip(PARTS, parts_of(digest), strict=True)), "platform": 730, "id": 1}
    assert orjson.loads(b"".join(pieces)) == {**stored, "bound": False}
    fewer = encode_document(_document(), 7, fields={"platform", "id"})
    assert orjson.loads(b"".join(fewer.pieces)) == stored, "another definition has no such field"
    assert encode_document({**_document(), "bound": True}, 8).digest == digest
    assert encode_document(_document(listedAt=5), 7).digest != digest
    assert encode_document(_document(item=b'{"id":2,"name":"a","price":1.5}'), 7).digest != digest
    assert encode_document(_document(item=b'{"id":1,"name":"a","price":1.25}'), 7).digest != digest


@given(st.dictionaries(IDS, HASHES), st.data())
def test_expected_without_some_ids_are_the_sums_of_the_others(digests: dict[int, int], data: st.DataObject) -> None:
    ids = st.sets(st.sampled_from(sorted(digests)) | IDS) if digests else st.sets(IDS)
    refused, left_out = data.draw(ids), data.draw(ids)
    with Manifest() as expected:
        for number, digest in digests.items():
            expected.add(number, digest)
            if number in refused:
                expected.refuse(number)
        remaining = [digest for number, digest in digests.items() if number not in refused and number not in left_out]
        assert expected.checksum(BitMap64(key_of(number) for number in left_out)) == checksum_of(remaining)


def test_a_full_disk_is_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: BufferedRandom(FileIO("/dev/full", "r+")))

    def fill() -> None:
        with Manifest() as expected:
            for number in range(10_000):
                expected.add(number, number)

    with pytest.raises(CommandError, match=r"No space left on device.*TMPDIR"):
        fill()


def test_a_temporary_folder_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(CommandError, match=r"No usable temporary directory found.*TMPDIR"):
        Manifest()


def test_a_checksum_is_shown_as_its_four_sums() -> None:
    assert checksum_of([0x0001_0002_0003_FFFF, 1]).digest() == "1-2-3-10000"
