"""Verifies a callback as its receiver does, and explains what is wrong with it. Pure."""

import base64
import hmac
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from standardwebhooks import Webhook

TOLERANCE: Final = timedelta(minutes=5)  # as the libraries of Standard Webhooks have it
HEADERS: Final = ("webhook-id", "webhook-timestamp", "webhook-signature")


def problem(
    secret: str, headers: Mapping[str, str], body: bytes, now: datetime, tolerance: timedelta | None = TOLERANCE
) -> str | None:
    """What keeps the callback from being trusted, as a sentence that says where to look; None if nothing does.

    `tolerance` None accepts a callback of any age.
    """
    fields = {name.strip().lower(): value.strip() for name, value in headers.items()}
    missing = [name for name in HEADERS if not fields.get(name)]
    if missing:
        return f"the headers {', '.join(missing)} are missing: does a proxy drop them?"
    return (
        _secret_problem(secret)
        or _time_problem(fields["webhook-timestamp"], now, tolerance)
        or _signature_problem(secret, fields, body)
    )


def _secret_problem(secret: str) -> str | None:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:  # binascii.Error, or a letter that is not ASCII
        return "the secret is not whsec_ and base64: it was cut or altered when it was copied"
    if not 24 <= len(key) <= 64:
        return f"the secret holds {len(key)} bytes, and 24 to 64 are usual: it was cut, or it is another one"
    return None


def _time_problem(text: str, now: datetime, tolerance: timedelta | None) -> str | None:
    if not re.fullmatch(r"\d{1,11}", text, re.ASCII):
        return f"webhook-timestamp is {text!r} and not whole seconds since 1970"
    if tolerance is None:
        return None
    age = now - datetime.fromtimestamp(int(text), UTC)
    if age > tolerance:
        return f"it was sent {age.total_seconds():.0f} s ago: an old one sent again, or this machine's clock is ahead"
    if -age > tolerance:
        return f"it was sent {-age.total_seconds():.0f} s in the future: this machine's clock is behind"
    return None


def _signature_problem(secret: str, headers: Mapping[str, str], body: bytes) -> str | None:
    entries = [entry.partition(",") for entry in headers["webhook-signature"].split(" ")]
    signatures = [signature for version, _, signature in entries if version == "v1"]
    if not signatures:
        return "webhook-signature has no signature that begins with v1,"

    def matches(data: bytes) -> bool:
        expected = _signature(secret, headers, data)
        return any(hmac.compare_digest(expected.encode(), text.encode("utf-8", "replace")) for text in signatures)

    try:
        body.decode()
    except UnicodeDecodeError:
        return "the body is not UTF-8: it is compressed or another body"
    if matches(body):
        return None
    if matches(body.strip()):
        return "the body has blanks or a line break at its ends that were not sent: keep the bytes as they came"
    if matches(_compact(body)):
        return "the body was parsed and written anew: verify the bytes as they came, before anything reads them"
    return "no signature matches: the secret is another token's or was rotated, or id, time or body were altered"


def _compact(body: bytes) -> bytes:
    """The JSON as the service writes it; other bytes unchanged."""
    try:
        return json.dumps(json.loads(body), separators=(",", ":"), ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return body


def _signature(secret: str, headers: Mapping[str, str], body: bytes) -> str:
    at = datetime.fromtimestamp(int(headers["webhook-timestamp"]), UTC)
    return Webhook(secret).sign(headers["webhook-id"], at, body.decode()).removeprefix("v1,")
