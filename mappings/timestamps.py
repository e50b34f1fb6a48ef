"""Times as responses show them."""

from datetime import UTC, datetime


def rfc3339(at: datetime) -> str:
    """The time in UTC with milliseconds, such as `2026-08-09T04:00:00.000Z`."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
