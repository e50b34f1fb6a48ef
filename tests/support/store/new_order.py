"""The order that tests place, with every field that an order must have."""

from typing import Any

from store.records import NewOrder

_REQUIRED: dict[str, Any] = {
    "platform": 730,
    "item_name": "AK-47 | Redline (Field-Tested)",
    "account": "client-17",
    "email": "buyer@example.com",
    "fee_mode": "excluded",
    "currency": "USD",
    "price_minor": 2140,
    "fee_minor": 107,
    "total_minor": 2247,
}


def new_order(token_id: str, item: int, **fields: Any) -> NewOrder:
    """An order of an item, with these fields in place of the usual ones."""
    return NewOrder(**{**_REQUIRED, "token_id": token_id, "item": item, **fields})
