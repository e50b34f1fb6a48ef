"""The signed message of a callback. Pure.

The outbox stores no bodies: all that a body says of an order is fixed when the order is placed, but for the state and
the time of the change, which the event has.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import version

import orjson
from standardwebhooks import Webhook

from api.orders.answers import order_entry
from api.timestamps import rfc3339
from mappings.platforms import Platform
from store.records import DeliveryWork


@dataclass(frozen=True)
class Message:
    """A callback: its address, its body and the headers that sign it."""

    url: str
    body: bytes
    headers: dict[str, str]


def message_id(order_id: str, n: int) -> str:
    """The id by which a receiver recognises an event: equal for all its attempts and replays. Contains no dot."""
    return f"msg_{order_id.removeprefix('ord_')}_{n}"


def message_of(work: DeliveryWork, platform: Platform, public_url: str, now: datetime) -> Message:
    """The callback, signed with each of the token's valid secrets, newest first, for an attempt made now."""
    order = work.order
    if order.callback_url is None:
        message = f"order {order.id} has no callback address"
        raise ValueError(message)
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
    return Message(order.callback_url, body, headers)


@cache
def _user_agent() -> str:
    """Cached: the version comes from the installed package's files."""
    return f"gear/{version('gear')}"
