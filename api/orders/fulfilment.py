"""What fulfilment needs to hand an item over: the one answer with the buyer's data. Each read is in the audit."""

from datetime import UTC, datetime
from typing import Any, Final

from api.errors import ApiError
from api.orders.services import OrderServices
from api.orders.transitions import visible
from store import audit
from store.auth.tokens import Token
from store.records import Order

READ: Final = "order.fulfilment"
"""The audit's word for a read."""


async def read_fulfilment(services: OrderServices, token: Token, order_id: str) -> dict[str, Any]:
    """The buyer's data of the order, in the transaction that records the read.

    Raises ApiError: 404 for orders that the token must not see, 410 where the data were erased.
    """
    async with services.store.transaction() as connection:
        order = await visible(connection, token, order_id)
        if not order.email:  # what erasure leaves of an address, which no order lacks
            raise ApiError("personal_data_erased")
        await audit.record(connection, token.actor, READ, order.id, datetime.now(UTC))
    return fulfilment_entry(order)


def fulfilment_entry(order: Order) -> dict[str, Any]:
    """The order's data as the contract shapes them."""
    attributed = order.utm_source is not None or order.utm_medium is not None
    return {
        "account": order.account,
        "email": order.email,
        "platformId": order.platform_user_id,
        "tradeLink": order.trade_link,
        "code": order.code,
        "attribution": {"utm_source": order.utm_source, "utm_medium": order.utm_medium} if attributed else None,
    }
