"""Reads CSV: one record a row, with the number of the line on which the row begins.

The header names the columns as responses do, parts with dots: `id,name,price,details.weapon,paint.float,attachments`.
An empty cell is an absent value; `attachments` holds a JSON array. A map accepts any header, and cells are then text.
"""

import csv
import re
from collections import deque
from collections.abc import Iterator
from typing import Any, Self

import orjson

from indexer.documents.checked_item import json_names
from indexer.documents.refusal import ItemRefusedError, Refusal, shortened
from indexer.sources.records import MAX_ITEM_BYTES, Record, SourceError, nest, numbered_lines
from mappings.items.item import Details, GearItem, Paint

MAX_ROW_LINES = 100  # a quote too many may take thousands for one row
_INTEGER_COLUMNS = {"id", "paint.seed", "paint.index", "paint.pattern"}
_NUMBER_COLUMNS = {"price", "paint.float"}
# More digits than any valid number has; longer ones stay text, which the validation then names.
_INTEGER = re.compile(r"-?\d{1,40}", re.ASCII)
_NUMBER = re.compile(r"-?\d{1,400}(?:\.\d{1,400})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_FORMATS = {"header": "CSV", "schema": "Parquet"}


def columns() -> tuple[str, ...]:
    """Every column that a header may name."""
    parts = {"details": json_names(Details), "paint": json_names(Paint)}
    names: list[str] = []
    for name in json_names(GearItem):
        names += [f"{name}.{inner}" for inner in parts[name]] if name in parts else [name]
    return (*names, "listedAt")  # which sources have beside the fields of a response


def csv_rows(chunks: Iterator[bytes], *, mapped: bool = False) -> Iterator[Record]:
    """The rows below the header; raises SourceError for a column named twice or, unless `mapped`, an unknown one.

    A row of several lines that cannot be read is refused by its first line, and the others are read anew: a quote too
    many in one cell costs its own line alone.
    """
    csv.field_size_limit(MAX_ITEM_BYTES)  # of the whole process; the module has no other way, and nobody else reads CSV
    lines = _Lines(chunks)
    rows = csv.reader(lines, strict=True)
    header: list[str] | None = None
    while True:
        lines.begin()
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            if header is None:
                raise SourceError(f"line {lines.first}: is no CSV header ({error})") from error
            yield lines.refuse(f"Invalid CSV: {error}")
            continue
        if not row:
            continue
        if header is None:
            header = checked_columns(row, "header", mapped=mapped)
        elif lines.taken > MAX_ROW_LINES:
            yield lines.refuse(f"has more than {MAX_ROW_LINES} lines: is a quote not closed?")
        elif len(row) != len(header):
            yield lines.refuse(f"has {len(row)} cells, the header has {len(header)}")
        else:
            cells = {column: cell for column, cell in zip(header, row, strict=True) if cell != ""}
            yield Record(lines.first, cells if mapped else _values(cells))


class _Lines:
    """The lines of a CSV source, from which the reader takes as many for a row as it has."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._unread = numbered_lines(chunks)
        self._again: deque[tuple[int, str]] = deque()
        self._row: list[tuple[int, str]] = []

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        if self._again:
            self._row.append(self._again.popleft())
        else:
            number, line = next(self._unread)
            if line is None:
                raise SourceError(f"line {number}: is longer than {MAX_ITEM_BYTES:,} bytes")
            # bytes that are not UTF-8 become lone surrogates, which the validation refuses with the column's name
            self._row.append((number, line.decode("utf-8", "surrogateescape") + "\n"))
        return self._row[-1][1]

    def begin(self) -> None:
        """The next line is the first of a row."""
        self._row.clear()

    @property
    def first(self) -> int:
        return self._row[0][0]

    @property
    def taken(self) -> int:
        return len(self._row)

    def refuse(self, reason: str) -> Record:
        """The row refused for this reason, by its first line; the others are read anew."""
        (first, _), *others = self._row
        self._again.extendleft(reversed(others))
        extent = f" (lines {first} to {others[-1][0]} were read as one row)" if others else ""
        return Record(first, ItemRefusedError.of_item(f"{reason}{extent}"))


def checked_columns(names: list[str], where: str, *, mapped: bool) -> list[str]:
    """The names of a header or schema (`where`); raises SourceError where a table of items cannot have them."""
    if len(set(names)) != len(names):
        raise SourceError(f"names a column twice in its {where}: {shortened(','.join(names))}")
    if mapped:
        return names
    column_names = columns()
    unknown = [name for name in names if name not in column_names]
    if unknown:
        raise SourceError(
            f"is read as {_FORMATS[where]}, and its {where} names unknown columns: {shortened(', '.join(unknown))}; "
            f"the columns are {', '.join(column_names)}{', separated by commas' if where == 'header' else ''}; "
            "a catalogue in another shape needs --map"
        )
    missing = [name for name in ("id", "name") if name not in names]
    if missing:
        raise SourceError(f"has no column {' and no column '.join(missing)} in its {where}")
    return names


def _values(cells: dict[str, str]) -> dict[str, Any] | ItemRefusedError:
    values: dict[str, Any] = {}
    for column, cell in cells.items():
        try:
            values[column] = typed_cell(column, cell)
        except orjson.JSONDecodeError as error:
            return ItemRefusedError((Refusal(column, shortened(cell), f"Invalid JSON: {error}"),))
    return nest(values)


def typed_cell(column: str, cell: str) -> Any:
    """The value of a text in this column; raises JSONDecodeError where it must be JSON and is not."""
    if column in _INTEGER_COLUMNS and _INTEGER.fullmatch(cell):
        return int(cell)
    if column in _NUMBER_COLUMNS and _NUMBER.fullmatch(cell):
        return float(cell)
    if column == "attachments":
        return orjson.loads(cell)
    return cell
