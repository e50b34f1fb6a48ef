"""The proof before a swap: whether a generation holds exactly what its load read and accepted.

Compared are the number and the checksums of the documents that the load wrote (their version is the load's). Items that
were changed or deleted live since are left out on both sides; only their ids are read back. Every product that a
listing names must be there, and every product must be what its key is a hash of.
"""

from dataclasses import dataclass
from typing import Any

from opensearchpy import OpenSearch
from pyroaring import BitMap64

from indexer.documents.digest import Checksum
from indexer.engine.retry import RetryPolicy
from indexer.engine.scan import Scan, retry_when_lost
from indexer.loading.manifest import Manifest, key_of
from indexer.products.comparison import AlteredProducts, NamedProducts, altered_products, named_products
from mappings.items.digest import PARTS

_PARTS = {part: {"sum": {"field": f"digest.{part}"}} for part in PARTS}


@dataclass(frozen=True)
class Proof:
    """Both sides, and how many ids were left out of them, as changed or deleted live since the load began."""

    expected: Checksum
    actual: Checksum
    unexpected: int  # documents that neither the load nor a later live change wrote
    live: int
    deleted: int
    products: NamedProducts
    altered: AlteredProducts

    @property
    def agrees(self) -> bool:
        """Whether the index holds what was read, and nothing else."""
        return (
            self.expected == self.actual and not self.unexpected and self.products.complete and not self.altered.number
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "agrees": self.agrees,
            "expected": {"items": self.expected.items, "digest": self.expected.digest()},
            "found": {"items": self.actual.items, "digest": self.actual.digest()},
            "unexpected": self.unexpected,
            "changedLive": self.live,
            "deletedLive": self.deleted,
            "products": self.products.named,
            "missingProducts": self.products.missing,
            "withoutProduct": self.products.unnamed,
            "alteredProducts": self.altered.number,
        }

    def disagreement(self, index: str) -> str:
        example = f" (such as {self.altered.first})" if self.altered.number else ""
        return (
            f"{index} does not hold what was read, nothing is swapped in: it has {self.actual.items:,} items of this "
            f"load with digest {self.actual.digest()} where {self.expected.items:,} with {self.expected.digest()} were "
            f"acknowledged, and {self.unexpected:,} that nobody loaded; {self.products.missing:,} of their "
            f"{self.products.named:,} products are missing, {self.products.unnamed:,} items name none, "
            f"{self.altered.number:,} products were altered{example}; load again, and see what else writes to it"
        )


def prove(
    client: OpenSearch, platform: int, index: str, tombstones: str, version: int, manifest: Manifest, retry: RetryPolicy
) -> Proof:
    """Compares an index with the manifest of its load; call it when everything was acknowledged.

    The index is read as of one point in time, and the record of `tombstones` as of a later one: a delete is recorded
    before it is done, so each one that the index shows is among them, and no live change can make the two sides differ.
    """
    is_loaded = {"term": {"version": version}}
    is_later = {"range": {"version": {"gt": version}}}

    def compare() -> Proof:
        with (
            Scan(client, index, retry, refresh=True) as loaded,
            Scan(client, tombstones, retry, refresh=True) as recorded,
        ):
            count = loaded.count({"match_all": {}})
            actual = _checksum(loaded, is_loaded, count)
            unexpected = count - actual.items - loaded.count(is_later)
            changed = BitMap64(key_of(number) for number in loaded.ids(is_later))
            deleted = BitMap64()
            for page in recorded.pages(is_later):
                ids = [int(hit["_id"]) for hit in page]
                deleted.update(key_of(number) for number in ids)
                # Recorded, and not yet done when the index was read: not counted on this side either.
                still_there = {"bool": {"filter": [is_loaded, {"terms": {"id": ids}}]}}
                actual = actual.without(_checksum(loaded, still_there))
        products = named_products(client, index, platform, retry)
        altered = altered_products(client, index, retry)
        expected = manifest.checksum(without=changed | deleted)
        return Proof(expected, actual, unexpected, len(changed), len(deleted), products, altered)

    return retry_when_lost(compare)


def _checksum(scan: Scan, query: dict[str, Any], documents: int = 0) -> Checksum:
    body = {"query": query, "size": 0, "track_total_hits": True, "aggs": _PARTS}
    response = scan.search(body, documents=documents)
    parts = [int(response["aggregations"][part]["value"]) for part in PARTS]
    return Checksum(int(response["hits"]["total"]["value"]), parts)
