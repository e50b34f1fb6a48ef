"""Lists of orders."""

from collections.abc import Sequence
from typing import Annotated, Final

from fastapi import Query

from api.http.fields import parse_item_id
from api.list_pages import page_of, position_of
from api.orders.schemas import MAX_ACCOUNT_CHARACTERS
from api.orders.services import OrderServices
from store.auth.tokens import Token
from store.orders import orders
from store.orders.orders import OrderFilter
from store.records import Order
from store.states import State

PARAMETERS: Final = ("state", "account", "item", "limit", "cursor")

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


async def list_orders(
    services: OrderServices,
    token: Token,
    *,
    state: State | None,
    account: str | None,
    item: str | None,
    limit: int,
    cursor: str | None,
) -> tuple[Sequence[Order], str | None]:
    """The page after the cursor, newest first, and the cursor of the next page, None at the end.

    `fulfil` lists every real order; other tokens, and those of a sandbox, list their own.
    """
    after = position_of(cursor)
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
    return page_of(rows, limit)
