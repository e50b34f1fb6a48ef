"""What an order binds is gone from every way of asking what is on offer, and a release brings it back to all."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from api.settings import Settings
from mappings.fields import FACETS
from mappings.platforms import read_platforms
from tests.support.api.catalogue import put_index
from tests.support.api.waiting import until
from tests.support.app import settings_for
from tests.support.orders.shop import Shop, opened
from tests.support.search import oracle, suggest_oracle
from tests.support.search.items import make_items

TYPED = ("asiimov", "karambit", "sticker", "p")
ITEMS = make_items(40, seed=6)
SINGLE = {name for name, count in Counter(item["name"] for item in ITEMS).items() if count == 1}


@pytest.fixture(params=["sqlite_url", "postgres_database_url"])
def stocked(request: pytest.FixtureRequest, opensearch_url: str, index_prefix: str, tmp_path: Path) -> Settings:
    """Settings of an app on each database, with items whose names, facets and stickers differ."""
    url = str(request.getfixturevalue(request.param))
    settings = settings_for(opensearch_url, index_prefix, tmp_path, database_url=url)
    (platform,) = read_platforms()
    put_index(settings, platform, ITEMS)
    return settings


async def test_what_is_bound_is_in_no_search_facet_group_or_suggestion(stocked: Settings) -> None:
    priced = [item for item in ITEMS if item["price"] is not None]
    sold = [next(item for item in priced if item["name"] in SINGLE)]  # its name is to vanish, not only to count less
    sold += [item for item in priced if item["name"] not in SINGLE][:3]
    left = [item for item in ITEMS if item not in sold]
    async with opened(stocked) as shop:
        assert await _offered(shop) == _expected(ITEMS)
        placed = [await shop.placed(item["id"]) for item in sold]
        await _until_offered(shop, left)
        for order in placed:
            path = f"/v1/orders/{order['id']}/transitions"
            assert (await shop.app.client.post(path, json={"to": "cancelled"})).status_code == 200
        await _until_offered(shop, ITEMS)


async def _until_offered(shop: Shop, items: list[dict[str, Any]]) -> None:
    expected = _expected(items)

    async def so() -> bool:
        return await _offered(shop) == expected

    await until(so, otherwise="some way of asking does not agree with the orders")


FACETED: dict[str, Any] = {"limit": 100, "facets": [row.name for row in FACETS]}
GROUPED: dict[str, Any] = {"limit": 100, "groupBy": "name"}


async def _offered(shop: Shop) -> dict[str, Any]:
    """What is on offer, by each way of asking."""
    plain = (await shop.app.search(FACETED)).json()
    groups = (await shop.app.search(GROUPED)).json()
    walk = (await shop.app.search({"limit": 100, "cursor": "*"})).json()
    typed = {text: (await shop.get(f"/v1/gear/suggest?q={text}&limit=20")).json() for text in TYPED}
    return {
        "total": plain["total"],
        "ids": [item["id"] for item in plain["gear"]],
        "facets": plain["facets"],
        "groups": {item["name"]: (item["id"], item["offers"]) for item in groups["gear"]},
        "names": groups["total"],
        "walked": {item["id"] for item in walk["gear"]},
        "suggestions": {text: suggest_oracle.suggested(response) for text, response in typed.items()},
    }


def _expected(items: list[dict[str, Any]]) -> dict[str, Any]:
    """The same by plain Python over the items that are free."""
    ids, total = oracle.response(items, FACETED)
    heads = oracle.heads(items)
    return {
        "total": total,
        "ids": ids,
        "facets": oracle.facets(items, FACETED),
        "groups": {head["name"]: (head["id"], oracle.offers(items, GROUPED, head["name"])) for head in heads},
        "names": len(heads),
        "walked": {item["id"] for item in items},
        "suggestions": {text: suggest_oracle.expected(items, text, 20) for text in TYPED},
    }
