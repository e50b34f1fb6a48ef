"""Writes JSON with exact numbers: each decimal is written digit by digit."""

import json
from decimal import Decimal
from typing import Any


def dumps(value: Any) -> str:
    """JSON text; a Decimal is written as its digits."""
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{dumps(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(dumps(member) for member in value) + "]"
    return json.dumps(value)


def loads(text: str) -> Any:
    """A JSON text with its fractions as decimals, so that they can be sent on digit by digit."""
    return json.loads(text, parse_float=Decimal)
