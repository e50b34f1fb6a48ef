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
from api.orders.offers import Offer, check_fields, new_order, real_offers, sandbox_offer
from api.orders.placing.idempotency import Call
from api.orders.sandbox.scenario import Scenario
from api.orders.service import Placed, Purchase, claim, insert, place, refused
from api.orders.services import OrderServices
from api.search.context import SearchContext, search_context
from api.search.schemas.search import MAX_LIMIT, PAGE_WINDOW, Filters, PriceRange, SearchBody
from api.search.service import SearchServices, strict_page
from mappings.money import floor_minor
from mappings.platforms import Platform
from store.auth.tokens import Token
from store.bound_items import bound_among
from store.connection.errors import ItemTaken
from store.orders import orders
from store.orders.idempotency import UNKEYED, Refusals, StoredResponse
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
class CheapestRequest(Purchase):
    """The order of the cheapest items that a search finds; `context` is None where it finds nothing."""

    body: CheapestBody
    cheapest: CheapestServices
    platform: Platform
    context: SearchContext | None

    async def attempt(self, refusals: Refusals) -> Placed:
        for _ in range(MAX_ATTEMPTS):
            candidates, scenario = await _candidates(self)
            if (available := len(candidates)) < self.count:
                message = f"{available} can be ordered at this price, not {self.count}"
                return await refused(self, not_enough(available, message))
            while len(candidates) >= self.count:
                try:
                    return await _place(self, candidates, scenario, refusals)
                except ItemTaken as rival:
                    candidates = [new for new in candidates if new.item != rival.item]
                except _TooFewLeftError:
                    break
        raise ApiError("overloaded", "others order these items faster than they can be looked up: call again")

    async def repeated(self, connection: AsyncConnection, stored: StoredResponse | None) -> Placed | None:
        """The stored response while one of its orders is not delivered."""
        if stored is None:
            return None
        ids = [entry["id"] for entry in orjson.loads(stored.response)["orders"]]
        if not await orders.any_undelivered(connection, ids):
            return None
        return Placed(stored.order_id, stored.response, replayed=True)


async def order_cheapest(services: CheapestServices, token: Token, body: CheapestBody, call: Call) -> Placed:
    """Places the orders. A call without a key repeats an earlier one as long as one of its orders is not delivered.

    Raises ApiError: 422 for what the body alone breaks and for a key of another body, 409 `not_enough` where fewer
    items than wanted can be ordered at the price.
    """
    platform = known_platform(services.orders.platforms, body.platform)
    check_fields(services.orders.settings, body, platform)
    context = cheapest_first(services, body, platform)
    stored_key = UNKEYED + call.body_digest if call.key is None else call.key
    superseded = not_enough(0, "a later call with this Idempotency-Key was refused: call again")
    request = CheapestRequest(
        services.orders, token, body, call, stored_key, body.count, superseded, services, platform, context
    )
    return await place(request)


async def _candidates(request: CheapestRequest) -> tuple[list[NewOrder], Scenario | None]:
    """The orders that may be placed, the cheapest first; without a search there are none."""
    body, platform, scenario = request.body, request.platform, None
    offers: Sequence[Offer] = ()
    if request.token.sandbox:
        offers, scenario = _sandbox_offers(request)
    elif request.context is not None:
        offers = await find_offers(request.cheapest, request.context, platform, body.count)
    settings, token, call = request.services.settings, request.token, request.call
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

    Prices may have moved since the search: those above its bound are left out. Items that were loaded too long ago are
    passed over; raises ApiError `search_unavailable` for a page that has nothing else.
    """
    highest, wanted = context.query.highest_price, count + max(MIN_SPARE, RIVALS * count)
    offers: list[Offer] = []
    for number in range(1, PAGE_WINDOW // MAX_LIMIT + 1):
        body = context.body.model_copy(update={"page": number})
        page = await strict_page(services.search, context.with_body(body))
        items = [hit["sort"][-2] for hit in page.hits]  # every sort ends with the item and its platform
        bound = await services.search.availability.bound_among([(item, platform.id) for item in items])
        free = [item for item in items if (item, platform.id) not in bound]
        earlier, refusal = len(offers), None
        while free and (missing := wanted - len(offers)) > 0:
            some, free = free[:missing], free[missing:]
            orderable, too_old = await real_offers(services.orders, platform, some)
            offers += [offer for offer in orderable if offer.price <= highest]
            refusal = too_old or refusal
        if refusal is not None and len(offers) == earlier:
            raise refusal
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
    request: CheapestRequest, candidates: Sequence[NewOrder], scenario: Scenario | None, refusals: Refusals
) -> Placed:
    """Orders the cheapest of the candidates that are free. Raises ItemTaken where a rival orders one of them at the
    same time, _TooFewLeftError where rivals have left too few.
    """
    now = datetime.now(UTC)
    async with request.services.store.transaction() as connection:
        earlier = await claim(connection, request, refusals, now)
        if earlier is not None:
            return earlier
        taken = set[int]()
        if not request.token.sandbox:
            taken = await bound_among(connection, request.platform.id, [new.item for new in candidates])
        new_orders = [new for new in candidates if new.item not in taken][: request.count]
        if len(new_orders) < request.count:
            raise _TooFewLeftError
        return await insert(connection, request, new_orders, scenario, now)


def not_enough(available: int, message: str) -> ApiError:
    """The 409 with the number of items that can be ordered."""
    return ApiError("not_enough", message, extra={"available": available})
