"""Products of a generation: written before the listings that name them, and looked up by the proof."""

from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final

from opensearchpy import OpenSearch

from indexer.documents.product import ProductDocument, product_of, sticker_of
from indexer.engine.bulk import AliasGoneError, BulkSender, reason_of
from indexer.engine.retry import RetryPolicy
from indexer.engine.scan import PointInTime
from indexer.errors import CommandError
from mappings.names import products_of
from mappings.products import sticker_key

MAX_WRITTEN: Final = 200_000
"""Keys that are remembered as written, some 20 MB; where there are more all are forgotten, and written again."""
MAX_PENDING: Final = 2_000
PAGE_KEYS: Final = 10_000


class ProductWriter:
    """Writes the products of one generation, each once; a product that is there stays as it is."""

    def __init__(self, client: OpenSearch, alias: str, sender: BulkSender, retry: RetryPolicy) -> None:
        """`alias` is one of the generation's, or of its loading."""
        self._client = client
        self._alias = products_of(alias)
        self._sender = sender
        self._retry = retry
        self._written: set[str] = set()
        self._pending: dict[str, ProductDocument] = {}

    def is_through(self, alias: str) -> bool:
        """Whether it writes through this alias of a generation."""
        return self._alias == products_of(alias)

    def write(self, documents: Iterable[Mapping[str, Any]]) -> None:
        """Has searches find the products of these index documents: no listing is found before its product.

        Several threads may call it. Raises AliasGoneError, RetriesExhaustedError, CommandError or the client's error.
        """
        new: dict[str, ProductDocument] = {}
        for document in documents:
            self._collect(document, new)
        if new:
            self._send(new)
            # also after a conflict: somebody else may have written it a moment ago
            self._retry.call(lambda: self._client.indices.refresh(index=self._alias))
            self._remember(new)

    def add(self, document: Mapping[str, Any]) -> None:
        """Takes the products of an index document of a load, which are written some at once; raises as `write`."""
        self._collect(document, self._pending)
        if len(self._pending) >= MAX_PENDING:
            self.flush()

    def flush(self) -> None:
        """Writes what a load has added; raises as `write`."""
        pending, self._pending = self._pending, {}
        self._send(pending)
        self._remember(pending)

    def _collect(self, document: Mapping[str, Any], products: dict[str, ProductDocument]) -> None:
        if document["product"] not in self._written:
            product = product_of(document)
            products[product.key] = product
        for name in document.get("stickers", ()):
            sticker = sticker_of(document["platform"], name)
            if sticker.key not in self._written:
                products[sticker.key] = sticker

    def _send(self, products: Mapping[str, ProductDocument]) -> None:
        for product, result in self._sender.send(self._alias, list(products.values()), _lines):
            status = result["status"]
            if status == HTTPStatus.NOT_FOUND:
                raise AliasGoneError(reason_of(result))
            if status not in (HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.CONFLICT):
                message = f"the engine refused the product {product.content.decode()}: {reason_of(result)}"
                raise CommandError(message)

    def _remember(self, products: Mapping[str, ProductDocument]) -> None:
        if len(self._written) > MAX_WRITTEN:
            self._written = set()
        self._written |= products.keys()


def _lines(product: ProductDocument) -> bytes:
    return b'{"create":{"_id":"%b"}}\n%b\n' % (product.key.encode(), product.content)


def missing_products(client: OpenSearch, index: str, platform: int, retry: RetryPolicy) -> tuple[int, int]:
    """How many products and names of stickers the listings of a generation name, and how many of them are missing."""
    named = missing = 0
    retry.call(lambda: client.indices.refresh(index=products_of(index)))
    with PointInTime(client, index, retry) as listings, PointInTime(client, products_of(index), retry) as products:
        for keys in _named_keys(listings, platform):
            named += len(keys)
            missing += len(keys) - products.count({"ids": {"values": keys}})
    return named, missing


def _named_keys(listings: PointInTime, platform: int) -> Iterator[list[str]]:
    """The ids of the documents that listings need, in pages."""
    for field in ("product", "stickers"):
        composite: dict[str, Any] = {"size": PAGE_KEYS, "sources": [{field: {"terms": {"field": field}}}]}
        while True:
            answer = listings.search({"size": 0, "aggs": {"keys": {"composite": composite}}})["aggregations"]["keys"]
            values = [bucket["key"][field] for bucket in answer["buckets"]]
            yield values if field == "product" else [sticker_key(platform, name) for name in values]
            if "after_key" not in answer:
                break
            composite["after"] = answer["after_key"]
