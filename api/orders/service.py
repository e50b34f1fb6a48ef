"""The rules of ordering: places the orders of a call in one transaction, answers retries, and reads orders.

An ordinary order is a batch of one.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection

from api.errors import ApiError, invalid
from api.http.fields import parse_item_id
from api.known_platforms import known_platform
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
from api.orders.schemas import OrderBody, OrderFields
from api.orders.services import OrderServices
from api.orders.transitions import visible
from api.webhooks.endpoints import check_endpoint
from mappings.platforms import Platform
from store import audit
from store.auth.tokens import Token
from store.connection.errors import ItemTaken, QuotaExceeded, Superseded
from store.orders import idempotency, orders, quotas, sandbox
from store.orders.idempotency import NO_REFUSALS, Refusals, StoredResponse
from store.records import NewOrder, Order

FINAL: Final = frozenset({"item_not_found", "item_unavailable", "price_changed", "not_enough"})
"""Refusals that tell a client that nothing was ordered, though another moment might have allowed it."""
READ: Final = "order.fulfilment"
"""The audit's word for a read of the buyer's data."""


@dataclass(frozen=True)
class Placed:
    """The 201: the first order's id, the JSON text, whether an earlier call placed it, and if the sandbox loses it."""

    order_id: str
    response: str
    replayed: bool
    lost: bool = False


@dataclass(frozen=True)
class Purchase(ABC):
    """What a client sent to order `count` items. The response is stored under `stored_key`, if there is one.
    `superseded` is the refusal where another call with the key was refused meanwhile.
    """

    services: OrderServices
    token: Token
    body: OrderFields
    call: Call
    stored_key: str | None = field(repr=False)
    count: int
    superseded: ApiError

    @abstractmethod
    async def attempt(self, refusals: Refusals) -> Placed:
        """Chooses the items, and orders them by `claim` and `insert` in one transaction. Raises ApiError."""

    @abstractmethod
    async def repeated(self, connection: AsyncConnection, stored: StoredResponse | None) -> Placed | None:
        """What a call without a key repeats, unless it is over. `stored` is the response under `stored_key`."""

    def response(self, placed: Sequence[Order]) -> str:
        """The JSON text of the 201."""
        entries = [entry_of(self.services, order) for order in placed]
        return orjson.dumps({"status": "success", "orders": entries}).decode()


async def place(purchase: Purchase) -> Placed:
    """Places the orders, and wakes the workers after the commit. A repeated call gets its first response.

    Raises ApiError: 422 for a key of another body, 429 beyond a quota, and what the purchase's attempt raises.
    """
    services = purchase.services
    earlier, refusals = await _earlier(purchase)
    if earlier is not None:
        return earlier
    try:
        placed = await purchase.attempt(refusals)
    except Superseded:
        raise purchase.superseded from None
    except QuotaExceeded as error:
        raise too_many_orders(error) from None
    if not placed.replayed:
        if not purchase.token.sandbox:
            services.metrics.count_transitions("created", purchase.count)
        services.wake_workers()
    if placed.lost:
        raise ApiError("store_unavailable", "the sandbox placed the order and loses this response: call again")
    return placed


async def _earlier(purchase: Purchase) -> tuple[Placed | None, Refusals]:
    """The response to an earlier call that this one repeats, and the earlier calls with its key that were refused."""
    stored, refusals = None, NO_REFUSALS
    async with purchase.services.store.reading() as connection:
        if purchase.stored_key is not None:
            stored, refusals = await idempotency.find(connection, purchase.token.id, purchase.stored_key)
        return await _replay(connection, purchase, stored), refusals


async def _replay(connection: AsyncConnection, purchase: Purchase, stored: StoredResponse | None) -> Placed | None:
    if purchase.call.key is None:
        return await purchase.repeated(connection, stored)
    if stored is None:
        return None
    if stored.body_digest != purchase.call.body_digest:
        raise invalid(KEY_HEADER, "was used for another body before: use a new one", "idempotency_key_reused")
    return Placed(stored.order_id, stored.response, replayed=True)


async def refused(purchase: Purchase, refusal: ApiError) -> Placed:
    """The response of a duplicate that was placed while this call was being refused; raises the refusal without one. A
    final refusal supersedes the calls with its key that are still under way: what a client was refused is not ordered
    afterwards.
    """
    if purchase.call.key is None or refusal.code not in FINAL:
        placed, _ = await _earlier(purchase)
    else:
        async with purchase.services.store.transaction() as connection:
            placed = await _refuse(connection, purchase, datetime.now(UTC))
    if placed is None:
        raise refusal
    return placed


async def _refuse(connection: AsyncConnection, purchase: Purchase, now: datetime) -> Placed | None:
    """Counts the refusal, if there is a key; the response that this call repeats after all."""
    key = purchase.call.key
    stored = None if key is None else await idempotency.refuse(connection, purchase.token.id, key, now)
    return await _replay(connection, purchase, stored)


async def claim(connection: AsyncConnection, purchase: Purchase, refusals: Refusals, now: datetime) -> Placed | None:
    """Claims the key for this transaction; the response where this call repeats an earlier one. A concurrent duplicate
    waits here, and then reads what the first one has committed.

    Raises ApiError for a callback that no endpoint of the token covers, Superseded.
    """
    token, key = purchase.token, purchase.stored_key
    if key is not None:
        row = connection, token.id, key, purchase.call.body_digest, refusals, now
        stored = await idempotency.claim(*row)
        if stored is not None:
            earlier = await _replay(connection, purchase, stored)
            if earlier is not None:
                return earlier
            # without a key, and all that it ordered is delivered or over: a new purchase
            await idempotency.forget(connection, token.id, key)
            await idempotency.claim(*row)
    await check_endpoint(connection, token.id, purchase.body.callback_url)
    return None


async def insert(
    connection: AsyncConnection,
    purchase: Purchase,
    new_orders: Sequence[NewOrder],
    scenario: Scenario | None,
    now: datetime,
) -> Placed:
    """Inserts the orders with their events, and saves the response, in the transaction that has claimed the key.

    Raises ItemTaken where a rival orders one of the items at the same time, QuotaExceeded where there is one too many.
    """
    token = purchase.token
    # by ascending item, so that two that want the same ones never wait for each other
    by_item = {
        new.item: await orders.place(connection, new, now, token.name)
        for new in sorted(new_orders, key=lambda new: new.item)
    }
    placed = [by_item[new.item] for new in new_orders]
    await quotas.check(connection, placed[-1])
    if scenario is not None:
        for order in placed:
            await sandbox.plan(connection, order.id, moves(scenario.steps, now))
    first, response = placed[0].id, purchase.response(placed)
    if purchase.stored_key is not None:
        await idempotency.save(connection, token.id, purchase.stored_key, first, response)
    return Placed(first, response, replayed=False, lost=scenario is not None and scenario.lost)


@dataclass(frozen=True)
class OrderRequest(Purchase):
    """The order of one item. `platform` and `item` are None where the body names none that can exist."""

    body: OrderBody
    platform: Platform | None
    item: int | None

    async def attempt(self, refusals: Refusals) -> Placed:
        try:
            new, scenario = await _validate(self)
        except ApiError as refusal:
            return await refused(self, refusal)
        now = datetime.now(UTC)
        async with self.services.store.transaction() as connection:
            placed = await claim(connection, self, refusals, now)
            if placed is None:
                try:
                    placed = await insert(connection, self, [new], scenario, now)
                except ItemTaken:
                    placed = await _refuse(connection, self, now)
        if placed is None:
            raise ApiError("item_unavailable", f"item {new.item} is bound by another order")
        return placed

    async def repeated(self, connection: AsyncConnection, stored: StoredResponse | None) -> Placed | None:
        """The active order of the item, if the same token placed it with the same body."""
        if self.platform is None or self.item is None:
            return None
        sandbox_of = self.token.id if self.token.sandbox else None
        owner = await orders.active_order(connection, self.platform.id, self.item, sandbox_of)
        if owner is None or (owner.token_id, owner.body_digest) != (self.token.id, self.call.body_digest):
            return None
        return Placed(owner.id, self.response([owner]), replayed=True)

    def response(self, placed: Sequence[Order]) -> str:
        return orjson.dumps({"status": "success", "order": entry_of(self.services, placed[0])}).decode()


async def place_order(services: OrderServices, token: Token, body: OrderBody, call: Call) -> Placed:
    """Places the order of one item.

    Raises ApiError: 422 for what the body alone breaks and for a key of another body, 404 for an unknown item, 409 for
    one that cannot be ordered now or has another price than expected. The engine is asked before the transaction,
    never within it.
    """
    message = "a later call with this Idempotency-Key was refused, so this one orders nothing: call again"
    superseded = ApiError("item_unavailable", message)
    platform, item = services.platforms.by_reference(body.platform), parse_item_id(body.item)
    return await place(OrderRequest(services, token, body, call, call.key, 1, superseded, platform, item))


def entry_of(services: OrderServices, order: Order) -> dict[str, Any]:
    """An order as the contract shapes it; raises PlatformFileGoneError."""
    return order_entry(order, services.platforms, services.settings.public_url)


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


async def _validate(request: OrderRequest) -> tuple[NewOrder, Scenario | None]:
    """Checks every rule; returns the order to place and the scenario of a sandbox order."""
    services, token, body, item = request.services, request.token, request.body, request.item
    platform = request.platform or known_platform(services.platforms, body.platform)  # which raises
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
