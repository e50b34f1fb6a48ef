"""The rules of ordering: places an order in one transaction, answers retries, and reads orders."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection

from api.errors import ApiError, invalid
from api.http.fields import parse_item_id
from api.known_platforms import known_platform
from api.list_pages import page_of, position_of
from api.orders.offers import (
    check_fields,
    check_price,
    item_not_found,
    item_not_in_sandbox,
    new_order,
    real_offer,
    sandbox_offer,
    too_many_orders,
)
from api.orders.placing.idempotency import KEY_HEADER, Call
from api.orders.responses import order_entry
from api.orders.sandbox.scenario import Scenario, moves
from api.orders.schemas import OrderBody
from api.orders.services import OrderServices
from api.orders.transitions import visible
from api.webhooks.endpoints import check_endpoint
from mappings.platforms import Platform
from store import audit
from store.auth.tokens import Token
from store.connection.errors import ItemTaken, QuotaExceeded, Superseded
from store.orders import idempotency, orders, quotas, sandbox
from store.orders.idempotency import NO_REFUSALS, Refusals, StoredResponse
from store.orders.orders import OrderFilter
from store.records import NewOrder, Order, OrderEvent
from store.states import State

FINAL: Final = frozenset({"item_not_found", "item_unavailable", "price_changed"})
"""Refusals that tell a client that its order was not placed, though another moment might have allowed it."""
READ: Final = "order.fulfilment"
"""The audit's word for a read of the buyer's data."""


@dataclass(frozen=True)
class OrderRequest:
    """What a client sent. `platform` and `item` are None where the body names none that can exist."""

    token: Token
    body: OrderBody
    call: Call
    platform: Platform | None
    item: int | None


@dataclass(frozen=True)
class Placed:
    """The 201: the order's id, the JSON text, and whether an earlier call placed it."""

    order_id: str
    response: str
    replayed: bool


async def place_order(services: OrderServices, token: Token, body: OrderBody, call: Call) -> Placed:
    """Places the order, and wakes the workers after the commit. A repeated call gets its first response.

    Raises ApiError: 422 for what the body alone breaks and for a key of another body, 404 for an unknown item, 409 for
    one that cannot be ordered now or has another price than expected. The engine is asked before the transaction,
    never within it.
    """
    platform, item = services.platforms.by_reference(body.platform), parse_item_id(body.item)
    request = OrderRequest(token, body, call, platform, item)
    earlier = await _earlier(services, request)
    if isinstance(earlier, Placed):
        return earlier
    try:
        new, scenario = await _validate(services, request)
    except ApiError as refusal:
        # a duplicate of this request may have been placed meanwhile
        placed = await _placed_meanwhile(services, request, final=refusal.code in FINAL)
        if placed is not None:
            return placed
        raise
    placed = await _place(services, request, new, scenario, earlier)
    if not placed.replayed:
        if not token.sandbox:
            services.metrics.count_transitions("created")
        services.wake_workers()
        if scenario is not None and scenario.lost:
            raise ApiError("store_unavailable", "the sandbox placed the order and loses this response: call again")
    return placed


async def _earlier(services: OrderServices, request: OrderRequest) -> Placed | Refusals:
    """The response to an earlier duplicate: by the key or, without one, the active order of the same body. Where
    there is none, the earlier calls with the key that were refused.
    """
    token, call = request.token, request.call
    async with services.store.reading() as connection:
        if call.key is not None:
            key_state = await idempotency.find(connection, token.id, call.key)
            return key_state.refusals if key_state.stored is None else replay(key_state.stored, call)
        if request.platform is None or request.item is None:
            return NO_REFUSALS
        sandbox_of = token.id if token.sandbox else None
        owner = await orders.active_order(connection, request.platform.id, request.item, sandbox_of)
        return _replay_of_same_body(services, owner, token.id, call) or NO_REFUSALS


async def _placed_meanwhile(services: OrderServices, request: OrderRequest, *, final: bool) -> Placed | None:
    """The order of a duplicate that was placed while this request was being refused. A final refusal supersedes the
    requests with its key that are still under way: what a client was refused is not ordered afterwards.
    """
    call = request.call
    if call.key is None or not final:
        earlier = await _earlier(services, request)
        return earlier if isinstance(earlier, Placed) else None
    async with services.store.transaction() as connection:
        stored = await idempotency.refuse(connection, request.token.id, call.key, datetime.now(UTC))
    return None if stored is None else replay(stored, call)


async def _place(
    services: OrderServices, request: OrderRequest, new: NewOrder, scenario: Scenario | None, refusals: Refusals
) -> Placed:
    """One transaction: the key, the order, its event and the response, all or nothing. A concurrent duplicate waits at
    the key or at the item, and then reads what the first one has committed.
    """
    now, call = datetime.now(UTC), request.call
    try:
        async with services.store.transaction() as connection:
            if call.key is not None:
                stored = await idempotency.claim(connection, new.token_id, call.key, call.body_digest, refusals, now)
                if stored is not None:
                    return replay(stored, call)
            placed = await _insert_or_replay(services, connection, request, new, now)
            if placed is not None and not placed.replayed:
                if scenario is not None:
                    await sandbox.plan(connection, placed.order_id, moves(scenario.steps, now))
                if call.key is not None:
                    await idempotency.save(connection, new.token_id, call.key, placed.order_id, placed.response)
            elif placed is None and call.key is not None:
                await idempotency.refuse(connection, new.token_id, call.key, now)
    except Superseded:
        message = "a later call with this Idempotency-Key was refused, so this one orders nothing: call again"
        raise ApiError("item_unavailable", message) from None
    except QuotaExceeded as error:
        raise too_many_orders(error) from None
    if placed is None:
        raise ApiError("item_unavailable", f"item {new.item} is bound by another order")
    return placed


async def _insert_or_replay(
    services: OrderServices, connection: AsyncConnection, request: OrderRequest, new: NewOrder, now: datetime
) -> Placed | None:
    """Inserts the order. Where its item is taken: the order that has it, if a call without a key repeats that one.

    Raises QuotaExceeded where the order is one too many.
    """
    await check_endpoint(connection, new.token_id, new.callback_url)
    try:
        order = await orders.place(connection, new, now, request.token.name)
    except ItemTaken:
        if request.call.key is not None:
            return None
        sandbox_of = new.token_id if new.sandbox else None
        owner = await orders.active_order(connection, new.platform, new.item, sandbox_of)
        return _replay_of_same_body(services, owner, new.token_id, request.call)
    await quotas.check(connection, order)
    return Placed(order.id, _response(services, order), replayed=False)


def replay(stored: StoredResponse, call: Call) -> Placed:
    """The stored response; raises ApiError `idempotency_key_reused` where it is that of another body."""
    if stored.body_digest != call.body_digest:
        raise invalid(KEY_HEADER, "was used for another body before: use a new one", "idempotency_key_reused")
    return Placed(stored.order_id, stored.response, replayed=True)


def _replay_of_same_body(services: OrderServices, owner: Order | None, token_id: str, call: Call) -> Placed | None:
    """The order that binds the item, if the same token placed it with the same body."""
    if owner is None or owner.token_id != token_id or owner.body_digest != call.body_digest:
        return None
    return Placed(owner.id, _response(services, owner), replayed=True)


def _response(services: OrderServices, order: Order) -> str:
    return orjson.dumps({"status": "success", "order": entry_of(services, order)}).decode()


def entry_of(services: OrderServices, order: Order) -> dict[str, Any]:
    """An order as the contract shapes it; raises LookupError where its platform's file is gone."""
    return order_entry(order, platform_of(services, order), services.settings.public_url)


async def find_order(services: OrderServices, token: Token, order_id: str) -> tuple[Order, list[OrderEvent]]:
    """The order and its history; raises ApiError `order_not_found` for orders that this token must not see."""
    async with services.store.reading() as connection:
        order = await visible(connection, token, order_id)
        return order, await orders.events(connection, order.id)


async def find_orders(
    services: OrderServices,
    token: Token,
    *,
    state: State | None,
    account: str | None,
    item: str | None,
    limit: int,
    cursor: str | None,
) -> tuple[Sequence[Order], str | None]:
    """The page after the cursor, newest first, and the cursor of the next page, None at the end.

    `fulfil` lists every real order; other tokens, and those of a sandbox, list their own.
    """
    after = position_of(cursor)
    number = None if item is None else parse_item_id(item)
    if item is not None and number is None:
        return [], None  # digits that are no item's id in canonical form: no order is of such an item
    everybody = "fulfil" in token.scopes and not token.sandbox
    order_filter = OrderFilter(
        sandbox=token.sandbox, token_id=None if everybody else token.id, state=state, account=account, item=number
    )
    async with services.store.reading() as connection:
        rows = await orders.list_newest(connection, order_filter, after, limit + 1)
    return page_of(rows, limit)


async def read_fulfilment(services: OrderServices, token: Token, order_id: str) -> dict[str, Any]:
    """What fulfilment needs to hand the item over, in the transaction that records the read.

    Raises ApiError: 404 for orders that the token must not see, 410 where the data were erased.
    """
    async with services.store.transaction() as connection:
        order = await visible(connection, token, order_id)
        if not order.email:  # what erasure leaves of an address, which no order lacks
            raise ApiError("personal_data_erased")
        await audit.record(connection, token.actor, READ, order.id, datetime.now(UTC))
    attributed = order.utm_source is not None or order.utm_medium is not None
    return {
        "account": order.account,
        "email": order.email,
        "platformId": order.platform_user_id,
        "tradeLink": order.trade_link,
        "code": order.code,
        "attribution": {"utm_source": order.utm_source, "utm_medium": order.utm_medium} if attributed else None,
    }


def platform_of(services: OrderServices, order: Order) -> Platform:
    """The platform of the order; raises LookupError where its file is gone."""
    platform = services.platforms.by_id(order.platform)
    if platform is None:
        raise LookupError(f"order {order.id} is of platform {order.platform}, which has no file: put it back")
    return platform


async def _validate(services: OrderServices, request: OrderRequest) -> tuple[NewOrder, Scenario | None]:
    """Checks every rule; returns the order to place and the scenario of a sandbox order."""
    token, body, item = request.token, request.body, request.item
    platform = known_platform(services.platforms, body.platform)
    check_fields(services.settings, body, platform)
    if body.max_price is not None and body.expected_price is not None:
        raise invalid("maxPrice", "not together with expectedPrice")
    scenario = None
    if item is None:
        raise item_not_in_sandbox(body.item) if token.sandbox else item_not_found(platform, body.item)
    if token.sandbox:
        offer, scenario = sandbox_offer(platform, item, body.additional_fields)
    else:
        offer = await real_offer(services, platform, item)
    new = new_order(services.settings, token, body, offer, request.call)
    check_price(body, offer, new.total_minor)
    return new, scenario
