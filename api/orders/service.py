"""The rules of ordering: a checked body and a token in, a stored order out, or the error that says why not."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from api.errors import ApiError, Detail, invalid
from api.numbers import item_number
from api.orders.additional_fields import broken_rules
from api.orders.addresses import url_problem
from api.orders.amounts import amounts_of, json_number
from api.orders.schemas import AdditionalFields, Attribution, OrderBody
from api.orders.transitions import visible
from api.search.engine import StoredItem
from api.services import Services
from mappings.money import from_minor
from mappings.platforms import Platform
from store import orders
from store.errors import ItemTaken
from store.orders import NewOrder, Order, OrderEvent
from store.tokens import Token


@dataclass(frozen=True)
class Offer:
    """An item that can be ordered now: its platform, id, price in minor units, and what it looks like."""

    platform: Platform
    number: int
    price: int
    name: str
    image: str | None


async def place_order(services: Services, token: Token, body: OrderBody, wake: Callable[[], None]) -> Order:
    """Places the order and has the item hidden; `wake` is called once the order is kept.

    Raises ApiError: 422 for what the body alone breaks, 404 for an unknown item, 409 for one that cannot be ordered
    now or has another price than expected. The engine is asked before the transaction, never within it.
    """
    if token.sandbox:
        raise ApiError("forbidden", "a sandbox token touches no real item, and every item here is real")
    platform = _platform(services, body)
    _check_fields(services, body, platform)
    offer = await _offer(services, body, platform)
    _check_price(body, offer)
    new = _new_order(services, token, body, offer)
    try:
        async with services.store.transaction() as connection:
            order = await orders.place(connection, new, datetime.now(UTC))
    except ItemTaken:
        raise ApiError("item_unavailable", f"item {offer.number} is bound by another order") from None
    wake()
    return order


async def find_order(services: Services, token: Token, order_id: str) -> tuple[Order, list[OrderEvent]]:
    """The order and its history; raises ApiError `order_not_found` for orders that this token must not see."""
    async with services.store.reading() as connection:
        order = await visible(connection, token, order_id)
        return order, await orders.events(connection, order.id)


def platform_of(services: Services, order: Order) -> Platform:
    """The platform that the order was placed on; raises LookupError where its file is gone."""
    platform = services.platforms.by_id(order.platform)
    if platform is None:
        message = f"order {order.id} is of platform {order.platform}, which has no file: put it back"
        raise LookupError(message)
    return platform


def _platform(services: Services, body: OrderBody) -> Platform:
    platform = services.platforms.by_reference(body.platform)
    if platform is None:
        message = f"unknown platform; known are {services.platforms.known()}"
        raise invalid("platform", message, "unknown_platform")
    return platform


def _check_fields(services: Services, body: OrderBody, platform: Platform) -> None:
    given = body.additional_fields or AdditionalFields()
    details = broken_rules(platform.order, given.platform_id, given.trade_link)
    urls = {"successUrl": body.success_url, "failureUrl": body.failure_url, "callbackUrl": body.callback_url}
    for field, url in urls.items():
        problem = url is not None and url_problem(url, allow_insecure=services.settings.allow_insecure_callbacks)
        if problem:
            details.append(Detail(field, problem))
    if details:
        raise ApiError("validation_failed", f"{details[0].field}: {details[0].message}", details)


async def _offer(services: Services, body: OrderBody, platform: Platform) -> Offer:
    number = item_number(body.item)
    found: StoredItem | None = None if number is None else await services.engine.item(platform, number)
    if found is None or number is None:
        raise ApiError("item_not_found", f"platform {platform.id} has no item {body.item[:40]!r}")
    if found.price is None:
        raise ApiError("item_unavailable", f"item {number} has no price")
    return Offer(platform, number, found.price, found.item["name"], found.item.get("image"))


def _check_price(body: OrderBody, offer: Offer) -> None:
    digits = offer.platform.minor_digits
    if body.expected_price is not None and body.expected_price != from_minor(offer.price, digits):
        present = from_minor(offer.price, digits)
        extra = {"price": json_number(offer.price, digits)}
        raise ApiError("price_changed", f"the price of item {offer.number} is {present} now", extra=extra)


def _new_order(services: Services, token: Token, body: OrderBody, offer: Offer) -> NewOrder:
    amounts = amounts_of(offer.price, services.settings.fee_rate, body.fee)
    additional = body.additional_fields or AdditionalFields()
    attribution = body.attribution or Attribution()
    return NewOrder(
        token_id=token.id,
        platform=offer.platform.id,
        item=offer.number,
        item_name=offer.name,
        item_image=offer.image,
        account=body.account,
        email=body.email,
        platform_user_id=additional.platform_id,
        trade_link=additional.trade_link,
        code=body.code,
        fee_mode=body.fee,
        currency=offer.platform.currency,
        price_minor=amounts.price,
        fee_minor=amounts.fee,
        total_minor=amounts.total,
        utm_source=attribution.utm_source,
        utm_medium=attribution.utm_medium,
        success_url=body.success_url,
        failure_url=body.failure_url,
        callback_url=body.callback_url,
    )
