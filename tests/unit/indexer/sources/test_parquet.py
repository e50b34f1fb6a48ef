"""Parquet gives the same items as the other formats, row by row, in flat memory."""

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from arro3.core import DataType, Field, Schema
from arro3.io import read_json, write_parquet

from indexer.documents.checked_item import checked_item
from indexer.documents.refusal import ItemRefusedError
from indexer.sources.item_map import read_item_map
from indexer.sources.mapping import Mapper
from indexer.sources.parquet import BATCH_ROWS, parquet_rows
from indexer.sources.records import SourceError
from indexer.sources.source import Source

ATTACHED = DataType.struct([Field("id", DataType.int64()), Field("name", DataType.utf8())])
TYPES = {
    "id": DataType.int64(),
    "name": DataType.utf8(),
    "price": DataType.decimal128(12, 2),
    "listedAt": DataType.timestamp("ns", tz="UTC"),
    "details": DataType.struct([Field("weapon", DataType.utf8()), Field("exterior", DataType.utf8())]),
    "paint.float": DataType.float64(),
    "paint.seed": DataType.uint16(),
    "attachments": DataType.list(Field("element", ATTACHED)),
}
ITEMS: list[dict[str, Any]] = [
    {
        "id": 1,
        "name": "★ 龍王",
        "price": 1.5,
        "listedAt": "2026-01-02T03:04:05.123456789Z",
        "details": {"weapon": "AK-47"},
        "paint": {"float": 0.125, "seed": 5},
        "attachments": [{"id": 9, "name": "a"}, {"name": "b"}],
    },
    {"id": 2**63 - 1, "name": "two\nlines"},
    {"id": -5, "name": "c", "price": 20, "listedAt": "1970-01-01T00:00:00Z", "paint": {"float": 1.0, "seed": 65535}},
]
ROWS: list[dict[str, Any]] = [
    {**{name: value for name, value in item.items() if name != "paint"}, "paint.float": None, "paint.seed": None}
    | {f"paint.{name}": value for name, value in item.get("paint", {}).items()}
    for item in ITEMS
]


def written(path: Path, rows: list[dict[str, Any]] = ROWS, types: dict[str, DataType] = TYPES, group: int = 2) -> str:
    """A file with the columns that the first row has."""
    schema = Schema([Field(name, kind) for name, kind in types.items() if any(name in row for row in rows)])
    text = io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode())
    write_parquet(read_json(text, schema), path, compression="zstd(1)", max_row_group_size=group)
    return str(path)


def records(name: str, mapper: Mapper | None = None) -> list[tuple[int, Any]]:
    with Source(name, mapper) as source:
        rows = [(line, content) for line, content in source.records()]
        assert source.size is None or 0 < source.position <= source.size
        return rows


@pytest.mark.parametrize("name", ["items.parquet", "named otherwise"])
def test_rows_are_items_with_their_numbers(name: str, tmp_path: Path) -> None:
    rows = records(written(tmp_path / name))
    assert [line for line, _ in rows] == [1, 2, 3]
    assert [checked_item(content) for _, content in rows] == [checked_item(item) for item in ITEMS]


def test_a_stream_stays_until_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = Path(written(tmp_path / "a")).read_bytes()

    class Stdin:
        buffer = io.BytesIO(data)

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert len(records("-")) == len(ITEMS)


def test_many_rows_come_in_their_order_from_a_file_that_is_read_bit_by_bit(tmp_path: Path) -> None:
    count = 5 * BATCH_ROWS
    rows = [{"id": number, "name": f"item {number}"} for number in range(count)]
    written(tmp_path / "a", rows, group=BATCH_ROWS * 2)
    positions = set()
    with Source(str(tmp_path / "a")) as source:
        for number, record in enumerate(source.records()):
            assert record == (number + 1, {"id": number, "name": f"item {number}"})
            positions.add(source.position)
    assert len(positions) > 1


def test_timestamps_without_an_offset_are_refused_by_the_field(tmp_path: Path) -> None:
    types = {**TYPES, "listedAt": DataType.timestamp("us")}
    row = {"id": 1, "name": "a", "listedAt": "2026-01-02T03:04:05.5"}
    ((_, content),) = records(written(tmp_path / "a", [row], types))
    with pytest.raises(ItemRefusedError, match=r"listedAt: .*RFC 3339") as caught:
        checked_item(content)
    assert caught.value.refusals[0].value == "2026-01-02T03:04:05.5"


def test_values_of_another_type_are_refused_by_the_field(tmp_path: Path) -> None:
    types = {"id": DataType.float64(), "name": DataType.binary(), "price": DataType.float32()}
    ((_, content),) = records(written(tmp_path / "a", [{"id": 1.5, "name": "61", "price": 0.5}], types))
    with pytest.raises(ItemRefusedError) as caught:
        checked_item(content)
    assert [refusal.field for refusal in caught.value.refusals] == ["id", "name"]


def test_other_columns_need_a_map(tmp_path: Path) -> None:
    types = {"nr": DataType.int64(), "info": DataType.struct([Field("title", DataType.utf8())])}
    name = written(tmp_path / "a", [{"nr": 7, "info": {"title": "a"}}], types)
    with pytest.raises(SourceError, match=r"read as Parquet, and its schema names unknown columns: nr, info;.*--map"):
        records(name)
    (tmp_path / "map.toml").write_text('[fields]\nid = "nr"\nname = "info.title"\n')
    assert records(name, Mapper(read_item_map(tmp_path / "map.toml"))) == [(1, {"id": 7, "name": "a"})]


def test_columns_that_say_a_thing_twice_are_an_error(tmp_path: Path) -> None:
    types = {**TYPES, "details.weapon": DataType.utf8()}
    name = written(tmp_path / "a", [{"id": 1, "name": "a", "details": {"weapon": "b"}, "details.weapon": "c"}], types)
    with pytest.raises(SourceError, match=r"has details\.weapon twice"):
        records(name)
    with pytest.raises(SourceError, match="has no column name in its schema"):
        records(written(tmp_path / "b", [{"id": 1}]))


def test_a_file_that_is_not_whole_is_an_error(tmp_path: Path) -> None:
    data = Path(written(tmp_path / "a")).read_bytes()
    for length in (4, 10, 200, len(data) - 1):
        (tmp_path / "cut").write_bytes(data[:length])
        with pytest.raises(SourceError, match="cut: begins as Parquet but does not end so"):
            records(str(tmp_path / "cut"))


def test_a_file_that_is_broken_inside_is_an_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    data = bytearray(Path(written(tmp_path / "a")).read_bytes())
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for place, message in ((30, "cannot be read"), (footer + 5, "is no readable Parquet file|cannot be read")):
        broken = bytearray(data)
        broken[place : place + 25] = b"\xff" * 25
        (tmp_path / "broken").write_bytes(broken)
        with pytest.raises(SourceError, match=message):
            records(str(tmp_path / "broken"))
    capfd.readouterr()


def test_parquet_in_another_compression_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress(Path(written(tmp_path / "a")).read_bytes()))
    with pytest.raises(SourceError, match="unpack it"):
        records(str(tmp_path / "a.parquet.gz"))


def test_without_the_library_it_is_said_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = written(tmp_path / "a")
    monkeypatch.setitem(sys.modules, "arro3.io", None)
    with pytest.raises(SourceError, match=r"pip install '\.\[parquet\]'"):
        records(name)


def test_timestamps_outside_of_the_calendar_are_refused_not_guessed(tmp_path: Path) -> None:
    types = {**TYPES, "listedAt": DataType.timestamp("s", tz="UTC")}
    name = written(tmp_path / "a", [{"id": 1, "name": "a", "listedAt": 2**62}], types)
    with Path(name).open("rb") as file:
        (record,) = list(parquet_rows(file))
    assert isinstance(record.content, dict)
    with pytest.raises(ItemRefusedError, match="listedAt"):
        checked_item(record.content)
