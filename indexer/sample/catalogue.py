"""Reads the catalogue, and writes listings or exports to a file or stdout."""

import gzip
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson
import zstandard

from indexer.errors import CommandError
from indexer.sources.source import Source

_NEEDED = ("name", "type", "weapon", "exterior", "paintIndex", "minFloat", "maxFloat", "image", "price")


def read_catalogue(path: Path) -> list[dict[str, Any]]:
    """All rows; raises CommandError where one is no row, SourceError where the file cannot be read."""
    rows = []
    with Source(str(path)) as source:
        for line, content in source.records():
            try:
                row = orjson.loads(content) if isinstance(content, bytes) else None
            except orjson.JSONDecodeError:
                row = None
            missing = [key for key in _NEEDED if not isinstance(row, dict) or key not in row]
            if row is None or missing:
                message = f"{path}, line {line}: is no catalogue row; a row is an object with {', '.join(_NEEDED)}"
                raise CommandError(message)
            rows.append(row)
    if not rows:
        message = f"{path} has no rows to make listings of"
        raise CommandError(message)
    return rows


def written(pieces: Iterable[bytes], output: Path | None) -> int:
    """Writes the pieces; returns their bytes before compression.

    A file appears under its name only when it is complete.
    """
    total = 0
    try:
        with _target(output) as target:
            for piece in pieces:
                target.write(piece)
                total += len(piece)
    except OSError as error:
        if output is None:
            raise  # a reader of stdout that has gone: the command line knows what to do
        message = f"{output} cannot be written: {error.strerror}"
        raise CommandError(message) from error
    return total


@contextmanager
def _target(output: Path | None) -> Iterator[BinaryIO]:
    if output is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    part = output.with_name(f"{output.name}.part")
    try:
        with part.open("wb") as raw, _compressed(raw, output) as target:
            yield target
        part.replace(output)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _compressed(raw: BinaryIO, output: Path) -> Iterator[BinaryIO]:
    """Compresses by the file's name, with nothing of the time or the name in it: same listings, same bytes."""
    if output.name.endswith(".gz"):
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0) as packed:
            yield cast(BinaryIO, packed)  # a file for writing in all but its declared type
    elif output.name.endswith(".zst"):
        with zstandard.ZstdCompressor().stream_writer(raw, closefd=False) as stream:
            yield stream
    else:
        yield raw
