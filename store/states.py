"""The states of an order. Pure."""

from typing import Final, Literal, get_args

State = Literal["created", "processing", "delivered", "completed", "failed", "cancelled", "reverted"]

STATES: Final[tuple[State, ...]] = get_args(State)
OPEN: Final[tuple[State, ...]] = ("created", "processing", "delivered")
RELEASED: Final[frozenset[State]] = frozenset({"failed", "cancelled", "reverted"})
"""States that release the item, for good: no transition leaves them."""
ENDED: Final[frozenset[State]] = frozenset(STATES) - frozenset(OPEN)
"""States that only a reverted trade leaves."""
