"""Builds the searches for a price list and reads their responses. Pure.

Names are counted in parts, by the number `group` that all items of a name share and that is spread evenly. A part has
few enough items for one response. Medians take a second search: an item in the middle of a name is among its cheaper
half, so the prices of that half are enough.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from api.engine.clauses import Clause, aggregation_request
from api.engine.responses import EngineResponse, Json
from api.search.groups import ALL_GROUPS, SPANS, Part, in_part
from mappings.money import json_number


@dataclass(frozen=True)
class Sizes:
    """How much one search counts: the items of a part, about, and bounds on names and prices, which the 65,535 buckets
    of one response (search.max_buckets) leave room for.
    """

    part_items: int = 20_000
    max_names: int = 10_000
    max_prices: int = 30_000


@dataclass(frozen=True)
class Spans:
    """A name: how many items, how many of them with a price, the lowest and highest in minor units, and the floats."""

    name: str
    count: int
    priced: int
    price_min: int | None
    price_max: int | None
    float_min: float | None
    float_max: float | None

    @property
    def middle(self) -> int:
        """The place of the median among the prices, from 1: the lower of two, so that it is an item's own price."""
        return (self.priced + 1) // 2

    @property
    def median(self) -> int | None:
        """The median price where the span tells it."""
        return self.price_min if self.priced <= 2 or self.price_min == self.price_max else None

    def row(self, median: int | None, minor_digits: int) -> Json:
        def amount(minor: int | None) -> float | None:
            return None if minor is None else json_number(minor, minor_digits)

        return {
            "name": self.name,
            "count": self.count,
            "priceMin": amount(self.price_min),
            "priceMedian": amount(median),
            "priceMax": amount(self.price_max),
            "floatMin": self.float_min,
            "floatMax": self.float_max,
        }


def parts_of(items: int, sizes: Sizes) -> list[Part]:
    """All groups in parts of about so many items."""
    count = max(1, -(-items // sizes.part_items))
    edges = [ALL_GROUPS[0] + 2**64 * place // count for place in range(count + 1)]
    return [(low, high - 1) for low, high in pairwise(edges)]


def spans_request(query: Clause, part: Part, sizes: Sizes) -> Clause:
    """The search body for the names of a part."""
    names = {"terms": {"field": "name", "size": sizes.max_names}, "aggregations": SPANS}
    clause = {"bool": {"filter": [query, in_part(part)]}}
    return aggregation_request(clause, {"names": names})


def spans_of(response: EngineResponse, sizes: Sizes) -> list[Spans] | None:
    """The names in the response to `spans_request`, ascending; None if there may be more."""
    buckets = response["aggregations"]["names"]["buckets"]
    return None if len(buckets) >= sizes.max_names else sorted(map(_spans, buckets), key=lambda spans: spans.name)


def _spans(bucket: Json) -> Spans:
    price, wear = bucket["price"], bucket["float"]
    low, high = ((int(price[end]) if price["count"] else None) for end in ("min", "max"))
    worn = ((wear[end] if wear["count"] else None) for end in ("min", "max"))
    return Spans(bucket["key"], bucket["doc_count"], price["count"], low, high, *worn)


def median_batches(names: Sequence[Spans], sizes: Sizes) -> Iterator[list[Spans]]:
    """Those of the names whose median is to be searched for, in batches of one answer each."""
    batch: list[Spans] = []
    open_medians = (each for each in names if each.median is None and each.priced)
    for spans in sorted(open_medians, key=lambda each: each.priced):
        if batch and (len(batch) + 1) * spans.middle > sizes.max_prices:
            yield batch
            batch = []
        batch.append(spans)
    if batch:
        yield batch


def medians_request(query: Clause, batch: Sequence[Spans], sizes: Sizes) -> Clause:
    """The search body for the prices of the cheaper halves of these names."""
    size = min(sizes.max_prices, max(spans.middle for spans in batch))
    prices = {"terms": {"field": "price", "size": size, "order": {"_key": "asc"}}}
    names = {"terms": {"field": "name", "size": len(batch)}, "aggregations": {"prices": prices}}
    clause = {"bool": {"filter": [query, {"terms": {"name": [spans.name for spans in batch]}}]}}
    return aggregation_request(clause, {"names": names})


def medians_of(response: EngineResponse, batch: Sequence[Spans]) -> dict[str, int | None]:
    """The median of each name of the batch; None for one that has more prices below than fit into the response."""
    middles = {spans.name: spans.middle for spans in batch}
    return {
        bucket["key"]: _median(bucket["prices"]["buckets"], middles[bucket["key"]])
        for bucket in response["aggregations"]["names"]["buckets"]
    }


def _median(prices: Sequence[Json], middle: int) -> int | None:
    passed = 0
    for bucket in prices:
        passed += bucket["doc_count"]
        if passed >= middle:
            return int(bucket["key"])
    return None


def cheaper_request(query: Clause, name: str, price: int) -> Clause:
    """The search body that counts the items of a name that cost at most so many minor units."""
    filters = [query, {"term": {"name": name}}, {"range": {"price": {"lte": price}}}]
    return {"size": 0, "track_total_hits": True, "query": {"bool": {"filter": filters}}}
