"""Groups hits by name: one hit a name, its cheapest item, with what all its offers span. Framework-free.

Items of one name have the same number, `group`. The engine collapses hits by it and orders groups by their cheapest
item, the head. That is the requested order for `price_asc` alone; for any other sort all heads are fetched with the
values that they are sorted by, and sorted here.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

import orjson

from api.engine.clauses import Clause, aggregation_request
from api.engine.responses import EngineResponse, Gear, Json, hits_of, total_of
from api.errors import ApiError
from api.search.context import Page, SearchContext
from api.search.query.request import NO_VALUE, SORTS_BY_NAME, SearchQuery, sort_clauses
from mappings.money import json_number

# `max_result_window` of gear.json, and below the 65,535 buckets of one response (search.max_buckets).
MAX_HEADS = 50_000
Part = tuple[int, int]  # of all groups, from the lowest number to the highest
ALL_GROUPS: Part = (-(2**63), 2**63 - 1)
# Groups are read after their order. If all offers of one have gone in between, both are read again.
MAX_ATTEMPTS = 3

_GROUP = "group"
SPANS: Clause = {name: {"stats": {"field": name}} for name in ("price", "float")}
"""The aggregations that tell what the offers of a name span."""
_CHEAPEST_FIRST = sort_clauses(SORTS_BY_NAME["price_asc"])
# Only the sort values of a hit are read, and the engine has them without loading the item.
_SORT_VALUES_ONLY: Clause = {"_source": False, "stored_fields": "_none_"}
_SORT_VALUES_PATH = "hits.hits.sort"
# What `group_count_request` makes the engine build and not send.
_UNSENT_PATH = "-aggregations.names.buckets"


class Head(NamedTuple):
    """A group's cheapest item: the values that it is sorted by, None where it has none, and its id."""

    group: int
    values: tuple[Any, ...]
    id: int
    platform: int


@dataclass(frozen=True)
class _Order:
    groups: list[int]
    total: int
    items: int
    last: Sequence[Any] = ()
    has_next: bool = False


async def grouped_page(context: SearchContext, max_heads: int = MAX_HEADS) -> Page:
    """The body's page of groups; raises ApiError `search_unavailable`.

    A cursor reads the groups of its point in time, each with its offers as they are now.
    """
    query = context.query
    for _ in range(MAX_ATTEMPTS):
        order = await _order(context, max_heads)
        if not order.groups:
            return Page([], order.total, query.parsed, items=order.items)
        (response,) = await context.index.search_all([group_hits_request(query, order.groups)])
        gear = group_hits(response, order.groups, query.minor_digits)
        if len(gear) == len(order.groups) or context.pit is not None:
            return Page(
                gear,
                order.total,
                query.parsed,
                size=len(order.groups),
                items=order.items,
                after=order.last,
                has_next=order.has_next,
            )
    raise ApiError("search_unavailable", "the offers change faster than they can be read")


async def rank_of_group(context: SearchContext, group: int) -> tuple[int | None, int]:
    """The rank of a group from 1, None if it is behind what pages reach, and the number of groups."""
    order = await _order(context.all_pages())
    return order.groups.index(group) + 1 if group in order.groups else None, order.total


async def _order(context: SearchContext, max_heads: int = MAX_HEADS) -> _Order:
    query = context.query
    if query.sort.name != "price_asc" or context.pit is not None:
        return await _sorted_here(context, max_heads)
    requests = [group_page_request(query), group_count_request(query, max_heads)]
    page, count = await context.source.search_all(requests, _SORT_VALUES_PATH, _UNSENT_PATH)
    groups, total = [hit["sort"][-1] for hit in hits_of(page)], group_count(count, max_heads)
    if total is None or not query.is_page(len(groups), total):  # the index was refreshed between the two
        return await _sorted_here(context, max_heads)
    return _Order(groups, total, grouped_items(count))


async def _sorted_here(context: SearchContext, max_heads: int) -> _Order:
    heads, items = await _heads(context, max_heads)
    ordered = await asyncio.to_thread(page_of_heads, context.query, heads)
    page = ordered[: context.body.limit]
    has_next = len(ordered) > len(page)
    return _Order([head.group for head in page], len(heads), items, page[-1] if page else (), has_next)


async def _heads(context: SearchContext, max_heads: int, part: Part = ALL_GROUPS) -> tuple[list[Head], int]:
    """The heads of a part and the number of all their items, by halves where there are too many."""
    request = heads_request(context.query, part, max_heads)
    (response,) = await context.source.search_all([request], _SORT_VALUES_PATH)
    # in a thread: tens of thousands of heads would stop the event loop for a tenth of a second
    heads = await asyncio.to_thread(heads_of, response, max_heads)
    if heads is not None:
        return heads, total_of(response)
    (lower, below), (upper, above) = [await _heads(context, max_heads, half) for half in halves_of(part)]
    return [*lower, *upper], below + above


def halves_of(part: Part) -> list[Part]:
    """Two parts of as many groups: their numbers are spread evenly."""
    low, high = part
    middle = (low + high) // 2
    return [(low, middle), (middle + 1, high)]


def in_part(part: Part) -> Clause:
    return {"range": {_GROUP: {"gte": part[0], "lte": part[1]}}}


def group_page_request(query: SearchQuery) -> Clause:
    """The search body for the groups of a page by price."""
    body = query.body
    page = {"from": (body.page - 1) * body.limit, "size": body.limit}
    return {**_collapsed(query.offered), **_SORT_VALUES_ONLY, **page}


def group_count_request(query: SearchQuery, max_heads: int = MAX_HEADS) -> Clause:
    """The search body for the exact number of names: by the engine's own numbers of names, without sending them."""
    names = {"terms": {"field": "name", "size": max_heads}}
    number = {"stats_bucket": {"buckets_path": "names>_count"}}
    return aggregation_request(query.offered, {"names": names, "number": number})


def group_count(response: EngineResponse, max_heads: int = MAX_HEADS) -> int | None:
    """The number of names in the response to `group_count_request`; None if there may be more than fit."""
    number: int = response["aggregations"]["number"]["count"]
    return number if number < max_heads else None


def grouped_items(response: EngineResponse) -> int:
    return int(response["aggregations"]["number"]["sum"])


def heads_request(query: SearchQuery, part: Part = ALL_GROUPS, max_heads: int = MAX_HEADS) -> Clause:
    """The search body for the heads of a part of all groups, with the values that they are sorted by."""
    clause = query.offered
    if part != ALL_GROUPS:
        clause = {"bool": {"must": [clause], "filter": [in_part(part)]}}
    return {**_collapsed(clause, *query.sort_values), **_SORT_VALUES_ONLY, "size": max_heads}


def heads_of(response: EngineResponse, max_heads: int = MAX_HEADS) -> list[Head] | None:
    """The heads in the response to `heads_request`; None if there may be more than fit."""
    hits = hits_of(response)
    if len(hits) >= max_heads:
        return None
    sorts = (hit["sort"] for hit in hits)
    return [
        Head(group, tuple(None if value in NO_VALUE else value for value in values), number, platform)
        for _, number, platform, *values, group in sorts
    ]


def page_of_heads(query: SearchQuery, heads: Sequence[Head]) -> list[Head]:
    """The heads of the body's page and the first of the next page, sorted: those without a value last, ties by id.

    A cursor's page begins behind the last head of the page before, even if its name has been hidden since.
    """
    last = None
    if query.position is not None and query.position.after:
        group, values, number, platform = query.position.after
        last = Head(group, tuple(values), number, platform)
        heads = heads if last in heads else [*heads, last]
    ordered = sorted(heads, key=attrgetter("id", "platform"))
    # sorting keeps the order of equal values, also in reverse: the first value is sorted by last
    for place, clause in reversed(list(enumerate(query.sort_values))):
        ((_, options),) = clause.items()
        ordered = _sorted(ordered, place, descending=options["order"] == "desc")
    start = query.start if last is None else ordered.index(last) + 1
    return ordered[start : start + query.body.limit + 1]


def group_hits_request(query: SearchQuery, groups: Sequence[int]) -> Clause:
    """The search body for these groups: their heads, and what all their items span."""
    clause = {"bool": {"filter": [query.offered, {"terms": {_GROUP: list(groups)}}]}}
    return {
        **_collapsed(clause),
        "size": len(groups),
        "aggregations": {"offers": {"terms": {"field": _GROUP, "size": len(groups)}, "aggregations": SPANS}},
    }


def group_hits(response: EngineResponse, groups: Sequence[int], minor_digits: int) -> list[Gear]:
    """The collapsed hits in the order of the groups, without groups that have no items any more."""
    items = {hit["sort"][-1]: hit["item"] for hit in hits_of(response)}
    offers = {bucket["key"]: _offers(bucket, minor_digits) for bucket in response["aggregations"]["offers"]["buckets"]}
    return [_with_offers(items[group], offers[group]) for group in groups if group in items and group in offers]


def _with_offers(item: bytes, offers: Json) -> Gear:
    """The item's JSON object with one key more."""
    return Gear(b'%b,"offers":%b}' % (item.rstrip()[:-1], orjson.dumps(offers)))


def _sorted(heads: Sequence[Head], place: int, *, descending: bool) -> list[Head]:
    valued = [head for head in heads if head.values[place] is not None]
    return [
        *sorted(valued, key=lambda head: head.values[place], reverse=descending),
        *(head for head in heads if head.values[place] is None),
    ]


def _collapsed(query: Clause, *sort_values: Clause) -> Clause:
    return {
        "query": query,
        "collapse": {"field": _GROUP},
        # price, id and platform leave no ties: what comes behind them is only sent along
        "sort": [*_CHEAPEST_FIRST, *sort_values, {_GROUP: "asc"}],
        "track_total_hits": True,  # costs nothing here, and tells an empty response from a partial one
    }


def _offers(bucket: Clause, minor_digits: int) -> Json:
    price, wear = bucket["price"], bucket["float"]
    low, high = (json_number(int(price[end]), minor_digits) if price["count"] else None for end in ("min", "max"))
    return {
        "count": bucket["doc_count"],
        "priceMin": low,
        "priceMax": high,
        "floatMin": wear["min"] if wear["count"] else None,
        "floatMax": wear["max"] if wear["count"] else None,
    }
