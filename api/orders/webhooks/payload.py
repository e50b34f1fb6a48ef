"""Callbacks as they are sent: an order as it was at an event and the secrets in, the signed message out. Pure.

A body is not kept in the outbox but made here each time: all that it says of an order is fixed when the order is
placed, but for the state and the time of the change, which the event keeps.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import version

import orjson
from standardwebhooks import Webhook

from api.orders.answers import order_entry, rfc3339
from mappings.platforms import Platform
from store.outbox.deliveries import DeliveryWork


@dataclass(frozen=True)
class Message:
    """One callback: its address, its body and the headers that sign it."""

    url: str
    body: bytes
    headers: dict[str, str]


def message_id(order_id: str, n: int) -> str:
    """The same for every attempt and replay of an event: by it a receiver knows what it has had. Has no dot."""
    return f"msg_{order_id.removeprefix('ord_')}_{n}"


def message_of(work: DeliveryWork, url: str, platform: Platform, public_url: str, now: datetime) -> Message:
    """The callback, signed with each of the token's valid secrets, newest first, for an attempt made now."""
    order = work.order
    content = {
        "type": f"order.{order.state}",
        "timestamp": rfc3339(order.updated_at),
        "data": {"order": order_entry(order, platform, public_url)},
    }
    body = orjson.dumps(content)
    identity = message_id(order.id, work.n)
    signatures = [Webhook(secret).sign(identity, now, body.decode()) for secret in work.secrets]
    headers = {
        "Content-Type": "application/json",
        "User-Agent": _user_agent(),
        "webhook-id": identity,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
    return Message(url, body, headers)


@cache
def _user_agent() -> str:
    """Asked once: the version is read from the installed package's files."""
    return f"gear/{version('gear')}"
