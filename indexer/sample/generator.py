"""Makes listings of single items from catalogue rows and a seed, as NDJSON in the interface's shape.

The same catalogue, count and seed give the same bytes on every machine: nothing but `Random.random` is drawn from, and
no clock is read. The catalogue is held in memory, the listings are not.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate
from math import nextafter
from random import Random
from typing import Any

import orjson

from mappings.fields import DETAILS
from mappings.platforms import Platform

FIRST_ID = 40_000_000_000
BATCH = 500
LISTED_DAYS = 90
MAX_SEED = 1000
MAX_TEMPLATE = 100_000
MIN_PRICE = 3  # cents: the lowest price of the Steam market
# Shares of the listings behind the first walk through all rows: what people trade most stands heavier.
KNIVES_AND_GLOVES = {"Knife": 4.0, "Gloves": 4.0}
WEAPON_WEIGHT = 6.0
OTHER_WEIGHT = 1.0
# The row's names of what the interface calls otherwise.
_ROW_KEYS = {"set": "collection"}
_DESCRIPTIONS = ("Fresh from a case.", "Never used in a match.", "Trade hold is over.", "Part of a collection.")
# Upper ends of the share of weapons with 0, 1, 2, 3, 4 and 5 stickers.
_COUNTS = (0.45, 0.60, 0.70, 0.78, 0.95, 1.0)
ALL_THE_SAME = 0.3
WITH_CHARM = 0.04
UNSCRAPED = 0.7
# How much of a sticker's own price a weapon gains by it.
WORTH = 0.06


@dataclass(frozen=True)
class _Row:
    """One catalogue row, cut into the JSON text before and between the values that differ from listing to listing."""

    to_price: str  # `"name":…,"price":`
    image: str
    details: str  # from `"details":` to the colon of `paint.float`
    paint_index: str
    price: int | None  # cents
    low: float
    high: float  # equal to `low` where the thing has no wear
    is_weapon: bool  # takes stickers
    has_link: bool
    is_painted: bool
    is_charm: bool
    weight: float


@dataclass(frozen=True)
class Applied:
    """A sticker or charm: the JSON text around its wear, and what it adds to a price, in cents."""

    before: str
    after: str
    worth: float


def _text(value: Any) -> str:
    return orjson.dumps(value).decode()


def _row(row: dict[str, Any], platform: Platform) -> _Row:
    low, high = _wear(row, platform)
    is_knife_or_gloves = row["type"] in KNIVES_AND_GLOVES
    is_weapon = row["weapon"] is not None and not is_knife_or_gloves
    details = {name: row.get(_ROW_KEYS.get(name, name)) for name in DETAILS}
    return _Row(
        to_price=f',"name":{_text(row["name"])},"price":',
        image=_text(row["image"]),
        details=f',"details":{_text(details)},"paint":{{"float":',
        paint_index=_text(row["paintIndex"]),
        price=None if row["price"] is None else round(row["price"] * 100),
        low=low,
        high=high,
        is_weapon=is_weapon,
        has_link=row["weapon"] is not None,
        is_painted=row["paintIndex"] is not None,
        is_charm=row["type"] == "Charm",
        weight=KNIVES_AND_GLOVES.get(row["type"], WEAPON_WEIGHT if is_weapon else OTHER_WEIGHT),
    )


def _wear(row: dict[str, Any], platform: Platform) -> tuple[float, float]:
    """The part of `paint.float` that both the exterior and the finish allow; equal ends: no wear."""
    for band in platform.exterior:
        if band.name == row["exterior"]:
            low = band.low if row["minFloat"] is None else max(band.low, row["minFloat"])
            high = band.high if row["maxFloat"] is None else min(band.high, row["maxFloat"])
            return (low, high) if low < high else (0.0, 0.0)
    return 0.0, 0.0


class Sampler:
    """Makes listings from catalogue rows, of which there is at least one."""

    def __init__(self, rows: Sequence[dict[str, Any]], platform: Platform, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311  # made-up listings, nothing secret
        self._rows = [_row(row, platform) for row in rows]
        self._row_order = _shuffled(len(rows), self._random)
        self._weights = list(accumulate(row.weight for row in self._rows))
        self._stickers = self._in_order_of_fame(applied_of(rows, "Sticker"))
        self._charms = self._in_order_of_fame(applied_of(rows, "Charm"))
        newest = max((row["priceDate"] for row in rows if row.get("priceDate")), default="2026-01-01")
        last = datetime.combine(date.fromisoformat(newest), datetime.min.time(), UTC)
        self._days = [(last - timedelta(days=days + 1)).strftime("%Y-%m-%dT") for days in range(LISTED_DAYS)]

    def _in_order_of_fame(self, applied: list[Applied]) -> list[Applied]:
        return [applied[at] for at in _shuffled(len(applied), self._random)]

    def batches(self, count: int) -> Iterator[bytes]:
        """`count` listings as NDJSON, some hundred a piece."""
        for start in range(0, count, BATCH):
            yield "".join([self._listing(at) for at in range(start, min(start + BATCH, count))]).encode()

    def _listing(self, at: int) -> str:
        draw = self._random.random
        if at < len(self._row_order):
            row = self._rows[self._row_order[at]]
        else:
            row = self._rows[bisect_right(self._weights, draw() * self._weights[-1])]
        share = draw()
        # never a band's upper end, which is the next band's: the sum may be rounded up to it
        wear = min(row.low + (row.high - row.low) * share, nextafter(row.high, 0))
        attachments, extra = "", 0.0
        if row.is_weapon:
            attachments, extra = choose_applied(draw, self._stickers, self._charms)
        number = FIRST_ID + at
        link = "null"
        if row.has_link:
            link = (
                '"steam://rungame/730/76561202255233023/+csgo_econ_action_preview%20'
                f'S{76561197960265729 + int(draw() * 1e9)}A{number}D{int(draw() * 9e18)}"'
            )
        described = draw()
        description = f'"{_DESCRIPTIONS[int(described * 40)]}"' if described < 0.1 else "null"
        seconds = int(draw() * 86400)
        pattern = int(draw() * (MAX_TEMPLATE + 1)) if row.is_charm else "null"
        return (
            f'{{"id":{number}{row.to_price}{self._price(row, share, extra)},"image":{row.image},"inspectLink":{link},'
            f'"description":{description}{row.details}{wear if row.low < row.high else "null"},'
            f'"seed":{int(draw() * (MAX_SEED + 1)) if row.is_painted else "null"},"index":{row.paint_index},'
            f'"pattern":{pattern}}},"attachments":[{attachments}],'
            f'"listedAt":"{self._days[int(draw() * LISTED_DAYS)]}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:'
            f'{seconds % 60:02d}Z"}}\n'
        )

    def _price(self, row: _Row, share: float, extra: float) -> str:
        """Around the row's price: the less worn the dearer, and a part of what is on it."""
        if row.price is None:
            return "null"
        scarce = (1 - share) ** 4 * 0.3 if row.low < row.high else 0.0
        cents = max(MIN_PRICE, int(row.price * (0.95 + scarce + self._random.random() * 0.2) + extra))
        return f"{cents // 100}.{cents % 100:02d}"


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


def choose_applied(
    draw: Callable[[], float], stickers: Sequence[Applied], charms: Sequence[Applied]
) -> tuple[str, float]:
    """The inside of the JSON array `attachments`, and the cents that it adds to the price."""
    lot = draw()
    count = bisect_right(_COUNTS, lot) if stickers else 0
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


def _shuffled(count: int, random: Random) -> list[int]:
    """A permutation by `random()` alone, whose values no version of Python changes."""
    order = list(range(count))
    for at in range(count - 1, 0, -1):
        other = int(random.random() * (at + 1))
        order[at], order[other] = order[other], order[at]
    return order
