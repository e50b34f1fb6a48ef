"""The digest of an item: equal where content and key are, and made by nobody who lacks the key."""

from hypothesis import given
from hypothesis import strategies as st

from mappings.items.digest import PARTS, content_digest, parts_of

KEY, OTHER = b"k" * 32, b"o" * 32
ITEM = b'{"id":1,"price":2.5}'


def test_each_part_of_the_content_and_the_key_count() -> None:
    digests = {
        content_digest(ITEM, None, 730),
        content_digest(ITEM, None, 730, KEY),
        content_digest(ITEM, None, 730, OTHER),
        content_digest(ITEM, None, 440, KEY),
        content_digest(ITEM, 5, 730, KEY),
        content_digest(ITEM, 6, 730, KEY),
        content_digest(b'{"id":1,"price":2.4}', None, 730, KEY),
    }
    assert len(digests) == 7


def test_without_a_key_it_is_that_of_indices_loaded_before() -> None:
    assert content_digest(ITEM, None, 730) == content_digest(ITEM, None, 440) == 0x3A97CCB25CBE6CDB


@given(st.binary(), st.integers(0, 2**63 - 1))
def test_the_parts_are_the_whole(item: bytes, listed_at: int) -> None:
    digest = content_digest(item, listed_at, 2**31 - 1, KEY)
    assert int("".join(f"{part:04x}" for part in parts_of(digest)), 16) == digest
    assert len(PARTS) == len(parts_of(digest))
