"""The error that refuses an item, with one reason for each rule that the item breaks. Pure.

A leaf: readers refuse what they cannot read, the document stage what breaks a rule.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

MAX_SHOWN_CHARACTERS = 120
# Good enough to report the id of an item whose JSON may be broken.
_ID = re.compile(rb'"id"\s*:\s*(-?\d{1,18})(?![\d.eE])')


@dataclass(frozen=True)
class Refusal:
    """One broken rule: the dotted field (None: the whole item), its value shortened, the reason."""

    field: str | None
    value: str | None
    reason: str


def refused_by_engine(reason: str) -> tuple[Refusal, ...]:
    """The refusal of an item that keeps our rules and not one of the engine's."""
    return (Refusal(None, None, f"the engine: {reason}"),)


class ItemRefusedError(ValueError):
    """An item cannot be loaded; `refusals` has at least one element, `item_id` is None where it is unreadable."""

    def __init__(self, refusals: tuple[Refusal, ...], item_id: int | None = None) -> None:
        super().__init__("; ".join(f"{refusal.field}: {refusal.reason}" for refusal in refusals))
        self.refusals = refusals
        self.item_id = item_id

    @classmethod
    def of_item(cls, reason: str, value: str | None = None) -> "ItemRefusedError":
        """Refuses the item as a whole, for one reason."""
        return cls((Refusal(None, value, reason),))


def readable_id(content: bytes | Mapping[str, Any] | ItemRefusedError) -> int | None:
    """The id of a refused item, None where it is unreadable."""
    if isinstance(content, ItemRefusedError):
        return content.item_id
    if isinstance(content, bytes):
        match = _ID.search(content)
        return int(match.group(1)) if match else None
    item_id = content.get("id")
    return item_id if isinstance(item_id, int) and abs(item_id) < 2**63 else None


def shortened(value: Any) -> str:
    """The value as JSON where possible, at most 120 characters."""
    if isinstance(value, bytes):
        value = value[: MAX_SHOWN_CHARACTERS * 4].decode("utf-8", "backslashreplace")
    try:
        text = value if isinstance(value, str) else orjson.dumps(value).decode()
        if text == "null" and value is not None:  # NaN and infinities have no JSON
            text = repr(value)
    except orjson.JSONEncodeError:
        text = repr(value)
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= MAX_SHOWN_CHARACTERS else text[: MAX_SHOWN_CHARACTERS - 1] + "…"
