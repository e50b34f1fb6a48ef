"""Names of indices: sorted by age as text, and what is not a generation of an alias is never taken for one."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mappings.names import (
    alias_of_generation,
    generation_name,
    generation_of,
    generation_pattern,
    locks_alias,
    locks_index,
    parse_generation,
    products_of,
    tombstones_alias,
    tombstones_index,
)

TIMESTAMPS = st.datetimes(timezones=st.just(UTC)).filter(lambda timestamp: timestamp.year >= 1970)
FINGERPRINTS = st.text("0123456789abcdef", min_size=8, max_size=8)


def in_milliseconds(timestamp: datetime) -> datetime:
    return timestamp.replace(microsecond=timestamp.microsecond // 1000 * 1000)


@given(TIMESTAMPS, FINGERPRINTS)
def test_a_generation_names_its_alias(timestamp: datetime, fingerprint: str) -> None:
    name = generation_name("my-gear-730", timestamp, fingerprint)
    assert alias_of_generation(name) == "my-gear-730"
    assert alias_of_generation(products_of(name)) is None, "it is the products of one"


@given(TIMESTAMPS, FINGERPRINTS)
def test_a_name_says_when_and_with_which_definition_its_index_was_made(timestamp: datetime, fingerprint: str) -> None:
    name = generation_name("gear-730", timestamp, fingerprint)
    generation = parse_generation("gear-730", name)
    assert generation is not None
    assert (generation.created_at, generation.fingerprint, generation.index) == (
        in_milliseconds(timestamp),
        fingerprint,
        name,
    )


@given(TIMESTAMPS, TIMESTAMPS, FINGERPRINTS)
def test_names_sort_by_age(first: datetime, other: datetime, fingerprint: str) -> None:
    names = [generation_name("gear-730", timestamp, fingerprint) for timestamp in (first, other)]
    assert (names[0] < names[1]) == (in_milliseconds(first) < in_milliseconds(other))


def test_generations_sort_by_age_whatever_their_fingerprint() -> None:
    older = parse_generation("gear-1", "gear-1-20260101000000000-ffffffff")
    newer = parse_generation("gear-1", "gear-1-20260101000000001-00000000")
    assert older is not None
    assert newer is not None
    assert older < newer


def test_a_timestamp_of_another_zone_is_named_in_utc() -> None:
    zone = timezone(timedelta(hours=2))
    timestamp = datetime(2026, 8, 1, 1, 30, 0, 999_999, tzinfo=zone)
    assert generation_name("gear-730", timestamp, "0123abcd") == "gear-730-20260731233000999-0123abcd"


@pytest.mark.parametrize(
    "index",
    [
        "gear-730",
        "gear-730-",
        "gear-7300-20260101000000000-0123abcd",
        "gear-73-20260101000000000-0123abcd",
        "other-gear-730-20260101000000000-0123abcd",
        "gear-730-eu-20260101000000000-0123abcd",
        "gear-730-20260101000000000-0123ABCD",
        "gear-730-20260101000000000-0123abc",
        "gear-730-20260101000000000-0123abcde",
        "gear-730-2026010100000000-0123abcd",
        "gear-730-20261301000000000-0123abcd",
        "gear-730-20260230000000000-0123abcd",
        "gear-730-20260101000000000-0123abcd\n",
        "gear-730-20260101000000000-0123abcd-old",
        "gear-730-٢٠٢٦٠١٠١٠٠٠٠٠٠٠٠٠-0123abcd",
        "",
    ],
)
def test_foreign_names_are_no_generations(index: str) -> None:
    assert parse_generation("gear-730", index) is None


def test_a_pattern_finds_all_generations_of_an_alias() -> None:
    assert generation_pattern("gear-730") == "gear-730-*"


def test_the_locks_of_all_platforms_share_an_index_that_is_no_generation() -> None:
    assert locks_alias("my-gear-730") == locks_alias("my-gear-440") == "my-gear-locks"
    assert locks_index("my-gear-730") == "my-gear-locks-v1"
    assert parse_generation("my-gear-730", locks_index("my-gear-730")) is None


def test_the_record_of_deletes_belongs_to_an_alias_and_is_no_generation() -> None:
    assert tombstones_alias("gear-730") == "gear-730-deletes"
    assert tombstones_index("gear-730") == "gear-730-deletes-v1"
    assert parse_generation("gear-730", tombstones_index("gear-730")) is None


def test_products_are_named_after_their_generation_and_are_none() -> None:
    name = generation_name("gear-730", datetime(2026, 1, 2, tzinfo=UTC), "00000000")
    assert (products_of("gear-730"), products_of(name)) == ("gear-730-products", f"{name}-products")
    assert generation_of(products_of(name)) == generation_of(name) == name
    assert parse_generation("gear-730", products_of(name)) is None
