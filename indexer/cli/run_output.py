"""Runs `gear-indexer export` and `sample`, which write listings to a file or stdout, compressed by the file's name."""

import gzip
import secrets
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import zstandard

from indexer.cli.context import Interruption, command_result, index_of, platform_command, say
from indexer.errors import CommandError
from indexer.maintenance.export import Export
from indexer.sample.catalogue import read_catalogue
from indexer.sample.generator import Sampler


def run_export(platform: str, *, output: Path | None, quiet: bool, as_json: bool) -> None:
    named = None if output is None else str(output)
    with platform_command(platform, as_json=as_json, output=named) as (index, result):
        result.update({"alias": index.alias, "complete": False})
        export = Export(index.connected(), index.alias)
        began = time.monotonic()
        try:
            result["bytes"] = write_pieces(export.pieces(), output)
            result["complete"] = True
        finally:
            seconds = round(time.monotonic() - began, 3)
            result.update({"items": export.items, "expected": export.expected, "seconds": seconds})
        if not quiet:
            say(f"{export.items:,} items of {index.alias} in {seconds:,.1f} s")


def run_sample(count: int, seed: int, *, catalogue: Path, platform: str, output: Path | None, as_json: bool) -> None:
    result: dict[str, Any] = {"count": count, "seed": seed, "output": None if output is None else str(output)}
    with command_result(result, as_json=as_json):
        began = time.monotonic()
        sampler = Sampler(read_catalogue(catalogue), index_of(platform).platform, seed)
        result["bytes"] = write_pieces(sampler.batches(count), output)
        result["seconds"] = round(time.monotonic() - began, 3)


def write_pieces(pieces: Iterable[bytes], output: Path | None) -> int:
    """Writes the pieces; returns their bytes before compression.

    A file appears under its name only when it is complete; what an interruption leaves of it is removed.
    """
    total = 0
    try:
        with Interruption().watched(), _target(output) as target:
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
