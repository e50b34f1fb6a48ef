"""Writes what a command gives out to a file or stdout, compressed by the file's name."""

import gzip
import secrets
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

from indexer.errors import CommandError


def write_pieces(pieces: Iterable[bytes], output: Path | None) -> int:
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
        raise CommandError(f"{output} cannot be written: {error.strerror}") from error
    return total


@contextmanager
def _target(output: Path | None) -> Iterator[BinaryIO]:
    if output is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    part = output.with_name(f"{output.name}.{secrets.token_hex(4)}.part")  # others may write the same file
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
