"""Single items: by their id alone, on offer or not."""

from typing import Any

import pytest

from mappings.items.item import GearItem
from tests.support.api.catalogue import BOUND, ITEMS, LEAST, MOST, PRICED, PRICELESS
from tests.support.api.envelope import error_of, fields_of
from tests.support.app import RunningApp

ORDER = {"account": "a-1", "email": "buyer@shop.example", "platform": "cs2"}


async def item(app: RunningApp, reference: str) -> dict[str, Any]:
    response = await app.client.get(f"/v1/gear/{reference}")
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    assert list(body) == ["status", "gear", "available"]
    return body


@pytest.mark.parametrize("number", [PRICED, LEAST, MOST])
@pytest.mark.parametrize("query", ["", "?platform=cs2", "?platform=730"])
async def test_an_item_is_found_by_its_id(app: RunningApp, number: int, query: str) -> None:
    body = await item(app, f"{number}{query}")
    assert body["available"] is True
    loaded = next(candidate for candidate in ITEMS if candidate["id"] == number)
    assert body["gear"] == GearItem.model_validate(loaded).model_dump(by_alias=True)


async def test_an_item_is_the_same_in_a_search_and_alone(app: RunningApp) -> None:
    hits = (await app.search({"filters": {"ids": [PRICED]}})).json()["gear"]
    assert hits == [(await item(app, str(PRICED)))["gear"]]


async def test_an_item_without_a_price_is_shown_but_not_available(app: RunningApp) -> None:
    body = await item(app, str(PRICELESS))
    assert (body["gear"]["price"], body["available"]) == (None, False)


async def test_an_item_bound_by_an_order_is_shown_but_not_available(app: RunningApp) -> None:
    placed = await app.client.post("/v1/gear", json={**ORDER, "item": str(BOUND)})
    assert placed.status_code == 201, placed.text
    body = await item(app, str(BOUND))
    assert (body["gear"]["id"], body["gear"]["price"], body["available"]) == (BOUND, 2.5, False)


@pytest.mark.parametrize(
    "reference",
    ["404", "-404", "0", "01", "+1", "1.0", "1e0", " 1", "1 ", "-0", "x", "٣", "１", "0x1", "1_0", "%00",
     "%F0%9F%98%80", str(2**63), str(-(2**63) - 1), "9" * 5000, "null", "%ff"],
)  # fmt: skip
async def test_what_is_no_id_of_an_item_is_a_404(app: RunningApp, reference: str) -> None:
    error = error_of(await app.client.get(f"/v1/gear/{reference}"), "item_not_found")
    assert len(error["message"]) < 200


@pytest.mark.parametrize("platform", ["731", "CS2", "", "0730", "730.0", "%00", "x" * 5000])
async def test_an_unknown_platform_is_a_422_that_names_the_known(app: RunningApp, platform: str) -> None:
    response = await app.client.get(f"/v1/gear/{PRICED}?platform={platform}")
    assert fields_of(response, "unknown_platform") == ["platform"]
    assert "730 (cs2)" in response.json()["error"]["message"]
