"""Chooses the stickers and charms on a sampled weapon, and what they add to its price."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

# Upper ends of the share of weapons with 0, 1, 2, 3, 4 and 5 stickers.
_COUNTS = (0.45, 0.60, 0.70, 0.78, 0.95, 1.0)
ALL_THE_SAME = 0.3
WITH_CHARM = 0.04
UNSCRAPED = 0.7
# How much of a sticker's own price a weapon gains by it.
WORTH = 0.06


@dataclass(frozen=True)
class Applied:
    """A sticker or charm: the JSON text around its wear, and what it adds to a price, in cents."""

    before: str
    after: str
    worth: float


def applied_of(rows: Sequence[dict[str, Any]], kind: str) -> list[Applied]:
    """The rows of one type as attachments."""
    return [
        Applied(
            before=f'{{"id":{_text(row.get("defIndex"))},"name":{_text(row["name"])},"wear":',
            after=f',"type":"{kind.lower()}","image":{_text(row["image"])}}}',
            worth=(row["price"] or 0) * 100 * WORTH,
        )
        for row in rows
        if row["type"] == kind
    ]


def _text(value: Any) -> str:
    return orjson.dumps(value).decode()


def choose_applied(
    draw: Callable[[], float], stickers: Sequence[Applied], charms: Sequence[Applied]
) -> tuple[str, float]:
    """The inside of the JSON array `attachments`, and the cents that it adds to the price."""
    lot = draw()
    count = next(number for number, most in enumerate(_COUNTS) if lot < most) if stickers else 0
    parts: list[str] = []
    extra = 0.0
    same = count > 1 and draw() < ALL_THE_SAME
    sticker: Applied | None = None
    for _ in range(count):
        if sticker is None or not same:
            sticker = stickers[int(draw() ** 3 * len(stickers))]  # the front ones are the famous ones
        wear = 0.0 if draw() < UNSCRAPED else round(draw(), 2 + int(draw() * 3))
        parts.append(f"{sticker.before}{wear or 0}{sticker.after}")
        extra += sticker.worth * (1 - wear)
    if charms and draw() < WITH_CHARM:
        charm = charms[int(draw() ** 3 * len(charms))]
        parts.append(f"{charm.before}null{charm.after}")
        extra += charm.worth
    return ",".join(parts), extra
