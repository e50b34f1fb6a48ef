"""The signed message of a callback. Pure.

The outbox stores no bodies of orders: all that one says is fixed when the order is placed, but for the state and the
time of the change, which the event has. Of a saved search it stores the changes that match.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import version
from typing import Any

import orjson
from standardwebhooks import Webhook

from mappings.timestamps import rfc3339
from store.records import DeliveryWork, Order, SearchMatches

EntryOf = Callable[[Order], dict[str, Any]]
"""Gives an order as clients see it; raises PlatformFileGoneError."""


class PlatformFileGoneError(LookupError):
    """The platform of an order has no file any more."""


@dataclass(frozen=True)
class Message:
    """A callback: its address, its body and the headers that sign it."""

    url: str
    body: bytes
    headers: dict[str, str]


def message_id(order_id: str, n: int) -> str:  # or a saved search's
    """The id by which a receiver recognises an event: equal for all its attempts and replays. Contains no dot."""
    return f"msg_{order_id.partition('_')[2]}_{n}"


def event_of(work: DeliveryWork) -> str:
    """The callback's `type`."""
    return "search.matched" if isinstance(work.subject, SearchMatches) else f"order.{work.subject.state}"


def message_of(work: DeliveryWork, entry_of: EntryOf, now: datetime) -> Message:
    """The callback, signed with each of the token's valid secrets, newest first, for an attempt made now. Raises
    PlatformFileGoneError.
    """
    url = work.subject.callback_url
    if url is None:
        raise ValueError(f"{work.subject.id} has no callback address")
    body = orjson.dumps({"type": event_of(work), **_content(work.subject, entry_of)})
    identity = message_id(work.subject.id, work.n)
    signatures = [Webhook(secret).sign(identity, now, body.decode()) for secret in work.secrets]
    headers = {
        "Content-Type": "application/json",
        "User-Agent": _user_agent(),
        "webhook-id": identity,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
    return Message(url, body, headers)


def _content(subject: Order | SearchMatches, entry_of: EntryOf) -> dict[str, Any]:
    if isinstance(subject, SearchMatches):
        search = {"id": subject.id, "name": subject.name}
        return {
            "timestamp": rfc3339(subject.at),
            "data": {"search": search, "changes": orjson.Fragment(subject.changes)},
        }
    return {"timestamp": rfc3339(subject.updated_at), "data": {"order": entry_of(subject)}}


@cache
def _user_agent() -> str:
    """Cached: the version comes from the installed package's files."""
    return f"gear/{version('gear')}"
