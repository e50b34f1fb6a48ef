"""Cursors: where a walk over all hits stands in, an opaque text that only this service can make out, and back. Pure.

A cursor is its own memory, so any worker and machine continues it. It is signed, because what it holds is sent to the
engine: the name of a view there, and the place in it.
"""

import base64
import hashlib
import hmac
import zlib
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Any

import orjson

from api.errors import ApiError, invalid
from api.search.query.request import Question, whole_request
from api.search.schemas.search import SearchBody

START = "*"
_VERSION = b"\x02"
_SIGNATURE_BYTES = 16  # half of HMAC-SHA-256, the least that RFC 2104 calls safe to cut to
_FINGERPRINT_BYTES = 12
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


@dataclass(frozen=True)
class View:
    """A frozen view of the items, held by the engine under a text of its own; `shared` by cursors started close."""

    id: str
    shared: bool


@dataclass(frozen=True)
class Cursor:
    """Where a walk stands: `seen` of the view's `total` hits are behind it, the last of them sorted at `after`."""

    view: View
    handed_out: int  # milliseconds since 1970
    asked: str  # the fingerprint of the body that started it
    seen: int
    total: int
    after: list[Any]
    loosened: bool = False  # whether the text is not read strictly, because that finds nothing in this view


class NotACursorError(ValueError):
    """A text that no service with this key has made."""


def check_cursor(body: SearchBody) -> None:
    """Raises ApiError `validation_failed` for a cursor together with a page or with groups."""
    if body.cursor is not None and body.names_page:
        raise invalid("page", "a cursor has no pages: leave out `page`, the next cursor is in the answer")
    if body.cursor is not None and body.group_by is not None:
        raise invalid("groupBy", "a cursor walks over single items: leave out `groupBy` or page through the names")


def view_request(question: Question, view: View, keep_seconds: float) -> dict[str, Any]:
    """The engine's body for the first hits of a view with their exact number; the view is kept for so long."""
    return view_search(whole_request(question), view, keep_seconds)


def view_search(body: dict[str, Any], view: View, keep_seconds: float) -> dict[str, Any]:
    """A search body, asked of a view."""
    return {**body, "pit": {"id": view.id, "keep_alive": f"{round(keep_seconds * 1000)}ms"}}


def next_request(question: Question, cursor: Cursor, keep_seconds: float) -> dict[str, Any]:
    """The engine's body for the hits behind a cursor; their number is known from the first page on."""
    after = {"search_after": cursor.after, "track_total_hits": False}
    return {**view_request(question, cursor.view, keep_seconds), **after}


def fingerprint(body: SearchBody) -> str:
    """What a body asks for, apart from how many hits at once: the same for bodies that mean the same values."""
    asked = _without_absent(body.model_dump(exclude={"cursor", "page", "limit"}, exclude_defaults=True))
    content = orjson.dumps(asked, option=orjson.OPT_SORT_KEYS, default=_plain)
    return _text(hashlib.sha256(content).digest()[:_FINGERPRINT_BYTES])


def seal(cursor: Cursor, key: bytes) -> str:
    """The cursor as a text of letters, digits, `-` and `_`."""
    view = cursor.view
    packed = _bytes(view.id.rstrip("="))
    if packed is not None and _padded(packed) != view.id:
        packed = None
    known = [cursor.handed_out, cursor.asked, cursor.seen, cursor.total, cursor.after, cursor.loosened, view.shared]
    # the name of a view as bytes, where that is the same, because only those shrink: it repeats itself for each shard
    content = orjson.dumps([*known, view.id if packed is None else None]) + b"\n" + (packed or b"")
    signed = _VERSION + zlib.compress(content, 9)
    return _text(_signature(signed, key) + signed)


def unseal(text: str, key: bytes) -> Cursor:
    """The cursor that `seal` made with this key; raises NotACursorError."""
    content = _bytes(text)
    if content is None:
        raise NotACursorError
    signature, signed = content[:_SIGNATURE_BYTES], content[_SIGNATURE_BYTES:]
    if not hmac.compare_digest(signature, _signature(signed, key)) or signed[:1] != _VERSION:
        raise NotACursorError
    known, _, packed = zlib.decompress(signed[1:]).partition(b"\n")
    handed_out, asked, seen, total, after, loosened, shared, name = orjson.loads(known)
    return Cursor(View(name or _padded(packed), shared), handed_out, asked, seen, total, after, loosened)


def expired() -> ApiError:
    """What is told of a cursor that was one."""
    return ApiError("cursor_expired")


def _signature(content: bytes, key: bytes) -> bytes:
    return hmac.digest(key, content, "sha256")[:_SIGNATURE_BYTES]


def _padded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode()


def _text(content: bytes) -> str:
    return _padded(content).rstrip("=")


def _bytes(text: str) -> bytes | None:
    """The bytes that this text writes, without padding; None where it is not how we would write them."""
    try:
        content = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:  # among them the decoder's own
        return None
    return content if text == _text(content) else None


def _without_absent(value: Any) -> Any:
    """The same without what means nothing: null, and lists and objects that are empty or only hold such."""
    if not isinstance(value, dict):
        return value
    held = {name: _without_absent(part) for name, part in value.items()}
    return {name: part for name, part in held.items() if part is not None and part not in ([], {})}


def _plain(value: Any) -> str:
    """A decimal without what its notation adds: 5, 5.0 and 5e0 are one number."""
    if not isinstance(value, Decimal):
        raise TypeError
    return str(_EXACT.normalize(value)) if value else "0"
