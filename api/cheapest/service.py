"""Orders the cheapest items of a search: all in one transaction, or none."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Final

import orjson
from fastapi import Depends
from sqlalchemy.ext.asyncio import AsyncConnection

from api.cheapest.schemas import CheapestBody
from api.errors import ApiError
from api.http.dependencies import service
from api.known_platforms import known_platform
from api.orders.offers import Offer, check_fields, new_order, real_offers, sandbox_offer, too_many_orders
from api.orders.placing.idempotency import Call
from api.orders.sandbox.scenario import Scenario, moves
from api.orders.service import Placed, entry_of, replay
from api.orders.services import OrderServices
from api.search.context import SearchContext, search_context
from api.search.schemas.search import MAX_LIMIT, PAGE_WINDOW, Filters, PriceRange, SearchBody
from api.search.service import SearchServices, strict_page
from api.webhooks.endpoints import check_endpoint
from mappings.money import floor_minor
from mappings.platforms import Platform
from store.auth.tokens import Token
from store.bound_items import bound_among
from store.connection.errors import ItemTaken, QuotaExceeded, Superseded
from store.orders import idempotency, orders, quotas, sandbox
from store.orders.idempotency import Refusals
from store.records import NewOrder

MAX_ATTEMPTS: Final = 20
"""Each fails only because others have ordered all candidates but fewer than are wanted in between."""
SANDBOX_ITEM: Final = "-10"
"""The scenario that a sandbox orders: completed, at the sandbox's price."""

MIN_SPARE: Final = 10
RIVALS: Final = 4
"""There are offers for so many more calls of the same count, at least MIN_SPARE: what rivals order meanwhile is not
looked for again (docs/decisions/0065).
"""


@dataclass(frozen=True)
class CheapestServices:
    """Those of a search, which finds the items, and those of their orders."""

    search: SearchServices
    orders: OrderServices


CheapestDependency = Annotated[CheapestServices, Depends(service(CheapestServices))]


class _TooFewLeftError(Exception):
    """Others have ordered so many of the candidates that new ones must be looked up."""


@dataclass(frozen=True)
class CheapestRequest:
    """What a client sent, the platform, the search, None where it finds nothing, and the key that makes a retry safe:
    the client's own, or one of its body.
    """

    token: Token
    body: CheapestBody
    call: Call
    platform: Platform
    context: SearchContext | None

    @property
    def key(self) -> str:
        """Never empty."""
        return self.call.key if self.call.key is not None else idempotency.UNKEYED + self.call.body_digest


async def order_cheapest(services: CheapestServices, token: Token, body: CheapestBody, call: Call) -> Placed:
    """Places the orders, and wakes the workers after the commit. A repeated call gets its first response: without a key
    as long as one of its orders is not delivered.

    Raises ApiError: 422 for what the body alone breaks and for a key of another body, 409 `not_enough` where fewer
    items than wanted can be ordered at the price.
    """
    platform = known_platform(services.orders.platforms, body.platform)
    check_fields(services.orders.settings, body, platform)
    request = CheapestRequest(token, body, call, platform, cheapest_first(services, body, platform))
    earlier = await _earlier(services.orders, request)
    if isinstance(earlier, Placed):
        return earlier
    try:
        placed = await _order(services, request, earlier)
    except Superseded:
        raise not_enough(0, "a later call with this Idempotency-Key was refused: call again") from None
    except QuotaExceeded as error:
        raise too_many_orders(error) from None
    if not placed.replayed:
        if not request.token.sandbox:
            services.orders.metrics.count_transitions("created", body.count)
        services.orders.wake_workers()
    return placed


async def _earlier(services: OrderServices, request: CheapestRequest) -> Placed | Refusals:
    """The response to an earlier call that this one repeats. Where there is none, the earlier calls with the key that
    were refused.
    """
    async with services.store.reading() as connection:
        state = await idempotency.find(connection, request.token.id, request.key)
        placed = None if state.stored is None else await _repeated(connection, request, state.stored)
        return state.refusals if placed is None else placed


async def _order(services: CheapestServices, request: CheapestRequest, refusals: Refusals) -> Placed:
    for _ in range(MAX_ATTEMPTS):
        candidates, scenario = await _candidates(services, request)
        if len(candidates) < request.body.count:
            return await _refused(services.orders, request, len(candidates))
        while len(candidates) >= request.body.count:
            try:
                return await _place(services.orders, request, candidates, scenario, refusals)
            except ItemTaken as rival:
                candidates = [new for new in candidates if new.item != rival.item]
            except _TooFewLeftError:
                break
    raise ApiError("overloaded", "others order these items faster than they can be looked up: call again")


async def _candidates(services: CheapestServices, request: CheapestRequest) -> tuple[list[NewOrder], Scenario | None]:
    """The orders that may be placed, the cheapest first; without a search there are none."""
    body, platform, scenario = request.body, request.platform, None
    offers: Sequence[Offer] = ()
    if request.token.sandbox:
        offers, scenario = _sandbox_offers(request)
    elif request.context is not None:
        offers = await find_offers(services, request.context, platform, body.count)
    settings, token, call = services.orders.settings, request.token, request.call
    return [new_order(settings, token, body, offer, call) for offer in offers], scenario


def cheapest_first(services: CheapestServices, body: CheapestBody, platform: Platform) -> SearchContext | None:
    """The search for items of at most the body's price; None if its own filter leaves none. Raises ApiError."""
    highest = body.max_price
    price_filter = None if body.search.filters is None else getattr(body.search.filters, "price", None)
    low = None if price_filter is None else price_filter.min
    if price_filter is not None and price_filter.max is not None:
        highest = min(highest, price_filter.max)
    if low is not None and low > highest:
        return None
    filters = (body.search.filters or Filters()).model_copy(update={"price": PriceRange(min=low, max=highest)})
    search = SearchBody(
        platform=platform.id, query=body.search.query, filters=filters, sort="price_asc", limit=MAX_LIMIT
    )
    return search_context(services.search.engine, services.search.platforms, search)


async def find_offers(
    services: CheapestServices, context: SearchContext, platform: Platform, count: int
) -> list[Offer]:
    """The cheapest that can be ordered now, `count` and some more; fewer only where there are no others.

    Prices may have moved since the search: those above its bound are left out.
    """
    highest, wanted = context.query.highest_price, count + max(MIN_SPARE, RIVALS * count)
    offers: list[Offer] = []
    for number in range(1, PAGE_WINDOW // MAX_LIMIT + 1):
        body = context.body.model_copy(update={"page": number})
        page = await strict_page(services.search, context.with_body(body))
        items = [hit["sort"][-2] for hit in page.hits]  # every sort ends with the item and its platform
        bound = await services.search.availability.bound_among([(item, platform.id) for item in items])
        free = [item for item in items if (item, platform.id) not in bound]
        while free and (missing := wanted - len(offers)) > 0:
            some, free = free[:missing], free[missing:]
            offers += [offer for offer in await real_offers(services.orders, platform, some) if offer.price <= highest]
        if len(offers) >= count or number * MAX_LIMIT >= page.total:
            break
    return sorted(offers, key=lambda offer: (offer.price, offer.item))


def _sandbox_offers(request: CheapestRequest) -> tuple[list[Offer], Scenario | None]:
    """As many items as are wanted, which nobody has ordered in this sandbox; none where their price is too high."""
    body, platform = request.body, request.platform
    offers: list[Offer] = []
    scenario = None
    for _ in range(body.count):
        item = int(f"{SANDBOX_ITEM}{secrets.randbelow(10**14):014}")
        offer, scenario = sandbox_offer(platform, item, body.additional_fields)
        if offer.price <= floor_minor(body.max_price, platform.minor_digits):
            offers.append(offer)
    return offers, scenario


async def _place(
    services: OrderServices,
    request: CheapestRequest,
    candidates: Sequence[NewOrder],
    scenario: Scenario | None,
    refusals: Refusals,
) -> Placed:
    """One transaction: the key, the orders and the response, all or nothing. Raises ItemTaken where a rival orders one
    of them at the same time, _TooFewLeftError where rivals have left too few of the candidates.
    """
    now, token = datetime.now(UTC), request.token
    async with services.store.transaction() as connection:
        earlier = await _claim(connection, request, refusals, now)
        if earlier is not None:
            return earlier
        await check_endpoint(connection, token.id, request.body.callback_url)
        taken = set[int]()
        if not token.sandbox:
            taken = await bound_among(connection, request.platform.id, [new.item for new in candidates])
        new_orders = [new for new in candidates if new.item not in taken][: request.body.count]
        if len(new_orders) < request.body.count:
            raise _TooFewLeftError
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
        entries = [entry_of(services, order) for order in placed]
        response = orjson.dumps({"status": "success", "orders": entries}).decode()
        await idempotency.save(connection, token.id, request.key, placed[0].id, response)
    return Placed(placed[0].id, response, replayed=False)


async def _claim(
    connection: AsyncConnection, request: CheapestRequest, refusals: Refusals, now: datetime
) -> Placed | None:
    """Claims the key; the response of an earlier call that this one repeats."""
    token, digest = request.token, request.call.body_digest
    stored = await idempotency.claim(connection, token.id, request.key, digest, refusals, now)
    if stored is None:
        return None
    earlier = await _repeated(connection, request, stored)
    if earlier is None:  # without a key, and all that it ordered is delivered or over: a new purchase
        await idempotency.forget(connection, token.id, request.key)
        await idempotency.claim(connection, token.id, request.key, digest, refusals, now)
    return earlier


async def _repeated(
    connection: AsyncConnection, request: CheapestRequest, stored: idempotency.StoredResponse
) -> Placed | None:
    """The stored response, unless it is that of a purchase without a key which is over."""
    if request.call.key is None:
        ids = [entry["id"] for entry in orjson.loads(stored.response)["orders"]]
        if not await orders.any_undelivered(connection, ids):
            return None
    return replay(stored, request.call)


async def _refused(services: OrderServices, request: CheapestRequest, available: int) -> Placed:
    """Raises ApiError `not_enough`, which is final for what was sent before it with the same key; or the response of a
    duplicate that was placed meanwhile.
    """
    if request.call.key is None:
        earlier = await _earlier(services, request)
        if isinstance(earlier, Placed):
            return earlier
    else:
        async with services.store.transaction() as connection:
            stored = await idempotency.refuse(connection, request.token.id, request.key, datetime.now(UTC))
        if stored is not None:
            return replay(stored, request.call)
    raise not_enough(available, f"{available} can be ordered at this price, not {request.body.count}")


def not_enough(available: int, message: str) -> ApiError:
    """The 409 with the number of items that can be ordered."""
    return ApiError("not_enough", message, extra={"available": available})
