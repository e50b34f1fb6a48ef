"""The retry schedule of callbacks. Pure."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final, Literal

Outcome = Literal["delivered", "rejected", "timeout", "unreachable", "refused"]

RETRY_DELAYS: Final = (
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
"""The first attempt is made at once; these are the delays after it and after each further one, as Standard Webhooks
names them (standard-webhooks.md, "Delivering webhooks: retries")."""

JITTER: Final = 0.2
"""Up to this share is added to a delay, so that what failed together does not come back together."""

MAX_RETRY_AFTER: Final = timedelta(hours=24)
"""The longest delay of the schedule; a receiver may ask for as much."""

GONE: Final = 410


@dataclass(frozen=True)
class Verdict:
    """The state of a delivery after an attempt and, while it is `pending`, the delay until the next one."""

    state: Literal["pending", "delivered", "failed"]
    delay: timedelta | None = None


def verdict(
    outcome: Outcome,
    status_code: int | None,
    retry_after: timedelta | None,
    tries: int,
    random: float,
    delays: tuple[timedelta, ...] = RETRY_DELAYS,
) -> Verdict:
    """What follows an attempt after `tries` earlier ones of this round; `random` is in [0, 1)."""
    if outcome == "delivered":
        return Verdict("delivered")
    if status_code == GONE or tries >= len(delays):
        return Verdict("failed")
    delay = max(delays[tries], min(retry_after or timedelta(0), MAX_RETRY_AFTER))
    return Verdict("pending", delay * (1 + JITTER * random))


def outcome_of(status_code: int) -> Outcome:
    """Only 2xx is success; redirects are not followed."""
    return "delivered" if 200 <= status_code <= 299 else "rejected"


def parse_retry_after(value: str | None, now: datetime) -> timedelta | None:
    """The header `Retry-After` (RFC 9110 10.2.3: seconds or a date) as a delay; None for anything else."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return timedelta(seconds=int(text)) if len(text) < 10 else MAX_RETRY_AFTER
    try:
        at = parsedate_to_datetime(text)
        return max(timedelta(0), (at if at.tzinfo else at.replace(tzinfo=UTC)) - now)
    except (ValueError, OverflowError, TypeError):  # the parser raises each of them for some dates of a receiver
        return None
