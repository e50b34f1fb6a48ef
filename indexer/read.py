"""Reading: a file or stdin in, its items with their line numbers out, whatever the format and the compression.

Formats are NDJSON, one JSON array, and CSV; each plain, gzip or zstd. Memory does not grow with the source.
"""

import gzip
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from io import BufferedReader, FileIO
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, cast

import zstandard

from indexer.array import array_items
from indexer.lines import BLANKS, MOST_ITEM_BYTES, SourceError, numbered_lines, too_long
from indexer.record import Record
from indexer.table import table_rows

CHUNK_BYTES = 256 * 1024
# zstd may turn one byte into thousands, so it is fed in small pieces.
ZSTD_CHUNK_BYTES = 16 * 1024
# The largest zstd window that is accepted, 128 MiB: what `zstd --long` makes.
ZSTD_MOST_WINDOW = 1 << 27

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_UTF_8_MARK = b"\xef\xbb\xbf"
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class Source:
    """One file, or stdin for `-`: `size` bytes in all (None: not known), `position` bytes read so far."""

    def __init__(self, name: str) -> None:
        self.name = name.encode("utf-8", "backslashreplace").decode()  # names of files may be any bytes
        self.position = 0
        self.size: int | None = None
        self._head = b""
        self._opened = ExitStack()
        try:
            if name == "-":
                self._raw: BinaryIO | BufferedReader = sys.stdin.buffer
                return
            self._raw = self._opened.enter_context(BufferedReader(FileIO(name)))
            if Path(name).is_file():
                self.size = Path(name).stat().st_size
        except OSError as error:
            message = f"{name}: cannot be read: {error.strerror}"
            raise SourceError(message) from error

    def __enter__(self) -> "Source":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._opened.close()

    def read(self, size: int = CHUNK_BYTES) -> bytes:
        """Up to `size` bytes as they are stored; empty at the end."""
        if self._head:
            data, self._head = self._head[:size], self._head[size:]
            return data
        data = self._raw.read(size)
        self.position += len(data)
        return data

    def records(self) -> Iterator[Record]:
        """Every item in order; raises SourceError where the source breaks off or is no readable format."""
        try:
            chunks = _without_mark(self._plain())
            first, chunks = _first_byte(chunks)
            yield from self._parsed(first, chunks)
        except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
            message = f"{self.name}: cannot be read to its end, is it complete? ({error})"
            raise SourceError(message) from error
        except SourceError as error:
            message = f"{self.name}: {error}"
            raise SourceError(message) from error

    def _parsed(self, first: bytes, chunks: Iterator[bytes]) -> Iterator[Record]:
        plain_name = self.name.lower().removesuffix(".gz").removesuffix(".zst")
        is_table = plain_name.endswith(".csv")
        if first == b"[" and not is_table:
            return array_items(chunks)
        if plain_name.endswith((".ndjson", ".jsonl", ".json")) or (first == b"{" and not is_table):
            return _json_lines(chunks)
        return table_rows(chunks)

    def _plain(self) -> Iterator[bytes]:
        self._head = self._raw.read(len(_ZSTD))
        self.position = len(self._head)
        name = self.name.lower()
        if self._head.startswith(_GZIP):
            return _gunzipped(self)
        if self._head == _ZSTD:
            return _unzstandarded(self)
        if name.endswith((".gz", ".zst")):
            message = "its name says compressed, its content does not; is it empty or cut off?"
            raise SourceError(message)
        return iter(self.read, b"")


def _gunzipped(source: Source) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=cast(BinaryIO, source), mode="rb") as stream:  # it needs read() only
        while chunk := stream.read(CHUNK_BYTES):
            yield chunk


def _unzstandarded(source: Source) -> Iterator[bytes]:
    decompressor = zstandard.ZstdDecompressor(max_window_size=ZSTD_MOST_WINDOW)
    frame = decompressor.decompressobj()
    while data := source.read(ZSTD_CHUNK_BYTES):
        while data:
            if frame.eof:
                frame = decompressor.decompressobj()
            if plain := frame.decompress(data):
                yield plain
            data = frame.unused_data if frame.eof else b""
    if not frame.eof:
        message = "the zstd data breaks off"
        raise EOFError(message)


def _without_mark(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Drops a byte order mark of UTF-8; refuses UTF-16."""
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= len(_UTF_8_MARK):
            break
    if head.startswith(_UTF_16_MARKS):
        message = "is UTF-16; convert it to UTF-8"
        raise SourceError(message)
    yield head.removeprefix(_UTF_8_MARK)
    yield from chunks


def _first_byte(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first byte that is no blank, and all chunks from the one that has it; what is skipped keeps its lines."""
    skipped = b""
    for chunk in chunks:
        skipped += chunk
        if text := skipped.lstrip(BLANKS):
            return text[:1], _chained(skipped, chunks)
        if len(skipped) > MOST_ITEM_BYTES:
            message = "begins with more than 4 MiB of blanks"
            raise SourceError(message)
    return b"", iter((skipped,))


def _chained(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _json_lines(chunks: Iterator[bytes]) -> Iterator[Record]:
    for number, line in numbered_lines(chunks):
        if line is None:
            yield Record(number, too_long())
        elif line and not line.isspace():
            yield Record(number, line)


def total_size(names: Sequence[str]) -> int | None:
    """The bytes of all files, None where one is a stream; raises SourceError for one that cannot be opened."""
    if names.count("-") > 1:
        message = "stdin (-) can be read once only"
        raise SourceError(message)
    total = 0
    known = True
    for name in names:
        path = Path(name)
        if name == "-" or (path.exists() and not path.is_file() and not path.is_dir()):
            known = False  # a pipe must not be opened twice
            continue
        with Source(name) as source:
            total += source.size or 0
    return total if known else None
