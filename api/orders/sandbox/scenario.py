"""The scenarios of sandbox orders, by item id and trade link. Pure.

`docs/sandbox.md` shows these tables; a test compares them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from store.records import PlannedMove

PRICE: Final = Decimal("10.00")
MOVED_PRICE: Final = Decimal("10.50")
SOON: Final = 1
LATER: Final = 5
SLOWLY: Final = 60


@dataclass(frozen=True)
class Step:
    """A move to `to`, so many seconds after the one before."""

    to: str
    seconds: int = SOON
    reason: str | None = None


@dataclass(frozen=True)
class Scenario:
    """What happens to an order. `refused` is the error code of its refusal; `lost` loses its first response."""

    meaning: str
    steps: tuple[Step, ...] = ()
    price: Decimal = PRICE
    refused: str | None = None
    lost: bool = False


_DELIVERED: Final = (Step("processing"), Step("delivered"))
_COMPLETED: Final = (*_DELIVERED, Step("completed"))

# prefix of the item's id: its scenario. Ids are negative, so that none is mistaken for a real one.
BY_ITEM: Final[dict[str, Scenario]] = {
    "-10": Scenario("is completed", _COMPLETED),
    "-11": Scenario("stays `created`: cancel it yourself"),
    "-12": Scenario(
        "is completed slowly, and so are its callbacks",
        (Step("processing", SLOWLY), Step("delivered", SLOWLY), Step("completed", SLOWLY)),
    ),
    "-20": Scenario("fails at once", (Step("failed", reason="the seller does not answer"),)),
    "-21": Scenario("fails on its way", (Step("processing"), Step("failed", reason="the trade was declined"))),
    "-22": Scenario("is cancelled at once", (Step("cancelled", reason="cancelled by fulfilment"),)),
    "-23": Scenario(
        "is cancelled on its way", (Step("processing"), Step("cancelled", reason="cancelled by fulfilment"))
    ),
    "-30": Scenario(
        "is taken back while the trade is held",
        (*_DELIVERED, Step("reverted", LATER, "the trade was taken back under protection")),
    ),
    "-31": Scenario(
        "is taken back after it was completed",
        (*_COMPLETED, Step("reverted", LATER, "the trade was taken back under protection")),
    ),
    "-40": Scenario("has been sold meanwhile", refused="item_unavailable"),
    "-41": Scenario("costs more than a search showed, and is completed at that price", _COMPLETED, MOVED_PRICE),
    "-50": Scenario("is placed, but the response is lost: a 503, and the retry gets the 201", _COMPLETED, lost=True),
    "-51": Scenario("cannot be checked: a 503, nothing is ordered", refused="search_unavailable"),
}

# `token` of a trade link: the scenario of every order with it, unless its item is refused
BY_TRADE_LINK: Final[dict[str, Scenario]] = {
    "SBX-FAIL": Scenario(
        "fails on its way: the link does not work any more",
        (Step("processing"), Step("failed", reason="the trade link does not work any more")),
    ),
    "SBX-HOLD": Scenario(
        "is held by the platform before it is completed",
        (*_DELIVERED, Step("completed", SLOWLY, "the hold of the trade has ended")),
    ),
    "SBX-BACK": Scenario(
        "is taken back by the buyer while it is held",
        (*_DELIVERED, Step("reverted", LATER, "the buyer took the trade back")),
    ),
}

_ITEM: Final = re.compile(r"(-[1-9][0-9])[0-9]{0,14}")


def scenario_of(item: str, trade_link: str | None) -> Scenario | None:
    """The scenario of an order; None for an item that the sandbox does not have."""
    match = _ITEM.fullmatch(item)
    by_item = BY_ITEM.get(match[1]) if match else None
    if by_item is None or by_item.refused or trade_link is None:
        return by_item
    try:
        query = urlsplit(trade_link).query
    except ValueError:  # no URL: a platform without a rule takes any text
        return by_item
    tokens = [value for name, value in parse_qsl(query) if name == "token"]
    by_link = BY_TRADE_LINK.get(tokens[0]) if tokens else None
    return by_item if by_link is None else by_link


def moves(steps: Sequence[Step], placed_at: datetime) -> list[PlannedMove]:
    planned = []
    state, at = "created", placed_at
    for step in steps:
        at += timedelta(seconds=step.seconds)
        planned.append(PlannedMove(from_state=state, to_state=step.to, reason=step.reason, due_at=at))
        state = step.to
    return planned
