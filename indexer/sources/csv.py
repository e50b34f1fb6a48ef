"""CSV: chunks of bytes in, the values of each row's item with its line number out.

The header names the columns as answers do, parts with dots: `id,name,price,details.weapon,paint.float,attachments`.
An empty cell is an absent value; `attachments` holds a JSON array. With a map any header will do; cells are then text.
"""

import csv
import re
from collections.abc import Iterator
from typing import Any

import orjson
from pydantic import BaseModel

from indexer.documents.document import Fault, ItemRefusedError, LoadedItem, shortened
from indexer.sources.lines import MOST_ITEM_BYTES, SourceError, numbered_lines
from indexer.sources.record import Record
from mappings.item import Details, Paint

_WHOLE_COLUMNS = {"id", "paint.seed", "paint.index", "paint.pattern"}
_NUMBER_COLUMNS = {"price", "paint.float"}
# More digits than any valid number has; longer ones stay text, which the validation then names.
_WHOLE = re.compile(r"-?\d{1,40}", re.ASCII)
_NUMBER = re.compile(r"-?\d{1,400}(?:\.\d{1,400})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
# What a table's columns are named in: the format.
FORMATS = {"header": "CSV", "schema": "Parquet"}


def columns() -> tuple[str, ...]:
    """Every column that a header may name."""
    parts: dict[str, type[BaseModel]] = {"details": Details, "paint": Paint}
    found: list[str] = []
    for name, field in LoadedItem.model_fields.items():
        shown = field.alias or name
        inner = parts.get(shown)
        if inner is None:
            found.append(shown)
        else:
            found += [f"{shown}.{below.alias or key}" for key, below in inner.model_fields.items()]
    return tuple(found)


def table_rows(chunks: Iterator[bytes], *, ours: bool = True) -> Iterator[Record]:
    """The rows below the header; raises SourceError where it names a column twice, or one that is not `ours`."""
    csv.field_size_limit(MOST_ITEM_BYTES)
    rows = csv.reader(_texts(chunks), strict=True)
    header: list[str] | None = None
    while True:
        line = rows.line_num + 1
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            if header is None:
                message = f"line {line}: is no CSV header ({error})"
                raise SourceError(message) from error
            yield Record(line, _broken(line, rows.line_num, error))
            continue
        if not row:
            continue
        if header is None:
            header = checked_columns(row, "header", ours=ours)
            continue
        yield Record(line, _values(header, row) if ours else _cells(header, row))


def _texts(chunks: Iterator[bytes]) -> Iterator[str]:
    for number, line in numbered_lines(chunks):
        if line is None:
            message = f"line {number}: is longer than {MOST_ITEM_BYTES:,} bytes"
            raise SourceError(message)
        # bytes that are not UTF-8 become lone surrogates, which the validation refuses with the column's name
        yield line.decode("utf-8", "surrogateescape") + "\n"


def _broken(line: int, last: int, error: csv.Error) -> ItemRefusedError:
    extent = f" (lines {line} to {last} were read as this row)" if last > line else ""
    return ItemRefusedError((Fault(None, None, f"Invalid CSV: {error}{extent}"),))


def checked_columns(names: list[str], where: str, *, ours: bool) -> list[str]:
    """The names as they are; raises SourceError where they are not such as a table of items has in its `where`."""
    if len(set(names)) != len(names):
        message = f"names a column twice in its {where}: {shortened(','.join(names))}"
        raise SourceError(message)
    if not ours:
        return names
    known = columns()
    unknown = [name for name in names if name not in known]
    if unknown:
        message = (
            f"is read as {FORMATS[where]}, and its {where} names unknown columns: {shortened(', '.join(unknown))}; "
            f"the columns are {', '.join(known)}{', separated by commas' if where == 'header' else ''}; "
            "a catalogue in another shape needs --map"
        )
        raise SourceError(message)
    missing = [name for name in ("id", "name") if name not in names]
    if missing:
        message = f"has no column {' and no column '.join(missing)} in its {where}"
        raise SourceError(message)
    return names


def _cells(header: list[str], row: list[str]) -> dict[str, Any] | ItemRefusedError:
    if len(row) != len(header):
        return ItemRefusedError((Fault(None, None, f"has {len(row)} cells, the header has {len(header)}"),))
    return {column: cell for column, cell in zip(header, row, strict=True) if cell != ""}


def _values(header: list[str], row: list[str]) -> dict[str, Any] | ItemRefusedError:
    cells = _cells(header, row)
    if isinstance(cells, ItemRefusedError):
        return cells
    values: dict[str, Any] = {}
    for column, cell in cells.items():
        try:
            value = typed_cell(column, cell)
        except orjson.JSONDecodeError as error:
            return ItemRefusedError((Fault(column, shortened(cell), f"Invalid JSON: {error}"),))
        part, dot, name = column.partition(".")
        if dot:
            values.setdefault(part, {})[name] = value
        else:
            values[part] = value
    return values


def typed_cell(column: str, cell: str) -> Any:
    """The value that a text in this column stands for; raises JSONDecodeError where it is to be JSON and is not."""
    if column in _WHOLE_COLUMNS and _WHOLE.fullmatch(cell):
        return int(cell)
    if column in _NUMBER_COLUMNS and _NUMBER.fullmatch(cell):
        return float(cell)
    if column == "attachments":
        return orjson.loads(cell)
    return cell
