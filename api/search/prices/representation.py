"""How a price list is sent: JSON or NDJSON, as it is or compressed, and its entity tag (RFC 9110). Pure."""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from api.http.negotiation import names_taken

SEPARATOR = b",\n"
"""Between two rows. JSON strings have no bare line feed, so it stands nowhere else."""
JSON = "application/json"
NDJSON = "application/x-ndjson"
_GZIP_LEVEL = 6
_GZIP_WINDOW = 16 + zlib.MAX_WBITS  # with a gzip header (RFC 1952)


@dataclass(frozen=True)
class Representation:
    media_type: str
    gzip: bool

    def etag(self, digest: str) -> str:
        """A weak tag: equal for the same rows, whatever their compression."""
        return f'W/"{digest}-{"ndjson" if self.media_type == NDJSON else "json"}"'

    def content(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """The body, from the rows as JSON with `SEPARATOR` between them."""
        content = _as_ndjson(pieces) if self.media_type == NDJSON else _as_json(pieces)
        return _compressed(content) if self.gzip else content


def representation_of(accept: str, accept_encoding: str) -> Representation:
    """What the client prefers: NDJSON where it is named before JSON, gzip where it is taken."""
    media_type = next((name for name in names_taken(accept) if name in (JSON, NDJSON)), JSON)
    return Representation(media_type, "gzip" in names_taken(accept_encoding))


def _as_json(pieces: Iterable[bytes]) -> Iterator[bytes]:
    yield b'{"status":"success","prices":['
    yield from pieces
    yield b"]}"


def _as_ndjson(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest = text = b""
    for piece in pieces:
        text = rest + piece
        rest = text[-1:] if text.endswith(SEPARATOR[:1]) else b""  # the separator may be cut in two
        yield text[: len(text) - len(rest)].replace(SEPARATOR, b"\n")
    if text:
        yield b"\n"


def _compressed(content: Iterable[bytes]) -> Iterator[bytes]:
    compressor = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP_WINDOW)
    for piece in content:
        yield compressor.compress(piece)
    yield compressor.flush()
