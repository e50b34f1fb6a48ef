"""Items of an export: put together from their products, or an error that a command explains."""

from typing import Any

import orjson
import pytest
from opensearchpy import OpenSearch

from indexer.engine.retry import RetryPolicy
from indexer.errors import CommandError
from indexer.products.items import ItemAssembler
from tests.support.indexer.wire import Fault, Wire

PRODUCT = {"name": "Grue", "minorDigits": 2}
FOUND = {"found": True, "_source": PRODUCT}
UNREAD = {"error": {"type": "no_shard_available_action_exception", "reason": "none"}}


def hit(number: int, **more: Any) -> dict[str, Any]:
    return {"_index": "gear-730-x", "_source": {"id": number, "product": "a", "price": 210, **more}}


def serve_documents(wire: Wire, *documents: dict[str, Any]) -> list[list[str]]:
    """Has each multi-get respond with the next of these for each key; returns the keys of each, as they come."""
    requests: list[list[str]] = []
    responses = iter(documents)

    def rule(method: str, path: str, body: bytes) -> Fault:
        targets = orjson.loads(body)["docs"]
        requests.append([target["_id"] for target in targets])
        document = next(responses)
        return Fault("response", 200, orjson.dumps({"docs": [{**target, **document} for target in targets]}))

    wire.rule = rule
    return requests


@pytest.mark.parametrize(("cached_bytes", "reads"), [(2**20, [["a"]]), (10, [["a"], ["a"]])])
def test_what_a_product_says_is_read_once_as_far_as_it_fits(
    scripted: tuple[Wire, OpenSearch], cached_bytes: int, reads: list[list[str]]
) -> None:
    wire, client = scripted
    requests = serve_documents(wire, FOUND, FOUND)
    items = ItemAssembler(client, RetryPolicy(0.1), cached_bytes=cached_bytes)
    pages = [items.of_hits([hit(1), hit(2)]), items.of_hits([hit(3)])]
    shown = [map(orjson.loads, page) for page in pages]
    assert [[(item["id"], item["name"], item["price"]) for item in page] for page in shown] == [
        [(1, "Grue", 2.1), (2, "Grue", 2.1)],
        [(3, "Grue", 2.1)],
    ]
    assert requests == reads


def test_a_product_that_cannot_be_read_for_a_moment_is_read_again(scripted: tuple[Wire, OpenSearch]) -> None:
    wire, client = scripted
    requests = serve_documents(wire, UNREAD, FOUND)
    (item,) = ItemAssembler(client, RetryPolicy(30)).of_hits([hit(1)])
    assert (orjson.loads(item)["name"], len(requests)) == ("Grue", 2)


@pytest.mark.parametrize(
    ("listing", "document", "error"),
    [
        (hit(1), {"found": False}, r"gear-730-x-products lacks a product; export again, or see gear-indexer doctor"),
        (hit(1), {"error": {"type": "index_not_found_exception"}}, r"gear-730-x-products lacks a product"),
        (hit(1), {"found": True, "_source": {"platform": 730, "stickers": "Crown"}}, "lacks a product"),
        (hit(1), {"found": True, "_source": {"part": "a description"}}, "gear-730-x lacks a product"),
        (hit(1, attached=[{"part": "b"}]), FOUND, "gear-730-x lacks a product"),
        (hit(1, product=""), FOUND, "gear-730-x lacks a product"),
        (hit(1, price="210"), FOUND, r"gear-730-x has a listing that no load has written \(.*price.*\); load its"),
    ],
)
def test_what_cannot_be_put_together_is_an_error_that_a_command_explains(
    scripted: tuple[Wire, OpenSearch], listing: dict[str, Any], document: dict[str, Any], error: str
) -> None:
    wire, client = scripted
    serve_documents(wire, document)
    with pytest.raises(CommandError, match=error):
        ItemAssembler(client, RetryPolicy(0.1)).of_hits([listing])
