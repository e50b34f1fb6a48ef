"""Offers: an item as it can be ordered now, or the error that says why it cannot."""

from dataclasses import dataclass

from api.errors import ApiError
from api.orders.placing.money import json_number
from api.orders.sandbox.scenario import Scenario, scenario_of
from api.orders.schemas import OrderBody
from api.services import Services
from mappings.money import from_minor, to_minor
from mappings.platforms import Platform


@dataclass(frozen=True)
class Offer:
    """An item that can be ordered now: its platform, its id, its price in minor units, its name and its image."""

    platform: Platform
    item: int
    price: int
    name: str
    image: str | None


async def real_offer(services: Services, platform: Platform, item: int) -> Offer:
    """The item as the engine has it; raises ApiError where it does not exist or has no price."""
    stored = await services.engine.item(platform, item)
    if stored is None:
        raise item_not_found(platform, str(item))
    if stored.price is None:
        raise ApiError("item_unavailable", f"item {item} has no price")
    return Offer(platform, item, stored.price, stored.item["name"], stored.item.get("image"))


def sandbox_offer(platform: Platform, item: int, trade_link: str | None) -> tuple[Offer, Scenario]:
    """The item as the sandbox has it and the scenario of its order; touches neither the engine nor a real item."""
    scenario = scenario_of(str(item), trade_link)
    if scenario is None:
        raise item_not_in_sandbox(str(item))
    if scenario.refused is not None:
        raise ApiError(scenario.refused, f"the sandbox refuses item {item}: it {scenario.meaning}")
    price = to_minor(scenario.price, platform.minor_digits)
    return Offer(platform, item, price, f"Sandbox item {item}", None), scenario


def item_not_found(platform: Platform, item: str) -> ApiError:
    """The 404 for an item that the platform does not have."""
    return ApiError("item_not_found", f"platform {platform.id} has no item {item[:40]!r}")


def item_not_in_sandbox(item: str) -> ApiError:
    """The 404 for an item that the sandbox does not have."""
    return ApiError("item_not_found", f"the sandbox has no item {item[:40]!r}; docs/sandbox.md lists those it has")


def check_price(body: OrderBody, offer: Offer) -> None:
    """Raises ApiError `price_changed` where the client expects another price."""
    digits = offer.platform.minor_digits
    price = from_minor(offer.price, digits)
    if body.expected_price is not None and body.expected_price != price:
        extra = {"price": json_number(offer.price, digits)}
        raise ApiError("price_changed", f"the price of item {offer.item} is {price} now", extra=extra)
