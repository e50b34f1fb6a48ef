"""Groups: a question in, the requests for one card a name out; their answers in, the cards in order out. Pure.

Items of one name have the same number, `group`. The engine finds the cheapest item of each group by `collapse`, which
orders groups as it orders items. That is the order of the cards for `price_asc` alone: otherwise the cheapest items of
all groups, the heads, are fetched with the value that they are sorted by, and put into their order here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from api.search.engine.answers import Answer
from api.search.engine.results import Gear
from api.search.query.request import NO_VALUE, TIES, Clause, Question, offered_query, sort_clauses, sort_name
from mappings.money import from_minor

# `max_result_window` of gear.json, and below the 65,535 buckets of one answer (search.max_buckets).
MOST_AT_ONCE = 50_000
LEAST_GROUP, MOST_GROUP = -(2**63), 2**63 - 1

# What count_request makes the engine build and not send.
UNSENT = "-aggregations.names.buckets"
SORT_VALUES = "hits.hits.sort"

_GROUP = "group"
_CHEAPEST_FIRST = sort_clauses("price_asc")
# The sort values are all that is wanted of a hit, and the engine has them without reading the item.
_UNFETCHED: Clause = {"_source": False, "stored_fields": "_none_"}


@dataclass(frozen=True)
class Head:
    """A group's cheapest item: the values that it is sorted by, None where it has none, and its id."""

    group: int
    values: tuple[Any, ...]
    id: int
    platform: int


def by_price(question: Question) -> bool:
    """Whether the engine's own order of groups is that of the cards."""
    return sort_name(question.body, question.understood) == "price_asc"


def page_request(question: Question) -> Clause:
    """The request for the groups of a page of cards by price."""
    body = question.body
    page = {"from": (body.page - 1) * body.limit, "size": body.limit}
    return {**_heads(offered_query(question)), **_UNFETCHED, **page}


def count_request(question: Question) -> Clause:
    """The request for the exact number of names: by the engine's own numbers of names, without sending them."""
    return {
        "size": 0,
        "track_total_hits": False,
        "query": offered_query(question),
        "aggregations": {
            "names": {"terms": {"field": "name", "size": MOST_AT_ONCE}},
            "number": {"stats_bucket": {"buckets_path": "names>_count"}},
        },
    }


def number_of(answer: Answer) -> int | None:
    """The number of names in the answer to `count_request`; None where there may be more than fit."""
    number: int = answer["aggregations"]["number"]["count"]
    return number if number < MOST_AT_ONCE else None


def groups_of(answer: Answer) -> list[int]:
    """The groups of a page, in the order of the answer to `page_request`."""
    return [hit["sort"][-1] for hit in answer["hits"].get("hits", ())]


def heads_request(question: Question, least: int = LEAST_GROUP, most: int = MOST_GROUP) -> Clause:
    """The request for the heads of all groups within these bounds, with the value that cards are sorted by."""
    query = offered_query(question)
    if (least, most) != (LEAST_GROUP, MOST_GROUP):
        within = {"range": {_GROUP: {"gte": least, "lte": most}}}
        query = {"bool": {"must": [query], "filter": [within]}}
    return {**_heads(query, *_values(question)), **_UNFETCHED, "size": MOST_AT_ONCE}


def heads_of(answer: Answer) -> list[Head] | None:
    """The heads in the answer to `heads_request`; None where there may be more than fit."""
    hits = answer["hits"].get("hits", ())
    if len(hits) >= MOST_AT_ONCE:
        return None
    sorts = (hit["sort"] for hit in hits)
    return [Head(group, tuple(map(_value, values)), number, platform) for _, number, platform, *values, group in sorts]


def in_order(question: Question, heads: Sequence[Head]) -> list[int]:
    """The groups of the body's page, all heads in the order of its sort: those without the value last, ties by id."""
    body = question.body
    ordered = sorted(heads, key=lambda head: (head.id, head.platform))
    # a sort keeps the order of equal values, also in reverse: the first value is sorted by last
    for place, clause in reversed(list(enumerate(_values(question)))):
        ((_, about),) = clause.items()
        ordered = _sorted(ordered, place, descending=about["order"] == "desc")
    return [head.group for head in ordered[(body.page - 1) * body.limit : body.page * body.limit]]


def cards_request(question: Question, groups: Sequence[int]) -> Clause:
    """The request for the cards of these groups: their heads, and what all their items span."""
    query = {"bool": {"filter": [offered_query(question), {"terms": {_GROUP: list(groups)}}]}}
    spans = {name: {"stats": {"field": name}} for name in ("price", "float")}
    return {
        **_heads(query),
        "size": len(groups),
        "aggregations": {"offers": {"terms": {"field": _GROUP, "size": len(groups)}, "aggregations": spans}},
    }


def cards_of(answer: Answer, groups: Sequence[int], minor_digits: int) -> list[Gear] | None:
    """The cards in the order of the groups; None where one of the groups has no items any more."""
    items = {hit["sort"][-1]: bytes(hit["_source"]["item"]) for hit in answer["hits"].get("hits", ())}
    offers = {bucket["key"]: _offers(bucket, minor_digits) for bucket in answer["aggregations"]["offers"]["buckets"]}
    if any(group not in items or group not in offers for group in groups):
        return None
    return [_with_offers(items[group], offers[group]) for group in groups]


def _with_offers(item: bytes, offers: dict[str, Any]) -> Gear:
    """The item's JSON object with one key more."""
    return Gear(b'%b,"offers":%b}' % (item.rstrip()[:-1], orjson.dumps(offers)))


def _values(question: Question) -> list[Clause]:
    """What the cards are sorted by before their ties."""
    return sort_clauses(sort_name(question.body, question.understood))[:-TIES]


def _sorted(heads: Sequence[Head], place: int, *, descending: bool) -> list[Head]:
    valued = [head for head in heads if head.values[place] is not None]
    return [
        *sorted(valued, key=lambda head: head.values[place], reverse=descending),
        *(head for head in heads if head.values[place] is None),
    ]


def _heads(query: Clause, *value: Clause) -> Clause:
    return {
        "query": query,
        "collapse": {"field": _GROUP},
        # price, id and platform leave nothing to decide for what comes behind them: it is only told
        "sort": [*_CHEAPEST_FIRST, *value, {_GROUP: "asc"}],
        "track_total_hits": True,  # costs nothing here, and tells no hits from a part of an answer
    }


def _value(value: Any) -> Any:
    return None if value in NO_VALUE else value


def _offers(bucket: Clause, minor_digits: int) -> dict[str, Any]:
    price, wear = bucket["price"], bucket["float"]
    low, high = (float(from_minor(int(price[end]), minor_digits)) if price["count"] else None for end in ("min", "max"))
    return {
        "count": bucket["doc_count"],
        "priceMin": low,
        "priceMax": high,
        "floatMin": wear["min"] if wear["count"] else None,
        "floatMax": wear["max"] if wear["count"] else None,
    }
