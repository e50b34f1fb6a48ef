"""When a callback is tried again: how an attempt ended in, what becomes of the delivery and the wait out. Pure."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final, Literal

Outcome = Literal["delivered", "rejected", "timeout", "unreachable", "refused"]

WAITS: Final = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
    timedelta(hours=20),
    timedelta(hours=24),
)
"""After the first attempt, which is made at once, and each further one: the schedule that Standard Webhooks names
(standard-webhooks.md, "Delivering webhooks: retries")."""

JITTER: Final = 0.2
"""Up to this share is added to a wait, so that what failed together does not come back together."""

MOST_RETRY_AFTER: Final = timedelta(hours=24)
"""A receiver may ask for this much patience, the longest wait of the schedule."""

GONE: Final = 410


@dataclass(frozen=True)
class Verdict:
    """What becomes of a delivery: its state, and how long it waits for the next attempt while that is `pending`."""

    state: Literal["pending", "delivered", "failed"]
    wait: timedelta | None = None


def verdict(
    outcome: Outcome,
    status_code: int | None,
    retry_after: timedelta | None,
    tries: int,
    chance: float,
    waits: tuple[timedelta, ...] = WAITS,
) -> Verdict:
    """What follows an attempt, where `tries` were made before it in this round; `chance` is in [0, 1)."""
    if outcome == "delivered":
        return Verdict("delivered")
    if status_code == GONE or tries >= len(waits):
        return Verdict("failed")
    wait = max(waits[tries], min(retry_after or timedelta(0), MOST_RETRY_AFTER))
    return Verdict("pending", wait * (1 + JITTER * chance))


def outcome_of(status_code: int) -> Outcome:
    """2xx is success and nothing else is; a redirect is not followed."""
    return "delivered" if 200 <= status_code <= 299 else "rejected"


def retry_after(value: str | None, now: datetime) -> timedelta | None:
    """The header `Retry-After` (RFC 9110 10.2.3: seconds, or a date) as a wait; None where it says nothing readable."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return timedelta(seconds=int(text)) if len(text) < 10 else MOST_RETRY_AFTER
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(timedelta(0), (at if at.tzinfo else at.replace(tzinfo=UTC)) - now)
