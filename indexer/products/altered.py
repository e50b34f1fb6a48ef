"""Compares the products of a generation with their keys, which are hashes of what they say."""

from typing import Any, Final, NamedTuple

from opensearchpy import OpenSearch

from indexer.documents.product import is_as_written
from indexer.engine.retry import RetryPolicy
from indexer.engine.scan import Scan
from mappings.names import products_of

# An index of products has one shard, in which no two documents have the same place.
BY_PLACE: Final = "_doc"
EVERYTHING: Final[dict[str, Any]] = {"match_all": {}}


class AlteredProducts(NamedTuple):
    """How many shared documents and names of stickers are not what their keys say, and the key of the first."""

    number: int
    first: str | None


def altered_products(client: OpenSearch, index: str, retry: RetryPolicy) -> AlteredProducts:
    """Reads every product of a generation, as of one point in time, with a page of them in memory.

    Raises PointInTimeLostError, RetriesExhaustedError or the client's error.
    """
    number, first = 0, None
    retry.call(lambda: client.indices.refresh(index=products_of(index)))
    with Scan(client, products_of(index), retry) as products:
        for page in products.pages(EVERYTHING, source=True, sort=BY_PLACE):
            altered = [hit["_id"] for hit in page if not is_as_written(hit["_id"], hit["_source"])]
            number += len(altered)
            first = first or next(iter(altered), None)
    return AlteredProducts(number, first)
