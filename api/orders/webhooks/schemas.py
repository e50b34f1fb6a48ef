"""The responses of deliveries."""

from typing import Literal

from pydantic import Field

from api.http.fields import StrictCamelCase, success
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


DeliveriesAnswer = success(
    "DeliveriesAnswer", "The callbacks of one order, oldest first.", deliveries=list[DeliveryEntry]
)
DeliveryAnswer = success("DeliveryAnswer", "One callback.", delivery=DeliveryEntry)
