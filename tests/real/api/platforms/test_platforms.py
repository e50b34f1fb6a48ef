"""`GET /v1/platforms`: every limit that it tells is the one that requests are checked with."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mappings.fields import FILTERS
from tests.support.api.envelope import error_of, fields_of
from tests.support.app import RunningApp

# As the contract has them.
SORTS = ["relevance", "price_asc", "price_desc", "float_asc", "float_desc", "name_asc", "name_desc", "newest"]
CODES = {
    400: ["bad_request", "invalid_json"],
    401: ["unauthorized"],
    403: ["forbidden"],
    404: ["not_found", "item_not_found", "order_not_found", "delivery_not_found", "search_not_found"],
    405: ["method_not_allowed"],
    409: ["item_unavailable", "price_changed", "not_enough", "invalid_transition", "too_many_searches"],
    410: ["cursor_expired", "bookmark_expired", "personal_data_erased"],
    413: ["body_too_large"],
    414: ["uri_too_long"],
    415: ["unsupported_media_type"],
    422: ["validation_failed", "unknown_platform", "page_window_exceeded", "idempotency_key_reused"],
    429: ["rate_limited", "too_many_orders"],
    500: ["internal"],
    503: ["overloaded", "search_unavailable", "store_unavailable"],
}


@pytest.fixture(scope="module")
async def listing(app: RunningApp) -> dict[str, Any]:
    """What the service tells of itself."""
    response = await app.client.get("/v1/platforms")
    assert response.status_code == 200
    body: dict[str, Any] = response.json()
    return body


async def test_a_platform_tells_what_is_on_offer_and_since_when(app: RunningApp, listing: dict[str, Any]) -> None:
    assert set(listing) == {"status", "platforms", "sorts", "limits", "errors"}
    (platform,) = listing["platforms"]
    assert set(platform) == {"id", "slug", "name", "currency", "items", "indexedAt", "filters"}
    assert (platform["id"], platform["slug"], platform["currency"]) == (730, "cs2", "USD")
    assert 4 <= platform["items"] <= 6  # other tests order one or two of the six
    assert platform["indexedAt"].endswith("Z")
    age = datetime.now(UTC) - datetime.fromisoformat(platform["indexedAt"])
    assert timedelta(0) <= age < timedelta(minutes=30)


async def test_every_sort_and_error_code_is_reported(app: RunningApp, listing: dict[str, Any]) -> None:
    assert listing["sorts"] == SORTS
    assert {status: [row["code"] for row in listing["errors"] if row["status"] == status] for status in CODES} == CODES
    assert len(listing["errors"]) == sum(map(len, CODES.values()))
    for sort in listing["sorts"]:
        assert (await app.search({"sort": sort})).status_code == 200


async def test_the_limits_of_a_search_hold_at_their_border(app: RunningApp, listing: dict[str, Any]) -> None:
    limits = listing["limits"]
    inside = [
        {"query": "x" * limits["queryCharacters"]},
        {"limit": limits["limit"]},
        {"limit": 1, "page": limits["pageWindow"]},
    ]
    for body in inside:
        assert (await app.search(body)).status_code == 200
    outside = [
        ({"query": "x" * (limits["queryCharacters"] + 1)}, "query"),
        ({"limit": limits["limit"] + 1}, "limit"),
    ]
    for body, field in outside:
        assert fields_of(await app.search(body), "validation_failed") == [field]
    error_of(await app.search({"limit": 1, "page": limits["pageWindow"] + 1}), "page_window_exceeded")
    by_default = (await app.search({"page": limits["pageWindow"] // limits["defaultLimit"]})).status_code
    assert by_default == 200
    beyond = await app.search({"page": limits["pageWindow"] // limits["defaultLimit"] + 1})
    error_of(beyond, "page_window_exceeded")
    headers = {"Content-Type": "application/json"}
    for size, code in ((limits["bodyBytes"], 200), (limits["bodyBytes"] + 1, 413)):
        response = await app.client.post("/v1/gear/search", content=b"{}".ljust(size), headers=headers)
        assert response.status_code == code


async def test_the_limits_of_every_filter_hold_at_their_border(app: RunningApp, listing: dict[str, Any]) -> None:
    (platform,) = listing["platforms"]
    assert [row["name"] for row in platform["filters"]] == [row.name for row in FILTERS]
    for row in platform["filters"]:
        name = row["name"]
        good, bad = _at_the_border(row)
        for value in good:
            response = await app.search({"filters": {name: value}})
            assert response.status_code == 200, (name, response.text)
        for value in bad:
            response = await app.search({"filters": {name: value}})
            assert [field.split(".")[1] for field in fields_of(response, "validation_failed")] == [name]


def _at_the_border(row: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    if row["kind"] == "range":
        least, most = row["minimum"], row["maximum"]
        return [{"min": least, "max": most}], [{"min": least - 0.01}, {"max": most + 0.01}]
    if row["kind"] == "attachments":
        return _attachments_at_the_border(row)
    if row["kind"] == "integers":
        numbers = list(range(row["maxValues"] + 1))
        return [numbers[:-1], [2**63 - 1]], [numbers, ["1"]]
    values = [f"{number:04}".ljust(row["maxCharacters"] // 2, "x") for number in range(row["maxValues"] + 1)]
    return [values[:-1], ["é" * row["maxCharacters"]]], [values, ["x" * (row["maxCharacters"] + 1)]]


def _attachments_at_the_border(row: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    longest = {"name": "é" * row["maxCharacters"], "minWear": row["minimum"], "maxWear": row["maximum"]}
    most = [longest] * row["maxValues"]
    bad: list[Any] = [{side: [*most, longest]} for side in ("all", "any")]
    changes: list[dict[str, Any]] = [{"name": longest["name"] + "x"}, {"minWear": -0.01}, {"maxWear": 1.01}]
    return [{"all": most, "any": most}], [*bad, *({"all": [{**longest, **change}]} for change in changes)]


async def test_the_limits_of_the_feed_and_of_the_cheapest_are_those_that_are_checked(
    app: RunningApp, listing: dict[str, Any]
) -> None:
    limits = listing["limits"]
    assert limits["changesKeptSeconds"] == 24 * 3600
    since = (await app.client.post("/v1/gear/changes", json={"limit": limits["changesLimit"]})).json()["next"]
    for field, limit in (("limit", "changesLimit"), ("wait", "changesWaitSeconds")):
        body = {"since": since, field: limits[limit] + 1}
        assert fields_of(await app.client.post("/v1/gear/changes", json=body), "validation_failed") == [field]
    body = {"account": "a", "email": "a@example.com", "platform": "cs2", "search": {}, "maxPrice": 0.01}
    for count, refused in ((limits["cheapestCount"], []), (limits["cheapestCount"] + 1, ["count"])):
        response = await app.client.post("/v1/gear/cheapest", json={**body, "count": count})
        assert fields_of(response, "validation_failed" if refused else "not_enough") == refused


async def test_the_rate_limit_is_reported(app: RunningApp, listing: dict[str, Any]) -> None:
    assert listing["limits"]["requestRate"] is listing["limits"]["addressRequestRate"] is None  # this app has none
    assert listing["limits"]["searchesUnderWay"] == 256
    named = ("page", "facets", "groups", "sortedGroups", "relaxedWord", "suggestions")
    assert all(listing["limits"][f"{cost}Cost"] >= 1 for cost in named)
