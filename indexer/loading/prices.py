"""Compares the prices of a sample of items with those that serve, before an index takes its place.

The sample is drawn by a hash of the ids, so it is the same items in every load. It is looked up by id: a fixed number
of requests, however large the catalogue is, and exact for a catalogue that is not larger than the sample.
"""

from collections.abc import Mapping
from functools import partial

from opensearchpy import OpenSearch

from indexer.engine.retry import RetryPolicy
from indexer.engine.scan import PAGE_ITEMS, in_pages, read_items, send_search
from indexer.loading.rules import PriceChanges
from mappings.items.digest import PARTS

SAMPLE_ITEMS = 10_000  # the share is within 2 % of that of all items (three standard deviations of the half of them)
FACTOR = 2
_DIGEST_VALUES = 2**16
_BITS_64 = 2**64 - 1

Prices = Mapping[int, int | None]  # in minor units, by id


class PriceSample:
    """The prices of at most so many items, chosen by a hash of their ids."""

    def __init__(self, size: int = SAMPLE_ITEMS) -> None:
        self._size = size
        self._limit = 2**64
        self.prices: dict[int, int | None] = {}

    def add(self, number: int, price: int | None) -> None:
        """Takes the item into the sample, if its id is chosen."""
        if _hashed(number) < self._limit:
            self.prices[number] = price
            if len(self.prices) > self._size:
                self._limit //= 2
                self.prices = {item: price for item, price in self.prices.items() if _hashed(item) < self._limit}


def _hashed(number: int) -> int:
    """Spreads consecutive ids over 64 bits (the finalizer of SplitMix64)."""
    mixed = number & _BITS_64
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & _BITS_64
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & _BITS_64
    return mixed ^ mixed >> 31


def sample_of_index(client: OpenSearch, index: str, items: int, retry: RetryPolicy) -> Prices:
    """The prices of about as many items of an index, chosen by the hash of their content."""
    # The digest's parts are evenly distributed; the range leaves room below the size for what chance adds. Sorted by
    # another part, so that what is cut off of a larger index is not its dearest items.
    bound = max(1, _DIGEST_VALUES * SAMPLE_ITEMS * 3 // 4 // max(items, 1))
    body = {
        "query": {"range": {f"digest.{PARTS[0]}": {"lt": bound}}},
        "sort": [{f"digest.{PARTS[1]}": {"unmapped_type": "integer"}}],
        "size": SAMPLE_ITEMS,
        "_source": ["price"],
        "track_total_hits": False,
    }
    response = retry.call(lambda: send_search(client, index, body))
    return {int(hit["_id"]): hit["_source"].get("price") for hit in response["hits"]["hits"]}


def compare_prices(client: OpenSearch, index: str, prices: Prices, retry: RetryPolicy) -> PriceChanges:
    """How many of the items that the index has too, and how many of these have another price by more than FACTOR."""
    compared = changed = 0
    for page in in_pages(prices, PAGE_ITEMS):
        for item, stored in retry.call(partial(read_items, client, index, page, "price")).items():
            compared += 1
            changed += is_changed(stored.get("price"), prices[item])
    return PriceChanges(compared, changed)


def is_changed(before: int | None, now: int | None) -> bool:
    """Whether one price is more than FACTOR times the other, or only one is there."""
    if before is None or now is None:
        return before is not now
    return max(before, now) > FACTOR * min(before, now)
