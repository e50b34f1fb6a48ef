"""The oracle: the answer that the contract promises to a search, by plain Python over a list of items."""

import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from mappings.fields import FILTERS, SORTS, Filter, Kind, Sort
from tests.support.search import text_oracle

Item = dict[str, Any]

# Which filters there are, and where an item has their values; the index fields of the table are what is tested.
ROWS = {row.name: row for row in FILTERS}
FACETS = tuple(row.name for row in FILTERS if row.facet)
LISTS = tuple(name for name in FACETS if ROWS[name].kind is Kind.FOLDED)


def fold(value: str) -> str:
    """Case, accents, ™, ★, outer and double blanks dropped; a value that folds to nothing stays as it is."""
    bare = "".join(
        each for each in unicodedata.normalize("NFKD", value.replace("™", "")) if not unicodedata.combining(each)
    )
    folded = " ".join(bare.replace("★", "").lower().split())
    return folded or value


def in_range(value: float | None, bounds: dict[str, Any] | None) -> bool:
    """Whether a number lies within inclusive bounds; nothing lies within bounds where there is no number."""
    low, high = (bounds or {}).get("min"), (bounds or {}).get("max")
    if low is None and high is None:
        return True
    if value is None:
        return False
    exact = Decimal(repr(value))
    return (low is None or exact >= low) and (high is None or exact <= high)


def has_attached(item: Item, wanted: dict[str, Any]) -> bool:
    """Whether the item has so many attachments of this name that meet the conditions, each of them all by itself."""
    low, high = wanted.get("minWear"), wanted.get("maxWear")
    of_the_name = [each for each in item["attachments"] if fold(each["name"]) == fold(wanted["name"])]
    fit = [each for each in of_the_name if in_range(each["wear"], {"min": low, "max": high})]
    return len(fit) >= (wanted.get("count") or 1)


def fits_attachments(item: Item, wanted: dict[str, Any]) -> bool:
    """Whether the item's attachments are what a filter asks for."""
    either = wanted.get("any") or []
    return (
        all(has_attached(item, each) for each in wanted.get("all") or [])
        and (not either or any(has_attached(item, each) for each in either))
        and in_range(len(item["attachments"]), wanted.get("count"))
    )


def hits_of(items: list[Item], body: dict[str, Any]) -> list[Item]:
    """The items that are hits: which reading of the text is in force is decided by all items."""
    has_text = text_oracle.test_of(body.get("query") or "", items)
    return [item for item in items if has_text(item) and matches(item, body)]


def matches(item: Item, body: dict[str, Any]) -> bool:
    """Whether the item passes the filters."""
    filters = body.get("filters") or {}
    return all(passes(item, row, filters[row.name]) for row in FILTERS if filters.get(row.name))


def passes(item: Item, row: Filter, wanted: Any) -> bool:
    """Whether the item passes one filter."""
    value = row.value_in(item)
    if row.kind is Kind.ATTACHMENTS:
        return fits_attachments(item, wanted)
    if row.kind in (Kind.MONEY, Kind.RANGE):
        return in_range(value, wanted)
    if row.kind is Kind.FOLDED:
        return fold(value or "\0") in {fold(each) for each in wanted}
    return value in wanted


@dataclass(frozen=True)
class _Order:
    key: Callable[[Item], Any]
    descending: bool


def _listed_at(item: Item) -> datetime | None:
    text = item.get("listedAt")
    return None if text is None else datetime.fromisoformat(text)


def _key_of(sort: Sort) -> Callable[[Item], Any]:
    name, _, form = sort.field.partition(".")
    if name == "listedAt":  # which no filter reads
        return _listed_at
    row = next(row for row in FILTERS if row.field == name)
    return (lambda item: fold(row.value_in(item)).encode()) if form == "folded" else row.value_in


_ORDERS = {sort.name: _Order(_key_of(sort), sort.descending) for sort in SORTS if sort.name != "relevance"}


def in_order(items: list[Item], sort: str) -> list[Item]:
    """The items by a sort other than relevance: those without the value last, ties by id ascending."""
    order = _ORDERS[sort]
    by_id = sorted(items, key=lambda item: item["id"])
    valued = [item for item in by_id if order.key(item) is not None]
    valued.sort(key=order.key, reverse=order.descending)  # stable: equal values keep the order of their ids
    return valued + [item for item in by_id if order.key(item) is None]


def response(items: list[Item], body: dict[str, Any]) -> tuple[list[int] | None, int]:
    """The ids of the page in their order, and the total; None for the ids where the order is by relevance."""
    hits = hits_of(items, body)
    if body.get("groupBy"):
        hits = list(heads(hits))
    query = (body.get("query") or "").strip()
    sort = body.get("sort") or ("relevance" if query else "price_asc")
    if sort == "relevance" and not query:
        sort = "price_asc"
    if sort == "relevance":
        return None, len(hits)
    limit, page = body.get("limit") or 20, body.get("page") or 1
    ordered = in_order(hits, sort)[(page - 1) * limit : page * limit]
    return [item["id"] for item in ordered], len(hits)


def heads(hits: list[Item]) -> list[Item]:
    """The cheapest item of each name; ties by id, items without price last."""
    cheapest: dict[str, Item] = {}
    for item in in_order(hits, "price_asc"):
        cheapest.setdefault(item["name"], item)
    return list(cheapest.values())


def offers(items: list[Item], body: dict[str, Any], name: str) -> dict[str, Any]:
    """What all hits of a name span."""
    hits = [item for item in hits_of(items, body) if item["name"] == name]
    prices = [item["price"] for item in hits if item["price"] is not None]
    floats = [item["paint"]["float"] for item in hits if item["paint"]["float"] is not None]
    return {
        "count": len(hits),
        "priceMin": min(prices, default=None),
        "priceMax": max(prices, default=None),
        "floatMin": min(floats, default=None),
        "floatMax": max(floats, default=None),
    }


def without(body: dict[str, Any], name: str) -> dict[str, Any]:
    """The body without the selection of one field."""
    others = {key: value for key, value in (body.get("filters") or {}).items() if key != name}
    return {**body, "filters": others}


def facets(items: list[Item], body: dict[str, Any]) -> dict[str, Any]:
    """The facets that the body asks for."""
    return {name: facet(items, body, name) for name in body.get("facets") or ()}


def _spelled(value: str) -> str:
    """As facets list it: with single blanks."""
    return " ".join(value.split()) or value


def facet(items: list[Item], body: dict[str, Any], name: str) -> Any:
    """The counts by one field, whose own selection does not narrow them."""
    row = ROWS[name]
    values = [row.value_in(item) for item in hits_of(items, without(body, name))]
    if row.kind is not Kind.FOLDED:
        return _histogram(values, _LADDER if row.kind is Kind.MONEY else _HUNDREDTHS)
    counts = Counter(_spelled(value) for value in values if value is not None)
    alike = Counter(fold(value) for value in values if value is not None)
    selected = {fold(value) for value in (body.get("filters") or {}).get(name) or ()}
    stored = {_spelled(value) for item in items if (value := row.value_in(item)) is not None}
    listed = set(counts) | {value for value in stored if fold(value) in selected}
    ordered = sorted(listed, key=lambda value: (-alike[fold(value)], value))
    return [{"value": value, "count": alike[fold(value)]} for value in ordered]


_LADDER = [Decimal(0), *(Decimal(step).scaleb(power) for power in range(-2, 12) for step in (1, 2, 5)), Decimal(10**12)]
_HUNDREDTHS = [Decimal(step) / 100 for step in range(101)]


def _histogram(values: list[float | None], edges: list[Decimal]) -> dict[str, Any]:
    exact = sorted(Decimal(repr(value)) for value in values if value is not None)
    if not exact:
        return {"min": None, "max": None, "buckets": []}
    last = len(edges) - 2
    places = [min(last, max(place for place, edge in enumerate(edges) if edge <= value)) for value in exact]
    counts = Counter(places)
    return {
        "min": float(exact[0]),
        "max": float(exact[-1]),
        "buckets": [
            {"from": float(edges[place]), "to": float(edges[place + 1]), "count": counts[place]}
            for place in range(places[0], places[-1] + 1)
        ],
    }
