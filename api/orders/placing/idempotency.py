"""Recognises a repeated call by its idempotency key and the digest of its body."""

from dataclasses import dataclass, field
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
