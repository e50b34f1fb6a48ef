"""Items are put together from shared documents, which are asked for once, in requests of a bounded size."""

from typing import Any

import orjson
import pytest

from api.engine.documents import PRODUCT_DOCUMENTS, ProductDocument, read_documents
from api.engine.errors import NotLoadedError
from api.engine.items import ItemAssembler
from api.engine.responses import BadResponseError, Hit
from api.errors import ApiError
from mappings.items.assembly import MAX_KEYS
from mappings.items.listing import Attached, Listing


class Products:
    """An index of products that has every key but some; what was asked for is noted."""

    def __init__(self, **documents: Any) -> None:
        self.documents = documents
        self.requests: list[list[str]] = []

    async def get(self, targets: list[dict[str, str]]) -> list[ProductDocument]:
        """The documents of a multi-get."""
        self.requests.append([target["_id"] for target in targets])
        response = orjson.dumps({"docs": [self._document(target) for target in targets]})
        return read_documents(PRODUCT_DOCUMENTS, response, len(targets))

    def _document(self, target: dict[str, str]) -> dict[str, Any]:
        key = target["_id"]
        source = {"name": f"Thing {key}", "minorDigits": 2}
        return {**target, "found": True, "_source": source, **self.documents.get(key, {})}


def hit(number: int, product: str, **more: Any) -> Hit:
    return {"_index": "gear-730-x", "_source": Listing(number, product, **more)}


async def names(items: ItemAssembler, *hits: Hit) -> list[str]:
    await items.complete(hits)
    return [orjson.loads(each["item"])["name"] for each in hits]


async def test_a_shared_document_is_asked_for_once() -> None:
    products = Products()
    items = ItemAssembler(products.get, cached_bytes=2**20)
    assert await names(items, hit(1, "a"), hit(2, "b"), hit(3, "a")) == ["Thing a", "Thing b", "Thing a"]
    assert await names(items, hit(4, "b"), hit(5, "c")) == ["Thing b", "Thing c"]
    assert products.requests == [["a", "b"], ["c"]]
    await items.complete([{"sort": [1]}])
    assert len(products.requests) == 2, "what has no listing needs no item"


async def test_more_shared_documents_than_are_cached_are_all_there() -> None:
    products = Products()
    items = ItemAssembler(products.get, cached_bytes=2_000)
    hits = [hit(number, str(number)) for number in range(2 * MAX_KEYS + 1)]
    assert await names(items, *hits) == [f"Thing {number}" for number in range(2 * MAX_KEYS + 1)]
    assert [len(keys) for keys in products.requests] == [MAX_KEYS, MAX_KEYS, 1]


@pytest.mark.parametrize(
    ("listing", "document", "error"),
    [
        (Listing(1, "a"), {"found": False}, ApiError),
        (Listing(1, ""), {}, ApiError),
        (Listing(1, "a"), {"error": {"type": "index_not_found_exception"}}, NotLoadedError),
        (Listing(1, "a"), {"error": {"type": "shard_not_available"}}, BadResponseError),
        (Listing(1, "b", attached=[Attached("a")]), {"found": False}, ApiError),
        (Listing(1, "a"), {"_source": {"platform": 730, "stickers": "Crown"}}, ApiError),
        (Listing(1, "a"), {"_source": {"part": "a description"}}, ApiError),
    ],
)
async def test_a_document_that_cannot_be_read_is_an_error(
    listing: Listing, document: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await ItemAssembler(Products(a=document).get, cached_bytes=2**20).of_listings([("gear-730-x", listing)])
