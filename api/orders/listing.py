"""Lists of orders by page and cursor."""

import base64
import binascii
import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from fastapi import Query

from api.errors import invalid
from api.http.fields import parse_item_id
from api.orders.schemas import MAX_ACCOUNT_CHARACTERS
from api.services import Services
from store.auth.tokens import Token
from store.orders import orders
from store.orders.orders import OrderFilter, Position
from store.records import Order
from store.states import State

DEFAULT_LIMIT: Final = 20
MAX_LIMIT: Final = 100
MAX_CURSOR_CHARACTERS: Final = 100
PARAMETERS: Final = ("state", "account", "item", "limit", "cursor")

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_CURSOR: Final = re.compile(r"([0-9]{1,17})/((ord|sch)_[A-Za-z0-9_-]{24})")

OfState = Annotated[State | None, Query(alias="state", description="only orders that are in this state")]
OfAccount = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=MAX_ACCOUNT_CHARACTERS,
        pattern=r"^[^\x00]*$",
        description="only orders of this reference",
    ),
]
OfItem = Annotated[str | None, Query(pattern=r"^-?[0-9]{1,19}$", description="only orders of the item with this id")]
Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="orders a page")]
Cursor = Annotated[
    str | None, Query(max_length=MAX_CURSOR_CHARACTERS, description="`nextCursor` of the page before, as it came")
]


async def list_orders(
    services: Services,
    token: Token,
    *,
    state: State | None,
    account: str | None,
    item: str | None,
    limit: int,
    cursor: str | None,
) -> tuple[list[Order], str | None]:
    """The page after the cursor, newest first, and the cursor of the next page, None at the end.

    `fulfil` lists every real order; other tokens, and those of a sandbox, list their own.
    """
    after = None if cursor is None else position_of(cursor)
    number = None if item is None else parse_item_id(item)
    if item is not None and number is None:
        return [], None  # digits that are no item's id in canonical form: no order is of such an item
    everybody = "fulfil" in token.scopes and not token.sandbox
    order_filter = OrderFilter(
        sandbox=token.sandbox,
        token_id=None if everybody else token.id,
        state=state,
        account=account,
        item=number,
    )
    async with services.store.reading() as connection:
        rows = await orders.list_newest(connection, order_filter, after, limit + 1)
    page = rows[:limit]
    return page, cursor_of(page[-1].created_at, page[-1].id) if len(rows) > limit else None


def cursor_of(created_at: datetime, its_id: str) -> str:
    """The cursor that continues after this order or saved search. It grants nothing: a list shows what its token may
    see wherever it begins.
    """
    microseconds = (created_at - _EPOCH) // timedelta(microseconds=1)
    return base64.urlsafe_b64encode(f"{microseconds}/{its_id}".encode()).decode().rstrip("=")


def position_of(cursor: str) -> Position:
    """The position that `cursor_of` wrote; raises ApiError `validation_failed` for any other text."""
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        text = ""
    match = _CURSOR.fullmatch(text)
    if match is None:
        raise invalid("cursor", "is none of ours: leave it out to begin, and send nextCursor as it came")
    return Position(_EPOCH + timedelta(microseconds=int(match[1])), match[2])
