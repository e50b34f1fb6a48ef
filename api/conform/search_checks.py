"""Checks of searches, items, suggestions, platforms and prices. They read, and change nothing."""

from collections.abc import Sequence
from typing import Any, Final

from api.conform.checks import check
from api.conform.deployment import Deployment, exactly, in_some_try, require
from api.conform.http_checks import SEARCH

# The contract once more, and not the service's own tables: a table that changed by mistake must be seen.
ITEM: Final = ("id", "name", "price", "image", "inspectLink", "description", "details", "paint", "attachments")
DETAILS: Final = ("type", "weapon", "set", "quality", "rarity", "exterior", "phase", "tournament", "color")
PAINT: Final = ("float", "seed", "index", "pattern")
SORTS: Final = {"price_asc", "price_desc", "float_asc", "float_desc", "name_asc", "name_desc", "newest", "relevance"}
ODD_TEXTS: Final = ('" OR 1=1 --', "(((", "AND OR NOT", "*?~^:", "\u0000\u0007", "ak-47 " * 20, "★ ™ 🔪", "-", "0x1f")


def _ids(response: dict[str, Any]) -> list[int]:
    return [item["id"] for item in response["gear"]]


@check("search", "A request that uses only given fields gets a response with exactly the given fields.")
def given_fields(deployment: Deployment) -> None:
    body = {"query": "", "limit": 5, "page": 1, "sort": "price_asc"}
    response = deployment.send("POST", SEARCH, body).keys("status", "gear", "total")
    require(response["gear"], "nothing is on offer: load a catalogue")
    for item in response["gear"]:
        exactly(item, ITEM, "an item")
        exactly(item["details"], DETAILS, "an item's details")
        exactly(item["paint"], PAINT, "an item's paint")
        require(isinstance(item["attachments"], list), "an item's attachments are no list")


@check("search", "limit: default 20, 1 to 100, else 422.")
def limit(deployment: Deployment) -> None:
    response = deployment.search()
    require(len(response["gear"]) == min(20, response["total"]), f"{len(response['gear'])} items by default")
    for wrong in (0, 101):
        deployment.send("POST", SEARCH, {"limit": wrong}).error(422, "validation_failed", "limit")


@check("search", "page x limit <= 10,000, else 422 page_window_exceeded.")
def page_window(deployment: Deployment) -> None:
    deployment.send("POST", SEARCH, {"page": 101, "limit": 100}).error(422, "page_window_exceeded")


@check("search", "platform: unknown is 422 unknown_platform.")
def unknown_platform(deployment: Deployment) -> None:
    deployment.send("POST", SEARCH, {"platform": 2**31 - 1}).error(422, "unknown_platform")


@check("search", "filters.price is inclusive; min > max is 422.")
def price_filter(deployment: Deployment) -> None:
    cheapest = deployment.search(sort="price_asc", limit=1)["gear"][0]["price"]
    hits = deployment.search(filters={"price": {"min": cheapest, "max": cheapest}}, limit=100)
    require(hits["total"] >= 1, f"no item costs {cheapest}, the lowest price on offer")
    require({item["price"] for item in hits["gear"]} == {cheapest}, "an item has another price than the filter's")
    wrong = {"filters": {"price": {"min": 2, "max": 1}}}
    deployment.send("POST", SEARCH, wrong).error(422, "validation_failed")


@check("search", "price_asc and price_desc sort by price, ties by id ascending.")
def price_sorts(deployment: Deployment) -> None:
    for sort, sign in (("price_asc", 1), ("price_desc", -1)):
        items = deployment.search(sort=sort, limit=100)["gear"]
        keys = [(item["price"] is None, sign * (item["price"] or 0), item["id"]) for item in items]
        require(keys == sorted(keys), f"{sort} is out of order")


@check("search", "Filters of strings are any of inside a field; facets count them exactly.")
def string_filters(deployment: Deployment) -> None:
    def counts_match() -> bool:
        facet = deployment.search(facets=["weapon"], limit=1)["facets"]["weapon"][:2]
        require(facet, "no item has a weapon")
        values = [entry["value"] for entry in facet]
        hits = deployment.search(filters={"weapon": values}, limit=100)
        require({item["details"]["weapon"] for item in hits["gear"]} <= set(values), "a hit has another weapon")
        return bool(hits["total"] == sum(entry["count"] for entry in facet))

    in_some_try(counts_match, "the total is not the sum of the facet's counts")


@check("search", "Unknown values match nothing (200, 0).")
def unknown_values(deployment: Deployment) -> None:
    response = deployment.search(filters={"weapon": ["no such weapon"]})
    require((response["total"], response["gear"]) == (0, []), f"{response['total']} items have an unknown weapon")


@check("search", "Folding: filter values ignore case and outer blanks.")
def folding(deployment: Deployment) -> None:
    def same_total() -> bool:
        value = deployment.search(facets=["weapon"], limit=1)["facets"]["weapon"][0]["value"]
        totals = [deployment.search(filters={"weapon": [text]})["total"] for text in (value, f"  {value.upper()} ")]
        return bool(totals[0] == totals[1])

    in_some_try(same_total, "a value in capitals finds another number of items")


@check("search", "query: empty or blank means everything.")
def blank_query(deployment: Deployment) -> None:
    in_some_try(
        lambda: bool(deployment.search(query="  \t ")["total"] == deployment.search()["total"]),
        "a blank text finds another number of items than none",
    )


@check("search", "Any other text is just text, never an error; over 200 characters is 422.")
def any_text(deployment: Deployment) -> None:
    for text in ODD_TEXTS:
        deployment.send("POST", SEARCH, {"query": text, "limit": 1}).keys("status", "gear", "total")
    deployment.send("POST", SEARCH, {"query": "x" * 201}).error(422, "validation_failed", "query")


@check("search", "Pages are stable: the second goes on where the first ends.")
def pages(deployment: Deployment) -> None:
    def continues() -> bool:
        both = _ids(deployment.search(sort="price_asc", limit=10))
        parts = [_ids(deployment.search(sort="price_asc", limit=5, page=page)) for page in (1, 2)]
        return parts[0] + parts[1] == both

    in_some_try(continues, "two pages of 5 are not the page of 10")


@check("search", "nextCursor continues a cursor; with page it is 422.")
def cursor(deployment: Deployment) -> None:
    first = deployment.search(sort="price_asc", limit=5, cursor="*")
    following = deployment.search(sort="price_asc", limit=5, cursor=first["nextCursor"]) if first["nextCursor"] else {}
    require(not set(_ids(first)) & set(_ids(following or {"gear": []})), "a cursor repeats an item")
    require(len(first["gear"]) == min(5, first["total"]), "a page of a cursor is short")
    require(first["total"] <= 5 or following["gear"], "a cursor ends before the last hit")
    deployment.send("POST", SEARCH, {"cursor": "*", "page": 2}).error(422, "validation_failed")
    deployment.send("POST", SEARCH, {"cursor": "garbled"}).error(422, "validation_failed", "cursor")


@check("search", 'groupBy: "name" gives one hit for each name, with offers.')
def groups(deployment: Deployment) -> None:
    hits = deployment.search(groupBy="name", limit=50)["gear"]
    names = [item["name"] for item in hits]
    require(len(names) == len(set(names)), "a name comes twice")
    for item in hits:
        exactly(item["offers"], ("count", "priceMin", "priceMax", "floatMin", "floatMax"), "offers")
        require(item["price"] == item["offers"]["priceMin"], "a group's hit is not its cheapest item")


@check("search", "explain: true adds interpretation.")
def explain(deployment: Deployment) -> None:
    response = deployment.send("POST", SEARCH, {"query": "ak redline", "explain": True, "limit": 1})
    response.keys("status", "gear", "total", "interpretation")


@check("search", "GET /v1/gear/{id} answers {status, gear: {item}, available}.")
def item(deployment: Deployment) -> None:
    platform = deployment.platform()["id"]
    hit: dict[str, Any] = deployment.search(limit=1, sort="price_asc", platform=platform)["gear"][0]
    response = deployment.send("GET", f"/v1/gear/{hit['id']}?platform={platform}").keys("status", "gear", "available")
    require({**hit, "price": None} == {**response["gear"], "price": None}, "the item differs from the search's hit")
    require(isinstance(response["available"], bool), "available is no boolean")


@check("search", "An unknown id, or one that is no number: 404 item_not_found or not_found.")
def unknown_item(deployment: Deployment) -> None:
    platform = deployment.platform()["id"]
    deployment.send("GET", f"/v1/gear/-9223372036854775807?platform={platform}").error(404, "item_not_found")
    deployment.send("GET", f"/v1/gear/none?platform={platform}").expect(404)


@check("search", "GET /v1/gear/suggest answers {status, suggestions: [{text, kind, count}]}; limit 1 to 20.")
def suggest(deployment: Deployment) -> None:
    offered: Sequence[Any] = ()
    for start in ("a", "m", "s"):
        body = deployment.send("GET", f"/v1/gear/suggest?q={start}&limit=5").keys("status", "suggestions")
        if offered := body["suggestions"]:
            break
    require(offered, "there are no suggestions")
    require(len(offered) <= 5, "more suggestions than the limit")
    for suggestion in offered:
        exactly(suggestion, ("text", "kind", "count"), "a suggestion")
    deployment.send("GET", "/v1/gear/suggest?q=a&limit=21").error(422, "validation_failed", "limit")


@check("search", "GET /v1/platforms: every limit readable by a machine.")
def platforms(deployment: Deployment) -> None:
    body = deployment.send("GET", "/v1/platforms").keys("status", "platforms", "sorts", "limits", "errors")
    require(set(body["sorts"]) >= SORTS, f"sorts are {body['sorts']}")
    for platform in body["platforms"]:
        exactly(platform, ("id", "slug", "name", "currency", "items", "indexedAt", "filters"), "a platform")


@check("search", "GET /v1/gear/prices is one document with ETag and 304.")
def prices(deployment: Deployment) -> None:
    path = f"/v1/gear/prices?platform={deployment.platform()['id']}"

    def unchanged() -> bool:
        response = deployment.send("GET", path).expect(200)
        require("etag" in response.headers, "ETag is missing")
        again = deployment.send("GET", path, headers={"If-None-Match": response.headers["etag"]})
        return again.status == 304 and not again.body

    in_some_try(unchanged, "the same document is never a 304")
