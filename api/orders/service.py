"""The rules of ordering: a checked body and a token in, a stored order out, or the error that says why not."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import orjson

from api.errors import ApiError, Detail, invalid
from api.numbers import item_number
from api.orders.additional_fields import broken_rules
from api.orders.addresses import url_problem
from api.orders.amounts import amounts_of, json_number
from api.orders.answers import order_entry
from api.orders.retries import KEY_HEADER, Call
from api.orders.schemas import AdditionalFields, Attribution, OrderBody
from api.orders.transitions import visible
from api.search.engine import StoredItem
from api.services import Services
from mappings.money import from_minor
from mappings.platforms import Platform
from store import idempotency, orders
from store.errors import ItemTaken
from store.idempotency import Kept
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


@dataclass(frozen=True)
class Placed:
    """The 201: the order's id, the JSON text, and whether an earlier call placed it."""

    order_id: str
    answer: str
    replayed: bool


async def place_order(
    services: Services, token: Token, body: OrderBody, call: Call, wake: Callable[[], None]
) -> Placed:
    """Places the order and has the item hidden; `wake` is called once the order is kept. A call that was made before
    is answered as it was then.

    Raises ApiError: 422 for what the body alone breaks and for a key of another body, 404 for an unknown item, 409 for
    one that cannot be ordered now or has another price than expected. The engine is asked before the transaction,
    never within it.
    """
    if token.sandbox:
        raise ApiError("forbidden", "a sandbox token touches no real item, and every item here is real")
    earlier = await _earlier(services, token, body, call)
    if earlier is not None:
        return earlier
    try:
        new = await _new_order(services, token, body, call)
    except ApiError:
        # what is refused now may have been granted meanwhile to the same call
        earlier = await _earlier(services, token, body, call)
        if earlier is not None:
            return earlier
        raise
    placed = await _placed(services, new, call)
    if not placed.replayed:
        wake()
    return placed


async def _earlier(services: Services, token: Token, body: OrderBody, call: Call) -> Placed | None:
    """What the same call was answered before, by its key; without a key, the active order of the same body."""
    async with services.store.reading() as connection:
        if call.key is not None:
            kept = await idempotency.find(connection, token.id, call.key)
            return None if kept is None else _replayed(kept, call)
        platform, number = services.platforms.by_reference(body.platform), item_number(body.item)
        if platform is None or number is None:
            return None
        return _same(services, await orders.holder(connection, platform.id, number, None), token.id, call)


async def _placed(services: Services, new: NewOrder, call: Call) -> Placed:
    """One transaction: the key, the order, its event and the answer, all or nothing. Whoever comes second waits at the
    key or at the item, and then finds what the first one left.
    """
    now = datetime.now(UTC)
    try:
        async with services.store.transaction() as connection:
            if call.key is not None:
                kept = await idempotency.claim(connection, new.token_id, call.key, call.body_digest, now)
                if kept is not None:
                    return _replayed(kept, call)
            try:
                order = await orders.place(connection, new, now)
            except ItemTaken:
                held = await orders.holder(connection, new.platform, new.item, None) if call.key is None else None
                same = _same(services, held, new.token_id, call)
                if same is None:
                    raise
                return same
            placed = Placed(order.id, _answer(services, order), replayed=False)
            if call.key is not None:
                await idempotency.keep(connection, new.token_id, call.key, order.id, placed.answer)
            return placed
    except ItemTaken:
        raise ApiError("item_unavailable", f"item {new.item} is bound by another order") from None


def _replayed(kept: Kept, call: Call) -> Placed:
    if kept.body_digest != call.body_digest:
        raise invalid(KEY_HEADER, "was used for another body before: use a new one", "idempotency_key_reused")
    return Placed(kept.order_id, kept.answer, replayed=True)


def _same(services: Services, held: Order | None, token_id: str, call: Call) -> Placed | None:
    """The order that holds the item, if this very body placed it."""
    if held is None or held.token_id != token_id or held.body_digest != call.body_digest:
        return None
    return Placed(held.id, _answer(services, held), replayed=True)


def _answer(services: Services, order: Order) -> str:
    entry = order_entry(order, platform_of(services, order), services.settings.public_url)
    return orjson.dumps({"status": "success", "order": entry}).decode()


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


async def _new_order(services: Services, token: Token, body: OrderBody, call: Call) -> NewOrder:
    """The order that the body asks for, once it keeps every rule."""
    platform = _platform(services, body)
    _check_fields(services, body, platform)
    offer = await _offer(services, body, platform)
    _check_price(body, offer)
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
        body_digest=call.body_digest,
    )
