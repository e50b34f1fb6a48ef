"""Offers: a platform and an order's body in, the item as it can be ordered now out, or the error that says why not."""

from dataclasses import dataclass

from api.errors import ApiError
from api.http.fields import parse_item_id
from api.orders.placing.money import json_number
from api.orders.sandbox.scenario import Scenario, scenario_of
from api.orders.schemas import OrderBody
from api.search.engine.client import StoredItem
from api.services import Services
from mappings.money import from_minor, to_minor
from mappings.platforms import Platform


@dataclass(frozen=True)
class Offer:
    """An item that can be ordered now: its platform, id, price in minor units, and what it looks like."""

    platform: Platform
    number: int
    price: int
    name: str
    image: str | None


async def real_offer(services: Services, platform: Platform, body: OrderBody) -> Offer:
    """The item as the engine has it; raises ApiError for one that is not there or has no price."""
    number = parse_item_id(body.item)
    found: StoredItem | None = None if number is None else await services.engine.item(platform, number)
    if found is None or number is None:
        raise ApiError("item_not_found", f"platform {platform.id} has no item {body.item[:40]!r}")
    if found.price is None:
        raise ApiError("item_unavailable", f"item {number} has no price")
    return Offer(platform, number, found.price, found.item["name"], found.item.get("image"))


def check_price(body: OrderBody, offer: Offer) -> None:
    """Raises ApiError `price_changed` where the client expects another price than the present one."""
    digits = offer.platform.minor_digits
    if body.expected_price is not None and body.expected_price != from_minor(offer.price, digits):
        present = from_minor(offer.price, digits)
        extra = {"price": json_number(offer.price, digits)}
        raise ApiError("price_changed", f"the price of item {offer.number} is {present} now", extra=extra)


def sandbox_offer(platform: Platform, body: OrderBody) -> tuple[Offer, Scenario]:
    """The item as the sandbox has it, and what becomes of its order; no engine is asked, no real item is touched."""
    number = parse_item_id(body.item)
    given = body.additional_fields
    scenario = None if number is None else scenario_of(body.item, None if given is None else given.trade_link)
    if scenario is None or number is None:
        raise ApiError(
            "item_not_found", f"the sandbox has no item {body.item[:40]!r}; docs/sandbox.md lists those it has"
        )
    if scenario.refused is not None:
        raise ApiError(scenario.refused, f"the sandbox refuses item {number}: it {scenario.meaning}")
    price = to_minor(scenario.price, platform.minor_digits)
    return Offer(platform, number, price, f"Sandbox item {number}", None), scenario
