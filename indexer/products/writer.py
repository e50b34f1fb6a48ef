"""Writes the products of a generation before the listings that name them."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import InitVar, dataclass
from typing import Any, Final

import orjson
from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError

from indexer.documents.product import KeyedDocument, product_of, sticker_key, sticker_of
from indexer.engine.bulk import AliasGoneError, BulkSender, Outcome, outcome_of, reason_of
from indexer.engine.retry import RetryPolicy
from indexer.engine.scan import refresh
from indexer.errors import CommandError
from mappings.names import products_of

MAX_WRITTEN: Final = 200_000
"""Keys that are remembered as written, some 20 MB; where there are more all are forgotten, and written again."""
MAX_PENDING: Final = 2_000


@dataclass
class ProductWriter:
    """Writes the products of one generation, each once; a product that is there stays as it is."""

    client: OpenSearch
    index: InitVar[str]
    alias: InitVar[str]  # one of the generation's, or of its loading
    sender: BulkSender  # whose results name their index where the alias may be moved meanwhile
    retry: RetryPolicy
    fields: Container[str] | None = None  # those that its products may have

    def __post_init__(self, index: str, alias: str) -> None:
        self._index, self._alias = products_of(index), products_of(alias)
        self._written: set[str] = set()
        self._pending: dict[str, KeyedDocument] = {}

    def write(self, documents: Iterable[Mapping[str, Any]]) -> None:
        """Has searches find the products of these index documents: no listing is found before its product.

        Several threads may call it. Raises AliasGoneError, RetriesExhaustedError, CommandError or the client's error.
        """
        new: dict[str, KeyedDocument] = {}
        for document in documents:
            self._collect(document, new)
        if new:
            self._send(new)
            # also after a conflict: somebody else may have written it a moment ago;
            # by the index's own name: a swap takes the alias of a loading away
            try:
                self.retry.call(lambda: refresh(self.client, self._index))
            except NotFoundError as error:
                raise AliasGoneError(f"{self._index} was removed meanwhile") from error
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

    def _collect(self, document: Mapping[str, Any], products: dict[str, KeyedDocument]) -> None:
        if document["product"] not in self._written:
            product = product_of(document)
            products[product.key] = product
        for name in document.get("stickers", ()):
            key = sticker_key(document["platform"], name)
            if key not in self._written:
                products[key] = sticker_of(document["platform"], name)
        for entry in document["shared"]:
            if entry.key not in self._written:
                products[entry.key] = entry

    def _send(self, products: Mapping[str, KeyedDocument]) -> None:
        for product, result in self.sender.send(self._alias, list(products.values()), self._lines):
            if outcome_of(result) is Outcome.REFUSED:
                raise CommandError(f"the engine refused {product}: {reason_of(result)}")
            if result.get("_index", self._index) != self._index:
                raise AliasGoneError(f"{self._alias} was moved to {result['_index']} meanwhile")

    def _remember(self, products: Mapping[str, KeyedDocument]) -> None:
        if len(self._written) > MAX_WRITTEN:
            self._written = set()
        self._written |= products.keys()

    def _lines(self, product: KeyedDocument) -> bytes:
        content = product.content
        if self.fields is not None:
            stored = {name: value for name, value in orjson.loads(content).items() if name in self.fields}
            content = orjson.dumps(stored)
        return b'{"create":{"_id":"%b"}}\n%b\n' % (product.key.encode(), content)
