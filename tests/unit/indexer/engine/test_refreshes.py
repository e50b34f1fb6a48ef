"""Refreshes: one that failed on a shard is made again and never taken for done."""

from collections.abc import Callable

import orjson
import pytest
from opensearchpy import OpenSearch

from indexer.engine.generations import Generations
from indexer.engine.retry import RetryPolicy
from indexer.engine.scan import Scan
from indexer.engine.tombstones import Tombstones
from indexer.orders.claims import Claims, bind_claimed
from indexer.orders.database import OrdersDatabase
from indexer.products.comparison import named_products
from mappings.definition import read_definition
from tests.support.indexer.wire import Fault, Wire

RETRY = RetryPolicy(30)
SOME = {"_shards": {"total": 4, "successful": 1, "failed": 1}}
ALL = {"_shards": {"total": 4, "successful": 2, "failed": 0}}
"""Replicas that are not allocated are none of those that failed."""


def scanned(client: OpenSearch) -> None:
    with Scan(client, "gear-730", RETRY, refresh=True):
        pass


def tombstones_counted(client: OpenSearch) -> None:
    Tombstones(client, "gear-730", RETRY).count_later(1)


def tombstones_applied(client: OpenSearch) -> None:
    Tombstones(client, "gear-730", RETRY).apply("gear-730-1", 1)


def shown(client: OpenSearch) -> None:
    Generations(client, "gear-730", read_definition(), RETRY).refresh("gear-730-1")


def marked(client: OpenSearch) -> None:
    with OrdersDatabase("sqlite:////no-folder/orders.db") as nothing:
        bind_claimed(client, "gear-730-1", Claims(730, nothing, RETRY), RETRY)


def compared(client: OpenSearch) -> None:
    named_products(client, "gear-730-1", 730, RETRY)


@pytest.mark.parametrize("first", [SOME, {}, "a gateway's page"])
@pytest.mark.parametrize("action", [scanned, tombstones_counted, tombstones_applied, shown, marked, compared])
def test_a_refresh_that_failed_in_part_is_made_again(
    scripted: tuple[Wire, OpenSearch], action: Callable[[OpenSearch], None], first: object
) -> None:
    wire, client = scripted
    responses, paths = iter([first]), list[str]()
    shards = {"_shards": {"total": 2, "successful": 2, "failed": 0}}
    nothing = {"hits": {"total": {"value": 0}, "hits": []}, "aggregations": {"keys": {"buckets": []}}}

    def rule(method: str, path: str, body: bytes) -> Fault:
        if "/_refresh" not in path:
            return Fault("response", 200, orjson.dumps({"pit_id": "x", "count": 0, **nothing, **shards}))
        paths.append(path)
        return Fault("response", 200, orjson.dumps(next(responses, ALL)))

    wire.rule = rule
    action(client)
    assert len(paths) == len({*paths}) + 1
