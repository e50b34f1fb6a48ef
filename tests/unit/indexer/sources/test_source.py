"""Sources of any format and compression give the same items; what is broken is refused by line, or ends the reading."""

import gzip
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.documents.checked_item import checked_item
from indexer.documents.refusal import ItemRefusedError
from indexer.sources.json_array import array_items
from indexer.sources.records import MAX_ITEM_BYTES, SourceError, numbered_lines
from indexer.sources.source import Source, expand_patterns, total_size

ITEMS: list[dict[str, Any]] = [
    {"id": 1, "name": 'The "[quoted]", {name}\\', "price": 1.5, "details": {"weapon": "AK-47"}},
    {"id": 2, "name": "★ ™ 龍王", "paint": {"float": 0.125, "seed": 5}, "listedAt": "2026-01-01T00:00:00Z"},
    {"id": 3, "name": "two\nlines", "attachments": [{"id": 9, "name": "Sticker | a,b"}, {"name": "c"}]},
]
NDJSON = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in ITEMS).encode()
ARRAY = json.dumps(ITEMS, ensure_ascii=False, indent=1).encode()
CSV = (
    "id,name,price,details.weapon,paint.float,paint.seed,attachments,listedAt\r\n"
    '1,"The ""[quoted]"", {name}\\",1.5,AK-47,,,,\r\n'
    "2,★ ™ 龍王,,,0.125,5,,2026-01-01T00:00:00Z\r\n"
    '3,"two\nlines",,,,,"[{""id"": 9, ""name"": ""Sticker | a,b""}, {""name"": ""c""}]",\r\n'
).encode()

Pack = Callable[[bytes], bytes]
PACKS: dict[str, Pack] = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}


def _read(path: Path) -> list[tuple[int, Any]]:
    with Source(str(path)) as source:
        return [(record.line, record.content) for record in source.records()]


def _items(path: Path) -> list[Any]:
    items = []
    for _, content in _read(path):
        assert not isinstance(content, ItemRefusedError)
        items.append(checked_item(content))
    return items


@pytest.mark.parametrize("packed", PACKS)
@pytest.mark.parametrize(("ending", "text"), [(".ndjson", NDJSON), (".json", ARRAY), (".csv", CSV)])
def test_every_format_and_compression_gives_the_same_items(
    ending: str, text: bytes, packed: str, tmp_path: Path
) -> None:
    expected = [checked_item(item) for item in ITEMS]
    named = tmp_path / f"items{ending}{packed}"
    named.write_bytes(PACKS[packed](text))
    nameless = tmp_path / "items"
    nameless.write_bytes(PACKS[packed](b"\xef\xbb\xbf" + text))
    assert _items(named) == expected
    assert _items(nameless) == expected


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.ndjson").write_bytes(b"\n" + NDJSON.replace(b"\n", b"\n \n"))
    (tmp_path / "a.json").write_bytes(b"\n[\n{},\n\n{\n},{}]\n")
    (tmp_path / "a.csv").write_bytes(b'id,name\n1,a\n2,"b\nc"\n\n3,d\n')
    assert [line for line, _ in _read(tmp_path / "a.ndjson")] == [2, 4, 6]
    assert [line for line, _ in _read(tmp_path / "a.json")] == [3, 5, 6]
    assert [line for line, _ in _read(tmp_path / "a.csv")] == [2, 3, 6]


def test_joined_compressed_parts_are_read_to_the_last(tmp_path: Path) -> None:
    for ending, pack in ((".gz", gzip.compress), (".zst", zstandard.compress)):
        path = tmp_path / f"parts.ndjson{ending}"
        path.write_bytes(pack(NDJSON[:50]) + pack(NDJSON[50:]))
        assert len(_items(path)) == len(ITEMS)


@pytest.mark.parametrize("packed", [".gz", ".zst"])
def test_a_compressed_file_that_was_cut_off_is_an_error(packed: str, tmp_path: Path) -> None:
    compressed = PACKS[packed](os.urandom(300_000).hex().encode())
    for length in (3, len(compressed) // 2, len(compressed) - 1):
        path = tmp_path / f"cut.ndjson{packed}"
        path.write_bytes(compressed[:length])
        with pytest.raises(SourceError, match=r"cut\.ndjson"):
            _read(path)


def test_an_empty_file_named_as_compressed_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "empty.ndjson.gz"
    path.write_bytes(b"")
    with pytest.raises(SourceError, match="empty or cut off"):
        _read(path)


def test_an_empty_file_has_no_items(tmp_path: Path) -> None:
    for name in ("empty.ndjson", "empty.csv", "empty"):
        (tmp_path / name).write_bytes(b"")
        assert _read(tmp_path / name) == []


def test_a_broken_line_is_one_refused_item(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_bytes(b'{"id":1,"name":"a"}\n{"id":2,\n{"id":3,"name":"c"}\n')
    records = _read(path)
    assert len(records) == 3
    with pytest.raises(ItemRefusedError):
        checked_item(records[1][1])
    assert checked_item(records[2][1]).id == 3


def test_a_broken_first_line_does_not_make_ndjson_a_table(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"oops\n" + NDJSON)
    assert len(_read(path)) == 1 + len(ITEMS)


def test_a_line_that_is_too_long_is_one_refused_item() -> None:
    long = b"x" * (MAX_ITEM_BYTES + 1)
    chunks = iter([b"a\n" + long[:1000], long[1000:] + b"y", b"z\nb\n", long])
    assert list(numbered_lines(chunks)) == [(1, b"a"), (2, None), (3, b"b"), (4, None)]


def test_a_line_that_is_too_long_is_refused_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_bytes(b'{"id":1,"name":"' + b"x" * MAX_ITEM_BYTES + b'"}\n' + NDJSON)
    records = _read(path)
    assert isinstance(records[0][1], ItemRefusedError)
    assert len(records) == 1 + len(ITEMS)


def test_a_broken_element_of_an_array_is_one_refused_item() -> None:
    records = list(array_items(iter([b'[{"id":1,"name":nope},{"id":2,"name":"b"}, 5, "x,]", ]'])))
    assert [record.content for record in records][1:4] == [b'{"id":2,"name":"b"}', b"5", b'"x,]"']
    assert len(records) == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'[{"id":1},', "breaks off"),
        (b'[{"id":1}', "breaks off"),
        (b'[{"id":1,"name":"unended}]', "breaks off"),
        (b"[", "breaks off"),
        (b"[{}] {}", "after the end"),
        (b"[}]", "breaks off"),
    ],
)
def test_an_array_that_does_not_end_is_an_error(text: bytes, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        list(array_items(iter([text])))


def test_an_element_that_does_not_end_is_not_held_for_ever() -> None:
    with pytest.raises(SourceError, match="does not end within"):
        list(array_items(iter([b'[{"a":"'] + [b"x" * 1_000_000] * 6)))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(JSON_VALUES, max_size=5), st.integers(1, 9), st.sampled_from([None, 2]), st.booleans())
@settings(max_examples=60, database=None)
def test_arrays_come_apart_the_same_wherever_the_chunks_end(
    values: list[Any], size: int, indent: int | None, escaped: bool
) -> None:
    text = json.dumps(values, indent=indent, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
    stream = io.BytesIO(text)
    contents = [record.content for record in array_items(iter(lambda: stream.read(size), b""))]
    assert [json.loads(content) for content in contents if isinstance(content, bytes)] == values


def test_utf_16_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("id,name\n".encode("utf-16"))
    with pytest.raises(SourceError, match="UTF-16"):
        _read(path)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("id,name,colour", "colour"),
        ("id;name", "separated by commas"),
        ("id,name,name", "twice"),
        ("id,price", "no column name"),
        ("paint.float", "no column id and no column name"),
        ('"id', "no CSV header"),
        ("some text that is no table", "is read as CSV"),
    ],
)
def test_a_header_that_is_not_ours_is_an_error(header: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\n1,a,b\n")
    with pytest.raises(SourceError, match=message):
        _read(path)


def test_a_broken_row_is_one_refused_item(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,name,attachments\n1,a\n2,b,[nope\n3,"c"x,\n4,d,\n5,"open\n6,f,\n')
    records = _read(path)
    reasons = [content.refusals[0] for _, content in records if isinstance(content, ItemRefusedError)]
    assert [line for line, _ in records] == [2, 3, 4, 5, 6, 7]
    assert "has 2 cells, the header has 3" in reasons[0].reason
    assert reasons[1].field == "attachments"
    assert "Invalid CSV" in reasons[2].reason
    assert "lines 6 to 7 were read as one row" in reasons[3].reason
    assert records[3][1] == {"id": 4, "name": "d"}
    assert records[5][1] == {"id": 6, "name": "f"}


@pytest.mark.parametrize("stray", ['"x', '"'])
def test_a_quote_too_many_costs_its_own_line_alone(stray: str, tmp_path: Path) -> None:
    rows = [f"{number},name {number}" for number in range(1, 2001)]
    rows[99] = f"100,{stray}"
    rows[1499] = f"1500,{stray}"
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["id,name", *rows, ""]))
    records = _read(path)
    refused = [line for line, content in records if isinstance(content, ItemRefusedError)]
    assert refused == [101, 1501]
    assert [line for line, _ in records] == list(range(2, 2002))


def test_an_ndjson_file_that_ends_within_an_item_breaks_off(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_bytes(NDJSON[:-5])
    with pytest.raises(SourceError, match="breaks off"):
        _read(path)
    path.write_bytes(NDJSON.rstrip(b"\n"))
    assert _items(path) == [checked_item(item) for item in ITEMS]


def test_numbers_of_a_table_that_are_none_stay_text_and_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,name,price,paint.float\n1.5,a,1_000,0x1\n")
    with pytest.raises(ItemRefusedError) as caught:
        checked_item(_read(path)[0][1])
    assert [refusal.field for refusal in caught.value.refusals] == ["id", "price", "paint.float"]


def test_a_row_longer_than_any_item_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,name\n1," + b"x" * (MAX_ITEM_BYTES + 10) + b"\n")
    with pytest.raises(SourceError, match="line 2: is longer"):
        _read(path)


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.ndjson", tmp_path):
        with pytest.raises(SourceError, match="cannot be read"):
            total_size([str(path)])


def test_the_size_is_known_for_files_and_unknown_for_streams(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_bytes(NDJSON)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert total_size([str(path), str(path)]) == 2 * len(NDJSON)
    assert total_size([str(path), "-"]) is None
    assert total_size([str(pipe)]) is None
    with pytest.raises(SourceError, match="once only"):
        total_size(["-", "-"])


def test_the_position_counts_stored_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson.gz"
    path.write_bytes(gzip.compress(NDJSON))
    with Source(str(path)) as source:
        assert len(list(source.records())) == len(ITEMS)
        assert source.position == source.size == path.stat().st_size


def test_blanks_without_end_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "blank"
    path.write_bytes(b" " * (MAX_ITEM_BYTES + 1_000_000))
    with pytest.raises(SourceError, match="blanks"):
        _read(path)


@pytest.mark.parametrize("name", ["x" * 300, "x" * 300 + "*", "http://[::1/items.ndjson"])
def test_a_name_that_no_file_or_address_can_have_is_an_error(name: str) -> None:
    with pytest.raises(SourceError, match=r"cannot be|no file matches"):
        total_size(expand_patterns([name]))


def test_items_that_compress_to_next_to_nothing_are_read_from_an_array(tmp_path: Path) -> None:
    """A few bytes of zstd may become more than an item may have; each item is still small."""
    items = [{"id": number, "name": os.urandom(16).hex(), "description": "x" * 10_000} for number in range(2_000)]
    path = tmp_path / "a.json.zst"
    path.write_bytes(zstandard.compress(json.dumps(items).encode()))
    assert [item.id for item in _items(path)] == list(range(2_000))


def test_a_broken_item_before_trailing_blanks_is_one_refused_item(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_bytes(NDJSON + b"{broken}\n  ")
    assert [line for line, _ in _read(path)] == [1, 2, 3, 4]


def test_stdin_that_is_closed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)  # as Python has it after `<&-`
    with pytest.raises(SourceError, match="-: is closed"):
        Source("-")
