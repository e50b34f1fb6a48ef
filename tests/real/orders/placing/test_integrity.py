"""A price is what was loaded: nobody is charged what somebody else has written into the index, and no stale price."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from api.settings import Settings
from indexer.documents.checked_item import checked_item
from indexer.documents.digest import encode_document
from indexer.documents.document import index_document
from mappings.connection import connect
from mappings.names import products_of
from mappings.platforms import read_platforms
from tests.support.api.catalogue import put_index, simple_item
from tests.support.api.envelope import error_of
from tests.support.app import settings_for
from tests.support.indices import drop_indices
from tests.support.orders.shop import Shop, opened

CS2 = next(iter(read_platforms()))
KEY = "a secret of the loader and the API"
PLAIN, ODD = 1, 2
ITEMS = [
    simple_item(PLAIN, 21.4),
    {**simple_item(ODD, 10**12), "paint": {"float": 1e-7}, "listedAt": "2026-03-01T12:00:00.123456789Z"},
]


@pytest.fixture(params=["", KEY], ids=["unkeyed", "keyed"])
def signed(request: pytest.FixtureRequest, opensearch_url: str, tmp_path: Path) -> Any:
    """Settings of an app and a loader with this key, and an index that was loaded with it."""
    prefix = f"t{tmp_path.name.replace('_', '-').lower()[:40]}{datetime.now(UTC):%H%M%S%f}"
    settings = settings_for(opensearch_url, prefix, tmp_path, digest_key=request.param or None)
    put_index(settings, CS2, ITEMS)
    yield settings
    drop_indices(opensearch_url, prefix)


@pytest.fixture
async def shop(signed: Settings) -> AsyncIterator[Shop]:
    """The app, running."""
    async with opened(signed) as opened_shop:
        yield opened_shop


def tamper(settings: Settings, number: int, **fields: Any) -> None:
    client = connect(settings)
    client.update(index=settings.alias(CS2.id), id=str(number), body={"doc": fields}, params={"refresh": "true"})
    client.close()


async def refused(shop: Shop, item: int) -> dict[str, Any]:
    with capture_logs() as logs:
        error = error_of(await shop.order(item))
    (line,) = [line for line in logs if line["event"].startswith("an item in the index is not what was loaded")]
    assert (line["platform"], line["item"], line["log_level"]) == (CS2.id, item, "error")
    metrics = (await shop.get("/metrics")).text
    assert f'gear_order_refused_items_total{{reason="{line["differs"]}"}} 1.0' in metrics
    return error


@pytest.mark.parametrize("item", [PLAIN, ODD])
async def test_what_was_loaded_can_be_ordered_again_after_the_engine_rewrote_it(shop: Shop, item: int) -> None:
    for _ in range(2):  # the marks of binding and releasing make the engine write the document anew
        order = await shop.placed(item)
        await shop.until_hidden(item)
        await shop.move(order["id"], "created", "cancelled")
        await shop.until_offered(item)


async def test_a_price_that_differs_from_the_shown_one_is_not_charged(shop: Shop, signed: Settings) -> None:
    tamper(signed, PLAIN, price=1)
    error = await refused(shop, PLAIN)
    assert error["code"] == "item_unavailable"
    assert (await shop.order(ODD)).status_code == 201


async def test_an_item_whose_product_was_changed_is_not_sold(shop: Shop, signed: Settings) -> None:
    client, alias = connect(signed), products_of(signed.alias(CS2.id))
    key = client.get(index=signed.alias(CS2.id), id=str(PLAIN))["_source"]["product"]
    client.update(index=alias, id=key, body={"doc": {"name": "Another"}}, params={"refresh": "true"})
    client.close()
    assert (await refused(shop, PLAIN))["code"] == "item_unavailable"


async def test_only_the_key_makes_a_digest(shop: Shop, signed: Settings) -> None:
    """Who can compute the digest without the key changes an unsigned price; a signed one is refused."""
    document = index_document(checked_item(simple_item(PLAIN, 0.01)), CS2)
    client = connect(signed)
    pieces = b"".join(encode_document(document, 1).pieces)
    client.index(index=signed.alias(CS2.id), id=str(PLAIN), body=pieces, params={"refresh": "true"})
    client.close()
    if signed.derived_digest_key:
        assert (await refused(shop, PLAIN))["code"] == "item_unavailable"
    else:
        assert (await shop.order(PLAIN)).status_code == 201


@pytest.fixture
async def old_shop(opensearch_url: str, tmp_path: Path) -> AsyncIterator[Shop]:
    """A running app whose items were loaded too long ago."""
    prefix = f"told{datetime.now(UTC):%H%M%S%f}"
    settings = settings_for(opensearch_url, prefix, tmp_path, order_max_index_age="2d")
    try:
        put_index(settings, CS2, ITEMS, datetime.now(UTC) - timedelta(days=3))
        async with opened(settings) as opened_shop:
            yield opened_shop
    finally:
        drop_indices(opensearch_url, prefix)


def renew(shop: Shop, item: int) -> None:
    """Leaves the item as a live change of now does."""
    tamper(shop.app.settings, item, version=round(datetime.now(UTC).timestamp() * 10**6))


async def test_an_index_too_old_for_orders_is_refused(old_shop: Shop) -> None:
    response = await old_shop.order(PLAIN)
    assert (response.status_code, error_of(response)["code"]) == (503, "search_unavailable")
    assert "Retry-After" in response.headers
    assert 'gear_order_refused_items_total{reason="age"} 1.0' in (await old_shop.get("/metrics")).text
    renew(old_shop, PLAIN)
    assert (await old_shop.order(PLAIN)).status_code == 201


async def test_of_the_cheapest_those_that_are_too_old_are_passed_over(old_shop: Shop) -> None:
    async def cheapest(count: int) -> httpx.Response:
        buyer = {"account": "client-17", "email": "buyer@example.com", "platform": "cs2"}
        body = {**buyer, "search": {}, "maxPrice": 10**12, "count": count}
        return await old_shop.app.client.post("/v1/gear/cheapest", json=body)

    assert "too old" in error_of(await cheapest(1), "search_unavailable")["message"]
    renew(old_shop, ODD)  # the other is cheaper
    assert error_of(await cheapest(2), "not_enough")["available"] == 1
    response = await cheapest(1)
    assert [order["item"] for order in response.json()["orders"]] == [str(ODD)]
