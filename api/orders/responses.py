"""Orders as clients see them in JSON. Pure."""

from collections.abc import Sequence
from typing import Any

from api.webhooks.payload import PlatformFileGoneError
from mappings.money import json_number
from mappings.platforms import Platform, Platforms
from mappings.timestamps import rfc3339
from store.records import Order, OrderEvent


def platform_of(order: Order, platforms: Platforms) -> Platform:
    platform = platforms.by_id(order.platform)
    if platform is None:
        message = f"order {order.id} is of platform {order.platform}, which has no file: put it back"
        raise PlatformFileGoneError(message)
    return platform


def order_entry(order: Order, platforms: Platforms, public_url: str) -> dict[str, Any]:
    """An order as the contract shapes it; raises PlatformFileGoneError."""
    platform = platform_of(order, platforms)
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


def history_entries(events: Sequence[OrderEvent]) -> list[dict[str, Any]]:
    return [{"state": event.state, "at": rfc3339(event.at), "reason": event.reason} for event in events]
