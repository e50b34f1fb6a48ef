"""Reads the body of a write: NDJSON or a JSON array of items, plain, gzip or zstd, in bounded memory."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final

import zstandard
from fastapi import Request

from api.errors import ApiError, invalid
from api.http.json_body import media_type_of, read_body
from indexer.live.change import RefusedChange
from indexer.sources.json_array import array_items
from indexer.sources.records import BLANKS, Record, json_lines
from indexer.sources.source import zstd_pieces

MAX_BODY_BYTES: Final = 8 * 1024**2  # as sent, and unpacked
MAX_ITEMS: Final = 5_000
JSON: Final = "application/json"
NDJSON: Final = "application/x-ndjson"
ENCODINGS: Final = ("identity", "gzip", "zstd")
_TOO_LARGE: Final = f"the body is larger than {MAX_BODY_BYTES:,} bytes, as it is or unpacked: send it in parts"


@dataclass(frozen=True)
class SentBody:
    content: bytes
    encoding: str
    media_type: str

    def unpacked(self) -> bytes:
        """The content without its encoding; raises ApiError `body_too_large`, `invalid_json`."""
        try:
            plain = _UNPACKED_BY[self.encoding](self.content)
        except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
            raise ApiError("invalid_json", f"the body is no complete {self.encoding} ({error})") from error
        if len(plain) > MAX_BODY_BYTES:
            raise ApiError("body_too_large", _TOO_LARGE)
        return plain


def refused_row(refused: RefusedChange) -> dict[str, Any]:
    """The entry of a response: the first rule with its field, and the others behind it."""
    first, *others = refused.refusals
    reason = "; ".join([first.reason, *(f"{other.field}: {other.reason}" for other in others)])
    return {"line": refused.line, "id": refused.id, "field": first.field, "reason": reason}


async def body_sent(request: Request, *media_types: str) -> SentBody:
    """The body of a request; raises ApiError `body_too_large`, `unsupported_media_type`."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ENCODINGS:
        message = f"send the body with Content-Encoding gzip or zstd, or without, not {encoding[:100]!r}"
        raise ApiError("unsupported_media_type", message)
    media_type = media_type_of(request)
    if media_type not in media_types:
        message = f"send {' or '.join(media_types)}, not {media_type[:100] or 'an undeclared type'!r}"
        raise ApiError("unsupported_media_type", message)
    return SentBody(await read_body(request, MAX_BODY_BYTES, _TOO_LARGE), encoding, media_type)


def records_of(sent: SentBody) -> Iterator[Record]:
    """The items of a body, unread; raises ApiError where it is no list, and SourceError for what is no JSON."""
    plain = sent.unpacked()
    text = plain.lstrip(BLANKS)
    if not text:
        raise ApiError("invalid_json", "the body is empty")
    if sent.media_type == NDJSON:
        return json_lines(iter((plain,)))
    if not text.startswith(b"["):
        raise invalid("items", f"must be a JSON array of items; send lines of JSON as {NDJSON}")
    return array_items(iter((plain,)))


def _gunzip(content: bytes) -> bytes:
    with gzip.GzipFile(fileobj=BytesIO(content)) as stream:
        return stream.read(MAX_BODY_BYTES + 1)


def _unzstd(content: bytes) -> bytes:
    plain = bytearray()
    for piece in zstd_pieces(BytesIO(content), MAX_BODY_BYTES):
        plain += piece
        if len(plain) > MAX_BODY_BYTES:
            break
    return bytes(plain)


_UNPACKED_BY: Final[dict[str, Callable[[bytes], bytes]]] = {"identity": bytes, "gzip": _gunzip, "zstd": _unzstd}
