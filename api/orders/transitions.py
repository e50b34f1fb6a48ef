"""Transitions between the states of an order, and who may make them.

The statement that makes a transition decides whether it happens, never a read before it.
"""

from datetime import UTC, datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncConnection

from api.errors import ApiError, Detail
from api.orders.schemas import TransitionBody
from api.orders.services import OrderServices
from store.auth.tokens import Token
from store.orders import orders
from store.records import Order, OrderEvent
from store.states import State

# state: the states that lead to it; there are no other transitions
REACHED_FROM: Final[dict[State, frozenset[State]]] = {
    "created": frozenset(),
    "processing": frozenset({"created"}),
    "delivered": frozenset({"processing"}),
    "completed": frozenset({"delivered"}),
    "failed": frozenset({"created", "processing"}),
    "cancelled": frozenset({"created", "processing"}),
    "reverted": frozenset({"delivered", "completed"}),
}
OWN_MOVE: Final[tuple[State, State]] = ("created", "cancelled")
"""The one transition that an order's own token may make without the scope `fulfil`."""


def sees(token: Token, order: Order) -> bool:
    """Whether the token may see the order: its own, and with `fulfil` every real one. A sandbox is private."""
    fulfils = "fulfil" in token.scopes and not token.sandbox and not order.sandbox
    return order.token_id == token.id or fulfils


async def visible(connection: AsyncConnection, token: Token, order_id: str) -> Order:
    """The order of this id; raises ApiError `order_not_found` where the token must not see it."""
    order = await orders.get(connection, order_id)
    if order is None or not sees(token, order):
        raise ApiError("order_not_found")
    return order


async def move_order(
    services: OrderServices, token: Token, order_id: str, body: TransitionBody
) -> tuple[Order, list[OrderEvent]]:
    """Moves the order and gives it with its history.

    Raises ApiError: 404 for orders that the token must not see, 403 for moves that are not its own, 409 for moves
    that do not exist from the order's present state, its own state included.
    """
    async with services.store.transaction() as connection:
        await visible(connection, token, order_id)  # the owner of an order never changes
        fulfils = "fulfil" in token.scopes
        if not fulfils and body.to != OWN_MOVE[1]:
            raise _not_allowed()
        allowed = REACHED_FROM[body.to] if fulfils else {OWN_MOVE[0]}
        change = body.to, body.reason, datetime.now(UTC), token.actor
        while (moved := await orders.move(connection, order_id, allowed, *change)) is None:
            order = await visible(connection, token, order_id)
            if order.state not in allowed:  # else a rival has moved it there in between
                raise _refusal(order, body.to)
        return moved, await orders.events(connection, order_id)


def _refusal(order: Order, to: State) -> ApiError:
    """Why the order cannot move from its present state."""
    if order.state in REACHED_FROM[to]:
        return _not_allowed()
    message = f"the order is {order.state}" + (" already" if order.state == to else f" and cannot become {to}")
    return ApiError("invalid_transition", message, [Detail("to", message)])


def _not_allowed() -> ApiError:
    before, after = OWN_MOVE
    return ApiError("forbidden", f"without the scope 'fulfil' an order can only go from {before} to {after}")
