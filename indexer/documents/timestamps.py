"""Converts RFC 3339 timestamps to nanoseconds since 1970 and back, exactly. Pure."""

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The index keeps nanoseconds in 64 bits, which end within 2262. It is a plain integer because the engine's own
# nanosecond dates cannot sort items without a date last: such a search never ends.
END_SECONDS = int((datetime(2262, 1, 1, tzinfo=UTC) - EPOCH).total_seconds())
CACHED_DAYS = 4096  # a catalogue was listed within some months or years
CACHED_HOURS = 16_384
_WITHIN_THE_HOUR = {f":{at // 60:02}:{at % 60:02}": at * 10**9 for at in range(3600)}

_RFC_3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))", re.ASCII
)


def nanoseconds(value: object) -> int:
    """Nanoseconds since 1970 of an RFC 3339 timestamp; raises ValueError."""
    if isinstance(value, str) and value[19:] == "Z":  # the common form, with the same result several times faster
        within_hour = _WITHIN_THE_HOUR.get(value[13:19])
        if within_hour is not None:
            return _hour(value[:13]) + within_hour
    return _any_nanoseconds(value)


def microseconds(value: object) -> int:
    """The same in microseconds, as versions of changes are; what is beyond them is cut off."""
    return nanoseconds(value) // 1000


def iso_without_offset(ticks: int, unit: int = 10**9) -> str:
    """The time so many ticks after 1970, `unit` of them a second, without zeros at the end and without an offset.

    Raises OverflowError outside of the years that `datetime` has.
    """
    seconds, rest = divmod(ticks, unit)
    fraction = f".{rest:0{len(str(unit)) - 1}d}".rstrip("0") if rest else ""
    return f"{EPOCH + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S}{fraction}"


def _any_nanoseconds(value: object) -> int:
    match = _RFC_3339.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError("must be an RFC 3339 date and time with offset and at most nine digits of a second")
    day, hour, minute, second, fraction, sign, hours, minutes = match.groups()
    for name, number, end in (("hour", hour, "24"), ("minute", minute, "60"), ("second", second, "60")):
        if number >= end:  # two digits each, so that texts compare as numbers do
            raise ValueError(f"{name} must be in 0..{int(end) - 1}")
    seconds = _seconds_to(day) + int(hour) * 3600 + int(minute) * 60 + int(second)
    if sign is not None:
        offset = int(hours) * 3600 + int(minutes) * 60
        seconds += offset if sign == "-" else -offset
    if not 0 <= seconds < END_SECONDS:
        raise ValueError("must be within the years 1970 to 2261, as UTC")
    return seconds * 10**9 + (0 if fraction is None else int(fraction.ljust(9, "0")))


@lru_cache(CACHED_HOURS)
def _hour(text: str) -> int:
    """Nanoseconds since 1970 at the start of an hour in UTC, such as `2026-05-14T04`; raises ValueError."""
    return _any_nanoseconds(f"{text}:00:00Z")


@lru_cache(CACHED_DAYS)
def _seconds_to(day: str) -> int:
    """Seconds from 1970 to the start of a day in UTC; raises ValueError where there is no such day."""
    return (date.fromisoformat(day).toordinal() - EPOCH.toordinal()) * 86_400
