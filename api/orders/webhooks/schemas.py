"""The responses of deliveries, with examples."""

from typing import Any, Literal

from pydantic import Field

from api.http.fields import StrictCamelCase
from api.orders.webhooks.schedule import Outcome


class AttemptEntry(StrictCamelCase):
    """One attempt; of the receiver's response only the status is stored."""

    at: str = Field(description="RFC 3339, UTC")
    outcome: Outcome = Field(
        description="`delivered`: 2xx; `rejected`: any other status; `timeout`; `unreachable`: no address, connection, "
        "TLS or HTTP; `refused`: an address that nothing is sent to"
    )
    status_code: int | None
    milliseconds: int


class DeliveryEntry(StrictCamelCase):
    """One callback and its newest 100 attempts, oldest first."""

    n: int = Field(description="counts from 1 within the order")
    event: str = Field(description="the callback's `type`")
    state: Literal["pending", "delivered", "failed"]
    attempts: list[AttemptEntry]
    next_attempt_at: str | None = Field(
        description="null where it has ended, and where it waits for the callback before it"
    )


class DeliveriesAnswer(StrictCamelCase):
    """The callbacks of one order, oldest first."""

    status: Literal["success"]
    deliveries: list[DeliveryEntry]


class DeliveryAnswer(StrictCamelCase):
    """One callback."""

    status: Literal["success"]
    delivery: DeliveryEntry


_ATTEMPT: dict[str, Any] = {
    "at": "2026-08-09T04:00:00.250Z",
    "outcome": "rejected",
    "statusCode": 503,
    "milliseconds": 41,
}
_DELIVERY: dict[str, Any] = {
    "n": 1,
    "event": "order.created",
    "state": "pending",
    "attempts": [_ATTEMPT],
    "nextAttemptAt": "2026-08-09T04:00:05.700Z",
}
DELIVERIES_EXAMPLE: dict[str, Any] = {"status": "success", "deliveries": [_DELIVERY]}
DELIVERY_EXAMPLE: dict[str, Any] = {"status": "success", "delivery": _DELIVERY}
