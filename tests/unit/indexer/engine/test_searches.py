"""Searches: what some shards find is asked for again and never taken for all, and so is what is no response."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from opensearchpy import OpenSearch

from indexer.engine.progress_records import KEEP, ProgressPublisher
from indexer.engine.retry import RetriesExhaustedError, RetryPolicy
from indexer.engine.scan import Scan
from indexer.loading.prices import sample_of_index
from indexer.loading.warm import PRODUCTS, SEARCHES, warm
from mappings.timestamps import rfc3339
from tests.support.indexer.wire import Fault, Wire

SOME = {"total": 2, "successful": 1, "failed": 1}
ALL = {"total": 2, "successful": 2, "failed": 0}


def response(shards: dict[str, int], *hits: dict[str, Any]) -> bytes:
    return orjson.dumps({"hits": {"total": {"value": len(hits)}, "hits": hits}, "_shards": shards})


def price(number: int) -> dict[str, Any]:
    return {"_id": str(number), "_source": {"price": number}}


def sampled(client: OpenSearch, seconds: float) -> Any:
    return sample_of_index(client, "gear-730-1", 2, RetryPolicy(seconds))


def warmed(client: OpenSearch, seconds: float) -> Any:
    warm(client, "gear-730-1", RetryPolicy(seconds))


def counted(client: OpenSearch, seconds: float) -> Any:
    with Scan(client, "gear-730", RetryPolicy(seconds)) as scan:
        return scan.count({"match_all": {}})


RESULTS: dict[Callable[[OpenSearch, float], Any], Any] = {sampled: {1: 1, 2: 2}, warmed: None, counted: 2}
IN_PLACE = {
    "failed shard": response(SOME, price(1)),
    "page": b"<html>a gateway's page</html>",
    "other JSON": b"{}",
    "text": b'"x"',
}


@pytest.mark.parametrize("first", IN_PLACE)
@pytest.mark.parametrize("search", RESULTS)
def test_only_what_all_shards_find_is_taken(
    scripted: tuple[Wire, OpenSearch], search: Callable[[OpenSearch, float], Any], first: str
) -> None:
    wire, client = scripted
    responses, paths = iter([IN_PLACE[first]]), list[str]()

    def rule(method: str, path: str, body: bytes) -> Fault:
        if "/_search?" not in path:
            return Fault("response", 200, b'{"pit_id": "x"}')
        paths.append(path)
        return Fault("response", 200, next(responses, response(ALL, price(1), price(2))))

    wire.rule = rule
    assert search(client, 30) == RESULTS[search]
    assert len(paths) == (len([*SEARCHES, PRODUCTS]) + 1 if search is warmed else 2)
    assert all("allow_partial_search_results=false" in path for path in paths)


@pytest.mark.parametrize("search", RESULTS)
def test_an_index_that_answers_in_part_for_long_is_an_error(
    scripted: tuple[Wire, OpenSearch], search: Callable[[OpenSearch, float], Any]
) -> None:
    wire, client = scripted
    content = orjson.dumps({**orjson.loads(response(SOME)), "pit_id": "x"})
    wire.rule = lambda method, path, body: Fault("response", 200, content)
    with pytest.raises(RetriesExhaustedError, match="not every part of gear-730"):
        search(client, 0.1)


@pytest.mark.parametrize(("shards", "deleted"), [(SOME, 0), (ALL, 1)])
def test_followers_are_forgotten_by_a_complete_list_alone(
    scripted: tuple[Wire, OpenSearch], shards: dict[str, int], deleted: int
) -> None:
    wire, client = scripted
    heartbeat = rfc3339(datetime.now(UTC) - KEEP - timedelta(days=1))
    record = {"command": "follow", "heartbeat": heartbeat}
    old = {"_index": "locks", "_id": "old", "_source": {"intake": record}}
    deletes = 0

    def rule(method: str, path: str, body: bytes) -> Fault:
        nonlocal deletes
        deletes += method == "DELETE"
        return Fault("response", 200, response(shards, old) if "/_search" in path else b"{}")

    wire.rule = rule
    ProgressPublisher(client, "gear-730", "follow", "stdin").write(reasons={})
    assert deletes == deleted
