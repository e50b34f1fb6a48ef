"""Orders as clients see them in JSON. Pure."""

from collections.abc import Callable, Sequence
from typing import Any

from mappings.money import json_number
from mappings.platforms import Platform, Platforms
from mappings.timestamps import rfc3339
from store.records import Order, OrderEvent


def order_entry(order: Order, platform: Platform, public_url: str) -> dict[str, Any]:
    digits = platform.minor_digits
    return {
        "id": order.id,
        "state": order.state,
        "platform": platform.slug,
        "item": str(order.item),
        "account": order.account,
        "code": order.code,
        "fee": order.fee_mode,
        "amounts": {
            "price": json_number(order.price_minor, digits),
            "fee": json_number(order.fee_minor, digits),
            "total": json_number(order.total_minor, digits),
            "currency": order.currency,
        },
        "createdAt": rfc3339(order.created_at),
        "updatedAt": rfc3339(order.updated_at),
        "statusUrl": f"{public_url}/orders/{order.status_key}",
    }


def order_entries(platforms: Platforms, public_url: str) -> Callable[[Order], dict[str, Any] | None]:
    """Gives an order as the contract shapes it, and None where its platform's file is gone."""

    def entry_of(order: Order) -> dict[str, Any] | None:
        platform = platforms.by_id(order.platform)
        return None if platform is None else order_entry(order, platform, public_url)

    return entry_of


def history_entries(events: Sequence[OrderEvent]) -> list[dict[str, Any]]:
    """The changes of an order, oldest first."""
    return [{"state": event.state, "at": rfc3339(event.at), "reason": event.reason} for event in events]
