"""Compares the products of a generation with what its listings name, and with their keys, which are hashes."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from opensearchpy import OpenSearch

from indexer.documents.product import is_as_written, sticker_key
from indexer.engine.retry import RetryPolicy
from indexer.engine.scan import Scan, count_documents, refresh
from mappings.names import products_of

PAGE_KEYS: Final = 10_000
# An index of products has one shard, in which no two documents have the same place.
BY_PLACE: Final = "_doc"
_WITHOUT_PRODUCT: Final = {"bool": {"must_not": [{"exists": {"field": "product"}}]}}


class NamedProducts(NamedTuple):
    """How many shared documents and names of stickers listings name, how many of them are missing, how many exist."""

    named: int
    missing: int
    unnamed: int  # listings that name no product
    stored: int  # documents of the index of products

    @property
    def complete(self) -> bool:
        """Whether every listing can be found by its texts, and shown."""
        return not self.missing and not self.unnamed

    @property
    def unused(self) -> int:
        """Documents that no listing names."""
        return self.stored - (self.named - self.missing)


def named_products(client: OpenSearch, index: str, platform: int, retry: RetryPolicy) -> NamedProducts:
    """Looks up what the listings of a generation name, as of one point in time; raises as `Scan.search`."""
    named = missing = 0
    with Scan(client, index, retry) as listings:
        unnamed = listings.count(_WITHOUT_PRODUCT)
        # after the listings: the products of what was read are there by now
        retry.call(lambda: refresh(client, products_of(index)))
        for keys in _named_keys(listings, platform):
            named += len(keys)
            with Scan(client, products_of(index), retry) as products:  # a page may take longer than one is kept
                missing += len(keys) - products.count({"ids": {"values": keys}})
    stored = retry.call(lambda: count_documents(client, products_of(index)))
    return NamedProducts(named, missing, unnamed, stored)


def _named_keys(listings: Scan, platform: int) -> Iterator[list[str]]:
    """The ids of the documents that listings need, in pages; each page reads every listing."""
    count = listings.count({"match_all": {}})
    for field in ("product", "stickers", "attached.part", "descriptionPart"):
        composite: dict[str, Any] = {"size": PAGE_KEYS, "sources": [{field: {"terms": {"field": field}}}]}
        while True:
            body = {"size": 0, "aggs": {"keys": {"composite": composite}}}
            response = listings.search(body, documents=count)["aggregations"]["keys"]
            values = [bucket["key"][field] for bucket in response["buckets"]]
            yield [sticker_key(platform, name) for name in values] if field == "stickers" else values
            if "after_key" not in response:
                break
            composite["after"] = response["after_key"]


class AlteredProducts(NamedTuple):
    """How many shared documents and names of stickers are not what their keys say, and the key of the first."""

    number: int
    first: str | None


def altered_products(client: OpenSearch, index: str, retry: RetryPolicy) -> AlteredProducts:
    """Reads every product of a generation, as of one point in time, in pages; raises as `Scan.search`."""
    number, first = 0, None
    with Scan(client, products_of(index), retry, refresh=True) as products:
        for page in products.pages({"match_all": {}}, source=True, sort=BY_PLACE):
            altered = [hit["_id"] for hit in page if not is_as_written(hit["_id"], hit["_source"])]
            number += len(altered)
            first = first or next(iter(altered), None)
    return AlteredProducts(number, first)
