"""The body of `POST /v1/gear/cheapest`, and its response."""

from typing import Annotated

from pydantic import Field

from api.http.fields import INTEGER, NullDefault, Price, Strict, success
from api.orders.schemas import OrderEntry, OrderFields
from api.search.schemas.search import MAX_QUERY_CHARACTERS, Filters

MAX_ORDERS = 20


class CheapestSearch(Strict):
    """Which items will do, as `POST /v1/gear/search` takes it."""

    query: Annotated[str, Field(strict=True, max_length=MAX_QUERY_CHARACTERS), NullDefault("")] = Field(
        default="",
        description="words that an item must have or mean; nothing is read more loosely than it was typed",
    )
    filters: Filters | None = None


class CheapestBody(OrderFields):
    """`POST /v1/gear/cheapest`: null for a field means absent."""

    search: CheapestSearch = Field(description="what to look for")
    max_price: Price = Field(description="no item costs more")
    count: Annotated[int, Field(ge=1, le=MAX_ORDERS), INTEGER, NullDefault(1)] = Field(
        default=1, description="how many items: all of them are ordered, or none"
    )


CheapestResponse = success("CheapestResponse", "The placed orders, the cheapest item first.", orders=list[OrderEntry])
