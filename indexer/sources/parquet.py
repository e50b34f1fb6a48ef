"""Reads Parquet: one record a row, with the number of the row, a few rows in memory at a time.

Columns are those of CSV (`details.weapon`), or structs (`details`) and, for `attachments`, lists of structs. A null is
an absent value. Timestamps are exact to the nanosecond.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any, BinaryIO

from indexer.documents.timestamps import iso_without_offset
from indexer.sources.csv import checked_columns
from indexer.sources.records import Record, SourceError, nest

if TYPE_CHECKING:
    from arro3.core import Array, Field, RecordBatchReader

MAGIC = b"PAR1"
BATCH_ROWS = 1024
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # a second
_STRUCTS = ("details", "paint")


def parquet_rows(file: BinaryIO, *, mapped: bool = False) -> Iterator[Record]:
    """Every row from 1; raises SourceError for an unreadable file or, unless `mapped`, an unknown column."""
    reader = _open(file)
    names = list(reader.schema.names)
    doubled = [name for name in names if name.partition(".")[0] in names and "." in name]
    if doubled and not mapped:
        struct = doubled[0].partition(".")[0]
        raise SourceError(f"has {doubled[0]} twice in its schema: as a column and within the struct {struct}")
    checked_columns([name for name in names if mapped or name not in _STRUCTS], "schema", mapped=mapped)
    row = 0
    while True:
        with _as_source_error(f"row {row + 1:,} or one soon after it cannot be read"):
            batch = next(reader, None)
        if batch is None:
            return
        columns = [_values(batch.schema.field(number), batch.column(number)) for number in range(batch.num_columns)]
        for cells in zip(*columns, strict=True):
            row += 1
            values = {name: cell for name, cell in zip(names, cells, strict=True) if cell is not None}
            yield Record(row, values if mapped else nest(values))


def _open(file: BinaryIO) -> "RecordBatchReader":
    try:
        from arro3.io import read_parquet
    except ImportError as error:
        message = "is Parquet, which this installation cannot read: pip install '.[parquet]' in the checkout"
        raise SourceError(message) from error
    _check_ends(file)
    with _as_source_error("is no readable Parquet file"):
        return read_parquet(file, batch_size=BATCH_ROWS)


def _check_ends(file: BinaryIO) -> None:
    """Checks the footer first: without it the library writes to the process's stderr."""
    size = file.seek(0, 2)
    file.seek(max(0, size - 8))
    tail = file.read(8)
    file.seek(0)
    if tail[4:] != MAGIC or not 0 < int.from_bytes(tail[:4], "little") <= size - 12:
        raise SourceError("begins as Parquet but does not end so: is it complete?")


@contextmanager
def _as_source_error(failure: str) -> Iterator[None]:
    """Raises the library's errors as SourceError. They are plain `Exception`s, or `PanicException`, which is no
    `Exception` and cannot be imported.
    """
    try:
        yield
    except BaseException as error:
        name = type(error).__name__
        if name in ("Exception", "PanicException") or isinstance(error, OSError | ValueError):
            raise SourceError(f"{failure}: {(str(error).splitlines() or [name])[0]}") from error
        raise


def _values(field: "Field", column: "Array") -> list[Any]:
    from arro3.core import DataType

    if DataType.is_timestamp(field.type):
        # as Python's own datetimes these would lose what is finer than a microsecond
        ticks = column.cast(DataType.int64()).to_pylist()
        unit = _TICKS[str(field.type.time_unit)]
        zone = "" if field.type.tz is None else "Z"
        return [None if tick is None else _timestamp(tick, unit) + zone for tick in ticks]
    return [_json_value(value) for value in column.to_pylist()]


def _timestamp(ticks: int, unit: int) -> str:
    """The timestamp as RFC 3339 without an offset; the bare number outside of the years that it can write."""
    try:
        return iso_without_offset(ticks, unit)
    except OverflowError:
        return str(ticks)


def _json_value(value: Any) -> Any:
    """The value as JSON has it, without the nulls of structs, which are absent values."""
    if isinstance(value, dict):
        return {name: _json_value(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_json_value(inner) for inner in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value
