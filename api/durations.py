"""Durations as settings and options write them. Pure."""

import re
from datetime import timedelta
from typing import Final

_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def parse_duration(text: str) -> timedelta:
    """Parses a duration such as `90d`; raises ValueError."""
    match = re.fullmatch(r"([1-9]\d{0,4})([smhd])", text, re.ASCII)
    if match is None:
        raise ValueError(f"{text!r} is not a duration such as 90d, 12h, 30m or 60s")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})
