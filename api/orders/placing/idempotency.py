"""Recognises a repeated call by its idempotency key and the digest of its body."""

import hashlib
import json
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from fastapi import Request

from api.errors import invalid

KEY_HEADER: Final = "Idempotency-Key"
REPLAYED_HEADER: Final = "Idempotent-Replayed"
MAX_KEY_CHARACTERS: Final = 255

KEY_PARAMETER: Final[dict[str, Any]] = {
    "name": KEY_HEADER,
    "in": "header",
    "required": False,
    "description": "makes a retry safe for 24 hours: the first 201 is answered again, marked by "
    f"`{REPLAYED_HEADER}: true`; printable ASCII",
    "schema": {"type": "string", "maxLength": MAX_KEY_CHARACTERS, "pattern": "^[!-~]([ -~]*[!-~])?$"},
}


@dataclass(frozen=True)
class Call:
    """The identity of a token's call: the client's key and the digest of the body."""

    key: str | None
    body_digest: str = field(repr=False)


async def key_of(request: Request) -> str | None:
    """A dependency: the request's key; raises ApiError `validation_failed` that names the header."""
    values = request.headers.getlist(KEY_HEADER)
    if not values:
        return None
    if len(values) > 1:
        raise invalid(KEY_HEADER, "given more than once")
    key = values[0].strip()
    if not 1 <= len(key) <= MAX_KEY_CHARACTERS:
        raise invalid(KEY_HEADER, f"must have 1 to {MAX_KEY_CHARACTERS} characters")
    if not (key.isascii() and key.isprintable()):
        raise invalid(KEY_HEADER, "must be printable ASCII")
    return key


def body_digest(value: Any) -> str:
    """SHA-256 of a JSON value, equal for equal values: the order of keys, nulls in objects and how a number is
    written do not count, because null for a field means absent and 21.40 is 21.4.
    """
    canonical = json.dumps(_canonical(value), ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _canonical(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _canonical(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return {"": _number(Decimal(value))}  # no object of a body has an empty key
    return value


def _number(value: Decimal) -> str:
    """The number's one spelling, exact at any length."""
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        return str(value)  # infinity, which every field refuses
    significant = "".join(map(str, digits)).lstrip("0")
    short = significant.rstrip("0")
    return f"{'-' * sign}{short}e{exponent + len(significant) - len(short)}" if short else "0"
