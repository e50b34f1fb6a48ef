"""Reading: a file, stdin or address in, its items with their line numbers out, whatever the format and compression.

Formats are NDJSON, one JSON array, CSV and Parquet, the first three plain, gzip or zstd; with a map also items within
a JSON object. Memory does not grow with the source.
"""

import glob
import gzip
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import BufferedReader, FileIO
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, cast

import zstandard

from indexer.documents.document import Fault
from indexer.sources.csv import table_rows
from indexer.sources.http import Say, WebFile, is_address, shown_address, silent
from indexer.sources.json_array import array_items
from indexer.sources.lines import BLANKS, MOST_ITEM_BYTES, SourceError, numbered_lines, too_long
from indexer.sources.mapping import Mapper
from indexer.sources.nested import nested_items
from indexer.sources.parquet import MAGIC, parquet_rows
from indexer.sources.record import Record

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
    """One file, address, or stdin for `-`: `size` bytes in all (None: not known), `position` bytes read so far."""

    def __init__(self, name: str, mapper: Mapper | None = None, say: Say = silent) -> None:
        # names of files may be any bytes, addresses may hold secrets
        self.name = shown_address(name) if is_address(name) else name.encode("utf-8", "backslashreplace").decode()
        self.position = 0
        self.size: int | None = None
        self._say = say
        self._mapper = mapper
        self._head = b""
        self._opened = ExitStack()
        try:
            self._raw = self._open(name)
        except OSError as error:
            message = f"{self.name}: cannot be read: {error.strerror}"
            raise SourceError(message) from error
        except SourceError as error:
            message = f"{self.name}: {error}"
            raise SourceError(message) from error

    def _open(self, name: str) -> "BinaryIO | BufferedReader | WebFile":
        if name == "-":
            return sys.stdin.buffer
        if is_address(name):
            web = self._opened.enter_context(WebFile(name, self._say))
            self.size = web.size
            return web
        raw = self._opened.enter_context(BufferedReader(FileIO(name)))
        if Path(name).is_file():
            self.size = Path(name).stat().st_size
        return raw

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
        with self._explained():
            found = self._found()
            yield from found if self._mapper is None else map(self._mapper.mapped, found)

    def lines(self) -> Iterator[Record]:
        """Every line that is not blank, whatever is in it; raises SourceError where the source breaks off."""
        with self._explained():
            self._begin()
            yield from _json_lines(_without_mark(self._plain()))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
            message = f"{self.name}: cannot be read to its end, is it complete? ({error})"
            raise SourceError(message) from error
        except SourceError as error:
            message = f"{self.name}: {error}"
            raise SourceError(message) from error

    def explained(self, faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
        """Faults of an item of this source, with the source's own names for the fields where a map gives them."""
        return faults if self._mapper is None else self._mapper.explained(faults)

    def _begin(self) -> None:
        self._head = self._raw.read(len(_ZSTD))
        self.position = len(self._head)

    def _found(self) -> Iterator[Record]:
        self._begin()
        if self._head == MAGIC:
            return self._rows()
        first, chunks = _first_byte(_without_mark(self._plain()))
        return self._parsed(first, chunks)

    def _parsed(self, first: bytes, chunks: Iterator[bytes]) -> Iterator[Record]:
        plain_name = self.name.lower().removesuffix("?…").removesuffix(".gz").removesuffix(".zst")
        is_table = plain_name.endswith(".csv")
        if self._mapper is not None and not is_table:
            place = self._mapper.item_map.source
            if place.items or place.key is not None:
                return nested_items(chunks, place.items, place.key)
        if first == b"[" and not is_table:
            return array_items(chunks)
        if plain_name.endswith((".ndjson", ".jsonl", ".json")) or (first == b"{" and not is_table):
            return _json_lines(chunks)
        return table_rows(chunks, ours=self._mapper is None)

    def _rows(self) -> Iterator[Record]:
        """The rows of Parquet, which must be read here and there: what is no file becomes one first."""
        ours = self._mapper is None
        if self.size is not None and isinstance(self._raw, BufferedReader):
            for record in parquet_rows(self._raw, ours=ours):
                self.position = self._raw.tell()
                yield record
            return
        with tempfile.TemporaryFile() as kept:
            self._say(f"{self.name}: is Parquet, which is kept in {tempfile.gettempdir()} while it is read")
            shutil.copyfileobj(self, kept, CHUNK_BYTES)
            yield from parquet_rows(cast(BinaryIO, kept), ours=ours)

    def _plain(self) -> Iterator[bytes]:
        name = self.name.lower().removesuffix("?…")
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
    """Drops a byte order mark of UTF-8; refuses UTF-16, and Parquet that was compressed once more."""
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= len(_UTF_8_MARK):
            break
    if head.startswith(_UTF_16_MARKS):
        message = "is UTF-16; convert it to UTF-8"
        raise SourceError(message)
    if head.startswith(MAGIC):
        message = "is Parquet within another compression; unpack it, Parquet is compressed in itself"
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


def expanded(names: Sequence[str]) -> tuple[str, ...]:
    """The names with each pattern (`part-*.ndjson.gz`, `**` for any folders) replaced by its files in order.

    A file of that very name is meant where there is one. Raises SourceError for a pattern that matches nothing.
    """
    found: list[str] = []
    for name in names:
        if name == "-" or is_address(name) or not glob.has_magic(name) or Path(name).exists():
            found.append(name)
            continue
        matched = glob.glob(name, recursive=True)  # noqa: PTH207  # Path.glob takes no pattern from the root on
        matches = sorted(match for match in matched if not Path(match).is_dir())
        if not matches:
            message = f"{name}: no file matches this pattern"
            raise SourceError(message)
        found += matches
    return tuple(found)


def total_size(names: Sequence[str], say: Say = silent) -> int | None:
    """The bytes of all sources, None where one does not tell; raises SourceError for one that cannot be opened."""
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
        with Source(name, say=say) as source:
            if is_address(name):
                say(f"{source.name}: {'size not told' if source.size is None else f'{source.size:,} bytes'}")
            known = known and source.size is not None
            total += source.size or 0
    return total if known else None
