"""Two decoders, one rule: what the fast one takes, the other takes with the same values, whatever was written."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from indexer.documents.checked_item import LoadedItem, checked_item, fast_decoded
from indexer.documents.refusal import ItemRefusedError
from mappings.items.item import MAX_INTEGER, MIN_INTEGER

# Texts of JSON values, written in every way that a decoder may read in its own.
ODD_NUMBERS = (
    "-0",
    "1.0",
    "1e0",
    "10E-1",
    "1e400",
    "-1",
    "1.1",
    "1000000000000.01",
    "01",
    "1.",
    ".5",
    "+1",
    "NaN",
    "true",
)
WHOLE = st.integers(MIN_INTEGER, MAX_INTEGER).map(str) | st.sampled_from(("0", "-0", str(MAX_INTEGER)))
SHARES = st.floats(0, 1).map(repr) | st.sampled_from(("0", "1", "-0", "-0.0", "1.0", "1e-400", "5E-324", "0.1e1"))
PRICES = st.floats(0, 10**12).map(repr) | st.sampled_from(("19.99", "1e12", "1000000000000", "0", "100e-2"))
LENGTHS = st.sampled_from((0, 1, 255, 256, 257, 512, 513, 2048, 2049, 10_000, 10_001))
ODD_STRINGS = st.sampled_from(('""', '"\\u0000"', '"\\ud800"', '"\t"', '"\\x"', '"\x00"')) | st.builds(
    lambda letter, length: f'"{letter * length}"', st.sampled_from("龍😀"), LENGTHS
)
WORDS = st.sampled_from(('"a"', '"\\\\u0000"', '"\\ud83d\\ude00"', '"\\u00e9\\n"', '"\x7f"')) | st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=9
).map(lambda text: orjson.dumps(text).decode())
TIMESTAMPS = st.sampled_from(
    ("2026-08-01T10:00:00Z", "2026-08-01t10:00:00.123456789+02:00", "1970-01-01T00:00:00-00:00")
)
ODD_TIMESTAMPS = st.sampled_from(("2026-02-29T00:00:00Z", "2026-08-01T24:00:00Z", "2026-08-01", "2262-01-01T00:00:00Z"))
ODD = (
    st.sampled_from(("null", "[]", "{}", "[1]", '{"name":"a"}', "", "nul", *ODD_NUMBERS))
    | st.integers().map(str)
    | st.floats().map(repr)
    | ODD_STRINGS
    | WORDS
    | ODD_TIMESTAMPS.map(lambda timestamp: f'"{timestamp}"')
)
BLANKS = st.sampled_from(("", "", "", "", "", " ", "\n\t\r "))


def objects(rows: dict[str, st.SearchStrategy[str]], always: tuple[str, ...] = ()) -> st.SearchStrategy[str]:
    """Texts of objects of these keys in any order, now and then twice, absent, unknown or with a wrong value."""

    def pair(key: str) -> st.SearchStrategy[tuple[str, str]]:
        return st.tuples(st.just(key), st.one_of(*[rows[key]] * 16, st.just("null"), ODD))

    strange = st.tuples(st.sampled_from(("colour", "wear", "listed_at", "ID", "")), ODD)
    needed = st.tuples(*(st.tuples(st.just(key), rows[key]) for key in always))
    more = st.lists(st.one_of(*[pair(key) for key in rows] * 3, strange), max_size=6)
    return st.builds(_object, needed, more, BLANKS)


def _object(needed: tuple[tuple[str, str], ...], more: list[tuple[str, str]], blank: str) -> str:
    pairs = [f'{blank}"{key}"{blank}:{blank}{value}' for key, value in (*needed, *more)]
    return f"{blank}{{{','.join(pairs)}{blank}}}{blank}"


PAINT = objects({"float": SHARES, "seed": WHOLE, "index": WHOLE, "pattern": WHOLE})
DETAILS = objects(dict.fromkeys(("type", "weapon", "set", "rarity", "color", "phase"), WORDS))
ATTACHMENT = objects({"id": WHOLE, "name": WORDS, "wear": SHARES, "type": WORDS, "image": WORDS}, always=("name",))
MANY = st.sampled_from((100, 101)).map(lambda count: ['{"name":"a"}'] * count)
ATTACHMENTS = st.one_of(*[st.lists(ATTACHMENT, max_size=3)] * 9, MANY).map(
    lambda attachments: f"[{','.join(attachments)}]"
)
ITEM = {"id": WHOLE, "name": WORDS, "price": PRICES, "image": WORDS, "inspectLink": WORDS, "description": WORDS}
ITEM |= {"details": DETAILS, "paint": PAINT, "attachments": ATTACHMENTS}
ITEM |= {name: TIMESTAMPS.map(lambda timestamp: f'"{timestamp}"') for name in ("listedAt", "changedAt")}
TEXTS = objects(ITEM, always=("id", "name")).map(str.encode)


def loaded(text: bytes) -> LoadedItem | None:
    try:
        return LoadedItem.model_validate_json(text, by_alias=True, by_name=False)
    except ValidationError:
        return None


@given(TEXTS)
def test_what_the_fast_decoder_takes_is_valid_and_read_alike(text: bytes) -> None:
    try:
        item = fast_decoded(text)
    except ValueError:
        return
    other = loaded(text)
    assert other is not None
    assert orjson.loads(item.response) == other.model_dump(by_alias=True, exclude={"listed_at", "changed_at"})
    assert list(orjson.loads(item.response)) == list(
        other.model_dump(by_alias=True, exclude={"listed_at", "changed_at"})
    )
    assert (item.listed_at, item.changed_at) == (other.listed_at, other.changed_at)


@given(TEXTS)
def test_what_it_does_not_take_is_decided_by_the_other(text: bytes) -> None:
    other = loaded(text)
    if other is None:
        with pytest.raises(ItemRefusedError):
            checked_item(text)
        return
    item = checked_item(text)
    assert (item.id, item.name, item.price) == (other.id, other.name, other.price)
    assert item.details.weapon == other.details.weapon
    assert item.paint.wear == other.paint.wear
    assert [attachment.name for attachment in item.attachments] == [attachment.name for attachment in other.attachments]


@given(st.binary(max_size=60))
def test_bytes_of_any_kind_are_refused_and_nothing_else(text: bytes) -> None:
    with pytest.raises(ItemRefusedError):
        checked_item(text)


FULL: dict[str, Any] = {
    "id": 40_000_000_001,
    "name": "StatTrak™ AK-47 | Redline (Field-Tested)",
    "price": 19.9,
    "image": "https://example.com/redline.png",
    "inspectLink": "steam://rungame/730",
    "description": "Fresh from a case.",
    "details": {"type": "Rifle", "weapon": "AK-47", "set": "The Phoenix Collection", "quality": "StatTrak™"},
    "paint": {"float": 0.23123413324356079, "seed": 661, "index": 282, "pattern": 3},
    "attachments": [{"id": 4, "name": "Sticker | Crown (Foil)", "wear": 0, "type": "sticker", "image": None}],
    "listedAt": "2026-08-01T10:00:00.5+02:00",
    "changedAt": "2026-08-01T10:00:01.1234567Z",
}


@pytest.mark.parametrize("absent", [None, *FULL])
def test_every_usual_item_is_taken_by_the_fast_decoder(absent: str | None) -> None:
    """Else a load would be slow and nobody would see why."""
    item = {key: None if key == absent else value for key, value in FULL.items()}
    if absent in ("id", "name"):
        with pytest.raises(ItemRefusedError):
            checked_item(orjson.dumps(item))
        return
    assert fast_decoded(orjson.dumps(item)) == checked_item(item)


def test_both_know_the_same_keys_in_the_same_order() -> None:
    shown = LoadedItem.model_validate(FULL).model_dump(by_alias=True, exclude={"listed_at", "changed_at"})
    assert orjson.loads(fast_decoded(orjson.dumps(FULL)).response) == shown
    assert fast_decoded(orjson.dumps(FULL)).response == orjson.dumps(shown)


def test_what_a_reader_gives_is_json_values_or_its_own_refusal() -> None:
    assert checked_item(b'{"id": 1, "name": "a"}') == checked_item({"id": 1, "name": "a"})
    refusal = ItemRefusedError.of_item("no such line", "x")
    with pytest.raises(ItemRefusedError) as raised:
        checked_item(refusal)
    assert raised.value is refusal
