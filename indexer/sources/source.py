"""Opens a file, stdin or URL and reads its records, whatever the format and compression.

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
from contextlib import AbstractContextManager, ExitStack, contextmanager
from io import BufferedReader, FileIO
from itertools import chain
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import BinaryIO, Protocol, cast

import zstandard

from indexer.documents.refusal import Refusal
from indexer.sources.csv import csv_rows
from indexer.sources.http import HttpFile, Say, is_url, redacted_url, silent
from indexer.sources.json_array import array_items
from indexer.sources.json_object import object_items
from indexer.sources.mapping import Mapper
from indexer.sources.parquet import MAGIC, parquet_rows
from indexer.sources.records import BLANKS, MAX_ITEM_BYTES, Record, SourceError, json_lines, whole_json_lines

CHUNK_BYTES = 256 * 1024
# zstd may turn one byte into thousands, so it is fed in small pieces.
ZSTD_CHUNK_BYTES = 16 * 1024
# 128 MiB, the window of `zstd --long`.
MAX_ZSTD_WINDOW = 1 << 27

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_UTF_8_BOM = b"\xef\xbb\xbf"
_UTF_16_BOMS = (b"\xff\xfe", b"\xfe\xff")


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Source(AbstractContextManager["Source"]):
    """A file, a URL, or stdin for `-`: `size` in bytes (None: unknown), `position` is the bytes read so far."""

    def __init__(self, name: str, mapper: Mapper | None = None, say: Say = silent) -> None:
        self.name = shown_name(name)
        self.position = 0
        self.size: int | None = None
        self._say = say
        self._mapper = mapper
        self._magic = b""
        self._opened = ExitStack()
        try:
            self._raw = self._open(name)
        except OSError as error:
            raise SourceError(f"{self.name}: cannot be read: {error.strerror}") from error
        except SourceError as error:
            raise SourceError(f"{self.name}: {error}") from error

    def _open(self, name: str) -> "BinaryIO | BufferedReader | HttpFile":
        if name == "-":
            if sys.stdin is None:
                raise SourceError("is closed")
            return sys.stdin.buffer
        if is_url(name):
            remote = self._opened.enter_context(HttpFile(name, self._say))
            self.size = remote.size
            return remote
        raw = self._opened.enter_context(BufferedReader(FileIO(name)))
        if Path(name).is_file():
            self.size = Path(name).stat().st_size
        return raw

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def read(self, size: int = CHUNK_BYTES) -> bytes:
        """Up to `size` bytes as they are stored, maybe compressed; empty at the end."""
        if self._magic:
            data, self._magic = self._magic[:size], self._magic[size:]
            return data
        data = self._raw.read(size)
        self.position += len(data)
        return data

    def records(self) -> Iterator[Record]:
        """Every item in order; raises SourceError where the source is truncated or in no known format."""
        with self._errors_named():
            records = self._records()
            yield from records if self._mapper is None else map(self._mapper.apply, records)

    def lines(self) -> Iterator[Record]:
        """Every line that is not blank, of whatever format; raises SourceError where the source is truncated."""
        with self._errors_named():
            self._read_magic()
            yield from json_lines(_without_bom(self._decompressed()))

    @contextmanager
    def _errors_named(self) -> Iterator[None]:
        try:
            yield
        except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
            raise SourceError(f"{self.name}: cannot be read to its end, is it complete? ({error})") from error
        except SourceError as error:
            raise SourceError(f"{self.name}: {error}") from error

    def with_source_names(self, refusals: tuple[Refusal, ...]) -> tuple[Refusal, ...]:
        """The refusals of an item, with the source's own names of the fields where a map gives them."""
        return refusals if self._mapper is None else self._mapper.with_source_names(refusals)

    def _read_magic(self) -> None:
        self._magic = self._raw.read(len(_ZSTD))
        self.position = len(self._magic)

    def _records(self) -> Iterator[Record]:
        self._read_magic()
        if self._magic == MAGIC:
            return self._parquet()
        first, chunks = _first_byte(_without_bom(self._decompressed()))
        return self._parse(first, chunks)

    def _parse(self, first: bytes, chunks: Iterator[bytes]) -> Iterator[Record]:
        plain_name = self.name.lower().removesuffix("?…").removesuffix(".gz").removesuffix(".zst")
        is_table = plain_name.endswith(".csv")
        if self._mapper is not None and not is_table:
            place = self._mapper.item_map.source
            if place.items or place.key is not None:
                return object_items(chunks, place.items, place.key)
        if first == b"[" and not is_table:
            return array_items(chunks)
        if plain_name.endswith((".ndjson", ".jsonl", ".json")) or (first == b"{" and not is_table):
            return whole_json_lines(chunks)
        return csv_rows(chunks, mapped=self._mapper is not None)

    def _parquet(self) -> Iterator[Record]:
        """The rows of Parquet, which needs random access: anything but a file is copied to one first."""
        mapped = self._mapper is not None
        if self.size is not None and isinstance(self._raw, BufferedReader):
            for record in parquet_rows(self._raw, mapped=mapped):
                self.position = self._raw.tell()
                yield record
            return
        with tempfile.TemporaryFile() as copy:
            self._say(f"{self.name}: is Parquet, which is copied to {tempfile.gettempdir()} while it is read")
            shutil.copyfileobj(self, copy, CHUNK_BYTES)
            yield from parquet_rows(cast(BinaryIO, copy), mapped=mapped)

    def _decompressed(self) -> Iterator[bytes]:
        name = self.name.lower().removesuffix("?…")
        if self._magic.startswith(_GZIP):
            return _gunzip(self)
        if self._magic == _ZSTD:
            return zstd_pieces(self)
        if name.endswith((".gz", ".zst")):
            raise SourceError("its name says compressed, its content does not; is it empty or cut off?")
        return iter(self.read, b"")


def _gunzip(source: Source) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=cast(BinaryIO, source), mode="rb") as stream:  # it needs read() only
        while chunk := stream.read(CHUNK_BYTES):
            yield chunk


def zstd_pieces(source: Readable, max_window: int = MAX_ZSTD_WINDOW) -> Iterator[bytes]:
    """The content of one zstd frame or several; raises ZstdError, and EOFError where the last one is cut off."""
    decompressor = zstandard.ZstdDecompressor(max_window_size=max_window)
    frame = decompressor.decompressobj()
    while data := source.read(ZSTD_CHUNK_BYTES):
        while data:
            if frame.eof:
                frame = decompressor.decompressobj()
            if plain := frame.decompress(data):
                yield plain
            data = frame.unused_data if frame.eof else b""
    if not frame.eof:
        raise EOFError("the zstd data is truncated")


def _without_bom(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Drops a UTF-8 byte order mark; refuses UTF-16, and Parquet that was compressed once more."""
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= len(_UTF_8_BOM):
            break
    if head.startswith(_UTF_16_BOMS):
        raise SourceError("is UTF-16; convert it to UTF-8")
    if head.startswith(MAGIC):
        raise SourceError("is Parquet within another compression; unpack it, Parquet is compressed in itself")
    yield head.removeprefix(_UTF_8_BOM)
    yield from chunks


def _first_byte(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first byte that is no blank, and all chunks: skipped blanks count as lines."""
    skipped = b""
    for chunk in chunks:
        skipped += chunk
        if text := skipped.lstrip(BLANKS):
            return text[:1], chain((skipped,), chunks)
        if len(skipped) > MAX_ITEM_BYTES:
            raise SourceError("begins with more than 4 MiB of blanks")
    return b"", iter((skipped,))


def shown_name(name: str) -> str:
    """The name of a source without the secrets that a URL may hold, and without bytes that are no text."""
    shown = redacted_url(name) if is_url(name) else name
    return shown.encode("utf-8", "backslashreplace").decode()


def expand_patterns(names: Sequence[str]) -> tuple[str, ...]:
    """Replaces each pattern (`part-*.ndjson.gz`, `**` for any folders) by its files in order.

    A file of exactly that name goes first. Raises SourceError for a pattern that matches nothing.
    """
    expanded: list[str] = []
    for name in names:
        if name == "-" or is_url(name) or not glob.has_magic(name) or _mode(name) is not None:
            expanded.append(name)
            continue
        paths = glob.glob(name, recursive=True)  # noqa: PTH207  # Path.glob takes no pattern from the root on
        matches = sorted(path for path in paths if not Path(path).is_dir())
        if not matches:
            raise SourceError(f"{name}: no file matches this pattern")
        expanded += matches
    return tuple(expanded)


def _mode(name: str) -> int | None:
    """The mode of a file; None where there is none, or it may not be seen."""
    try:
        return Path(name).stat().st_mode
    except OSError:  # whoever opens it says why
        return None


def total_size(names: Sequence[str], say: Say = silent) -> int | None:
    """The bytes of all sources, None where one is unknown; raises SourceError for one that cannot be opened."""
    if names.count("-") > 1:
        raise SourceError("stdin (-) can be read once only")
    total = 0
    has_size = True
    for name in names:
        mode = _mode(name)
        if name == "-" or (mode is not None and not S_ISREG(mode) and not S_ISDIR(mode)):
            has_size = False  # a pipe must not be opened twice
            continue
        with Source(name, say=say) as source:
            if is_url(name):
                say(f"{source.name}: {'size unknown' if source.size is None else f'{source.size:,} bytes'}")
            has_size = has_size and source.size is not None
            total += source.size or 0
    return total if has_size else None
