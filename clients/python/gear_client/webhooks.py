"""Verifies the callbacks that the service sends, by the rules of Standard Webhooks."""

from collections.abc import Mapping
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError

CallbackError = WebhookVerificationError
"""The callback is not one of the service: the signature, the time or a header is wrong."""


def verify_callback(body: bytes, headers: Mapping[str, str], secret: str) -> dict[str, Any]:
    """The event of a callback, `{"type", "timestamp", "data"}`; raises CallbackError.

    `body` are the bytes as they came, before anything parses them; `secret` is what `gear-api token create` or
    `gear-api webhook endpoint add` printed (`whsec_…`).
    """
    lower = {name.lower(): value for name, value in headers.items()}
    event: dict[str, Any] = Webhook(secret).verify(body, lower)
    return event
