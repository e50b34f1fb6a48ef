"""Cursors: where a reader of all hits stands, as an opaque, signed token. Pure.

A token holds all that continuing takes, so any worker on any machine can do it. It is signed, because what it holds is
sent to the engine: the id of a point in time, and the sort values of a hit.
"""

import base64
import hashlib
import hmac
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Any

import msgspec
import orjson
from itsdangerous import BadData, Signer, URLSafeSerializer

from api.engine.responses import Products
from api.errors import invalid
from api.search.schemas.search import SearchBody

START = "*"
_SALT = "cursor"
_FINGERPRINT_BYTES = 12
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


class Cursor(msgspec.Struct, array_like=True, frozen=True):
    """A position in a point in time: `count` of its `total` hits are before it, the last of them sorted at `after`.

    `issued_at` and `started_at`, when its first page was read, are in milliseconds since 1970. `fingerprint` is that of
    the body that started it. `relaxed`: the text is relaxed, because its strict parse finds nothing in this point in
    time. `products` is where the products of its items are.
    """

    pit: str
    shared: bool
    issued_at: int
    fingerprint: str
    count: int
    total: int
    after: list[Any]
    relaxed: bool
    started_at: int
    products: Products


class _Msgpack:
    def dumps(self, fields: Any) -> bytes:
        return msgspec.msgpack.encode(fields)

    def loads(self, content: bytes) -> Cursor:
        pit, *fields = msgspec.msgpack.decode(content)
        text = pit if isinstance(pit, str) else base64.urlsafe_b64encode(pit).decode()
        return msgspec.convert((text, *fields), Cursor)


class _CanonicalSigner(Signer):
    """Takes a signature only as it writes it: decoding base64 would forgive other characters."""

    def verify_signature(self, value: str | bytes, sig: str | bytes) -> bool:
        content = value.encode() if isinstance(value, str) else value
        signature = sig.encode() if isinstance(sig, str) else sig
        return hmac.compare_digest(signature, self.get_signature(content))


def encode(cursor: Cursor, key: bytes) -> str:
    """The cursor as a token of letters, digits, `-`, `_` and `.`."""
    pit, *fields = msgspec.structs.astuple(cursor)
    token = _serializer(key).dumps((_packed(pit), *fields))
    return token if isinstance(token, str) else token.decode()


def decode(token: str, key: bytes) -> Cursor:
    """The cursor of a token; raises ApiError `validation_failed` for any text that no service with this key made."""
    try:
        cursor: Cursor = _serializer(key).loads(token)
    except BadData as error:
        message = "is not a cursor of this service: send `*` or the `nextCursor` of a response, unchanged"
        raise invalid("cursor", message) from error
    return cursor


def fingerprint(body: SearchBody, forced: str | None = None) -> str:
    """What a body searches for, apart from how many hits at once: the same for bodies that mean the same values, with
    the same forced filters.
    """
    fields = _without_absent(body.model_dump(exclude={"cursor", "page", "limit"}, exclude_defaults=True))
    content = orjson.dumps(fields, option=orjson.OPT_SORT_KEYS, default=_normalized)
    content += b"" if forced is None else forced.encode()
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()[:_FINGERPRINT_BYTES]).decode()


def _serializer(key: bytes) -> URLSafeSerializer:
    # Not the timed one: it refuses tokens of a machine whose clock is ahead.
    return URLSafeSerializer(
        key, _SALT, serializer=_Msgpack(), signer=_CanonicalSigner, signer_kwargs={"digest_method": hashlib.sha256}
    )


def _packed(pit: str) -> bytes | str:
    """Bytes if that is lossless, because only those shrink: an id repeats itself for each shard."""
    try:
        content = base64.urlsafe_b64decode(pit)
    except ValueError:
        return pit
    return content if base64.urlsafe_b64encode(content).decode() == pit else pit


def _without_absent(value: Any) -> Any:
    """The same without what means nothing: null, and lists and objects that are empty or hold nothing else."""
    if not isinstance(value, dict):
        return value
    fields = {name: _without_absent(part) for name, part in value.items()}
    return {name: part for name, part in fields.items() if part is not None and part not in ([], {})}


def _normalized(value: Decimal) -> str:
    """A decimal without what its notation adds: 5, 5.0 and 5e0 are one number."""
    return str(_EXACT.normalize(value)) if value else "0"
