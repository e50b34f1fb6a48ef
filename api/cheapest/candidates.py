"""Finds the items that may be ordered: the cheapest that a search finds, each checked as every order's item is."""

from typing import Final

from api.cheapest.schemas import CheapestBody
from api.cheapest.services import CheapestServices
from api.orders.offers import Offer, real_offers
from api.search.context import SearchContext, search_context
from api.search.schemas.search import MAX_LIMIT, PAGE_WINDOW, Filters, PriceRange, SearchBody
from api.search.service import strict_page
from mappings.platforms import Platform

MIN_SPARE: Final = 10
RIVALS: Final = 4
"""There are offers for so many more calls of the same count, at least MIN_SPARE: what rivals order meanwhile is not
looked for again (docs/decisions/0065).
"""


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
