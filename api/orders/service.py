"""The rules of ordering: a checked body and a token in, a stored order out, or the error that says why not."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection

from api.errors import ApiError, Detail, invalid
from api.http.fields import parse_item_id
from api.orders.answers import order_entry
from api.orders.placing.additional_fields import broken_rules
from api.orders.placing.idempotency import KEY_HEADER, Call
from api.orders.placing.money import amounts_of
from api.orders.placing.offers import Offer, check_price, real_offer, sandbox_offer
from api.orders.sandbox.scenario import Scenario, moves
from api.orders.schemas import AdditionalFields, Attribution, OrderBody
from api.orders.transitions import visible
from api.orders.webhooks.addresses import url_problem
from api.services import Services
from mappings.platforms import Platform
from store.auth.tokens import Token
from store.connection.errors import ItemTaken, Superseded
from store.orders import idempotency, orders, sandbox
from store.orders.idempotency import StoredResponse
from store.records import NewOrder, Order, OrderEvent

FINAL: Final = frozenset({"item_not_found", "item_unavailable", "price_changed"})
"""Refusals by which a client takes its order for not placed, and which another moment may not have brought."""


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
    earlier = await _earlier(services, token, body, call)
    if isinstance(earlier, Placed):
        return earlier
    try:
        new, scenario = await _asked(services, token, body, call)
    except ApiError as refusal:
        # what is refused now may have been granted meanwhile to the same call
        granted = await _granted(services, token, body, call, final=refusal.code in FINAL)
        if granted is not None:
            return granted
        raise
    placed = await _placed(services, new, scenario, call, earlier)
    if not placed.replayed:
        wake()
        if scenario is not None and scenario.lost:
            raise ApiError("store_unavailable", "the sandbox placed the order and loses this answer: call again")
    return placed


async def _earlier(services: Services, token: Token, body: OrderBody, call: Call) -> Placed | int:
    """What the same call was answered before, by its key; without a key, the active order of the same body. Where
    there is neither, how many calls with the key were refused before.
    """
    async with services.store.reading() as connection:
        if call.key is not None:
            known = await idempotency.find(connection, token.id, call.key)
            return known.refusals if known.stored is None else _replayed(known.stored, call)
        platform, number = services.platforms.by_reference(body.platform), parse_item_id(body.item)
        if platform is None or number is None:
            return 0
        held = await orders.active_order(connection, platform.id, number, token.id if token.sandbox else None)
        return _same(services, held, token.id, call) or 0


async def _granted(services: Services, token: Token, body: OrderBody, call: Call, *, final: bool) -> Placed | None:
    """The same call's order, where it was placed while this call was being refused. A refusal that says `no` and not
    `later` ends the calls with its key that are still on their way: what the client was refused it does not get.
    """
    if call.key is None or not final:
        earlier = await _earlier(services, token, body, call)
        return earlier if isinstance(earlier, Placed) else None
    async with services.store.transaction() as connection:
        kept = await idempotency.refuse(connection, token.id, call.key, datetime.now(UTC))
    return None if kept is None else _replayed(kept, call)


async def _placed(services: Services, new: NewOrder, scenario: Scenario | None, call: Call, refusals: int) -> Placed:
    """One transaction: the key, the order, its event and the answer, all or nothing. Whoever comes second waits at the
    key or at the item, and then finds what the first one left.
    """
    now = datetime.now(UTC)
    try:
        async with services.store.transaction() as connection:
            if call.key is not None:
                kept = await idempotency.claim(connection, new.token_id, call.key, call.body_digest, refusals, now)
                if kept is not None:
                    return _replayed(kept, call)
            placed = await _order_or_twin(services, connection, new, call, now)
            if placed is not None and not placed.replayed:
                if scenario is not None:
                    await sandbox.plan(connection, placed.order_id, moves(scenario.steps, now))
                if call.key is not None:
                    await idempotency.save(connection, new.token_id, call.key, placed.order_id, placed.answer)
            elif placed is None and call.key is not None:
                await idempotency.refuse(connection, new.token_id, call.key, now)
    except Superseded:
        message = "a later call with this Idempotency-Key was refused, so this one orders nothing: call again"
        raise ApiError("item_unavailable", message) from None
    if placed is None:
        raise ApiError("item_unavailable", f"item {new.item} is bound by another order")
    return placed


async def _order_or_twin(
    services: Services, connection: AsyncConnection, new: NewOrder, call: Call, now: datetime
) -> Placed | None:
    """The order; where its item is taken, the order that took it if a call without a key asks for the same again."""
    try:
        order = await orders.place(connection, new, now)
    except ItemTaken:
        if call.key is not None:
            return None
        held = await orders.active_order(connection, new.platform, new.item, new.token_id if new.sandbox else None)
        return _same(services, held, new.token_id, call)
    return Placed(order.id, _answer(services, order), replayed=False)


def _replayed(kept: StoredResponse, call: Call) -> Placed:
    if kept.body_digest != call.body_digest:
        raise invalid(KEY_HEADER, "was used for another body before: use a new one", "idempotency_key_reused")
    return Placed(kept.order_id, kept.response, replayed=True)


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


async def _asked(services: Services, token: Token, body: OrderBody, call: Call) -> tuple[NewOrder, Scenario | None]:
    """The order that the body asks for, once it keeps every rule, and what a sandbox does with it."""
    platform = _platform(services, body)
    _check_fields(services, body, platform)
    if token.sandbox:
        offer, scenario = sandbox_offer(platform, body)
    else:
        offer, scenario = await real_offer(services, platform, body), None
    check_price(body, offer)
    return _new_order(services, token, body, offer, call), scenario


def _new_order(services: Services, token: Token, body: OrderBody, offer: Offer, call: Call) -> NewOrder:
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
        sandbox=token.sandbox,
        body_digest=call.body_digest,
    )
