"""Items anywhere within a JSON object are found one by one, with their lines, however the text is cut into chunks."""

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.documents.refusal import ItemRefusedError
from indexer.sources.json_object import object_items
from indexer.sources.records import MAX_ITEM_BYTES, SourceError

# Integers as JSON in 64 bits has them: larger ones are read as doubles, which no field of an item takes.
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def contents_in(text: bytes, path: list[str], key: str | None = None, size: int = 7) -> list[Any]:
    stream = io.BytesIO(text)
    contents = [record.content for record in object_items(iter(lambda: stream.read(size), b""), path, key)]
    return [json.loads(content) if isinstance(content, bytes) else content for content in contents]


def test_items_below_a_path_with_their_lines() -> None:
    text = b'{"items": [9], "x}": "{[",\n"data": {"n": null, "items":\n[{"a": 1},\n{"b": [1, {}]}], "after": {}}}\n'
    assert contents_in(text, ["data", "items"]) == [{"a": 1}, {"b": [1, {}]}]
    assert [record.line for record in object_items(iter([text]), ["data", "items"], None)] == [3, 4]
    assert contents_in(text, ["items"]) == [9]
    assert contents_in(b'{"items": []}', ["items"]) == []


def test_items_by_name_are_objects_or_plain_values() -> None:
    text = b'{"a \\u2605 \\"b\\"": {"price": 1}, "c": 2.5, "d": null}'
    assert contents_in(text, [], "name") == [
        {"price": 1, "name": 'a ★ "b"'},
        {"value": 2.5, "name": "c"},
        {"value": None, "name": "d"},
    ]
    assert contents_in(b'{"prices": {"c": 2}, "time": 5}', ["prices"], "name") == [{"value": 2, "name": "c"}]
    assert contents_in(b" {} ", [], "name") == []


def test_a_broken_item_is_one_refused_item() -> None:
    broken, intact = contents_in(b'{"a": nope, "b": 1}', [], "name")
    assert isinstance(broken, ItemRefusedError)
    assert intact == {"value": 1, "name": "b"}


def test_pages_may_stand_one_behind_the_other() -> None:
    assert contents_in(b'{"items":[1]}\n{"page":2,"items":[2,3]}\n', ["items"]) == [1, 2, 3]


def test_what_is_beside_the_items_may_be_larger_than_any_item() -> None:
    beside = json.dumps([["x" * 1000] * (MAX_ITEM_BYTES // 900), {}]).encode()
    text = b'{"beside": ' + beside + b', "items": [1]}'
    assert len(beside) > MAX_ITEM_BYTES
    assert contents_in(text, ["items"], size=100_000) == [1]


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        (b'{"data": {}}', ["data", "items"], "line 1: the object that begins here has no 'items'"),
        (b'\n{"item": []}', ["items"], "line 2: the object that begins here has no 'items'"),
        (b"[]", ["items"], "the object with 'items' is expected"),
        (b'{"items": {"a": 1}}', ["items"], "the array of the items is expected"),
        (b'{"items": null}', ["items"], "the array of the items is expected"),
        (b'{"items": [1, 2', ["items"], "breaks off"),
        (b'{"items": [1], "more', ["items"], "breaks off"),
        (b'{"items": [1]', ["items"], "breaks off"),
        (b'{"more": {"a', ["items"], "breaks off"),
        (b"{items: []}", ["items"], "the name of a member"),
    ],
)
def test_an_object_that_is_not_as_the_map_says_is_an_error(text: bytes, path: list[str], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        contents_in(text, path)


@given(st.dictionaries(st.text(max_size=5), JSON_VALUES, max_size=5), st.integers(1, 9), st.booleans())
@settings(max_examples=60, database=None)
def test_members_come_apart_the_same_wherever_the_chunks_end(members: dict[str, Any], size: int, escaped: bool) -> None:
    text = json.dumps(members, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
    expected = [
        {**(value if isinstance(value, dict) else {"value": value}), "k": key} for key, value in members.items()
    ]
    assert contents_in(text, [], "k", size) == expected
    page = json.dumps({"beside": members, "items": list(members.values())}, ensure_ascii=escaped)
    assert contents_in(page.encode("utf-8", "surrogatepass"), ["items"], None, size) == list(members.values())
