"""What the export workload measures are whole results: both ways of walking give the same items in the same order."""

from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest

from bench.peers.connection import Connection
from bench.runs.search import own_query_of
from bench.runs.walk import Walker, run
from bench.runs.wrk import BrokenRunError
from tests.support.search.fixtures import SearchedItems, headers_of

BODY: dict[str, Any] = {"platform": 730, "filters": {"price": {"min": 0}}, "sort": "price_asc", "cursor": "*"}


# the last page is full, not full, and the only one
@pytest.mark.parametrize("limit", [10, 7, 100])
def test_both_ways_walk_the_same_items_to_the_end(
    searched_items: SearchedItems, opensearch_url: str, limit: int
) -> None:
    priced = [item for item in searched_items.items if item["price"] is not None]
    priced = sorted(priced, key=lambda item: (item["price"], item["id"]))[: 10 * (10 if limit == 10 else 9)]
    body = {**BODY, "filters": {"ids": [item["id"] for item in priced]}, "limit": limit}
    with closing(Walker(Connection(str(searched_items.client.base_url), headers_of(searched_items)))) as ours:
        pages = list(ours.pages("/v1/gear/search", body))
    assert [item["id"] for page in pages for item in page] == [item["id"] for item in priced]
    assert len(ours.took) == len(pages)
    asked = {**own_query_of({**BODY, "limit": limit}), "query": {"terms": {"id": [item["id"] for item in priced]}}}
    with closing(Walker(Connection(opensearch_url, {"Content-Type": "application/json"}))) as by_hand:
        found = list(by_hand.pages(f"/{searched_items.prefix}-730/_search", asked))
    assert [int(hit["_id"]) for page in found for hit in page] == [item["id"] for item in priced]


def test_a_walk_is_a_process_that_counts_pages_and_items(
    searched_items: SearchedItems, opensearch_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "bodies.ndjson"
    file.write_bytes(orjson.dumps({**BODY, "limit": 100}) + b"\n")
    address, headers = str(searched_items.client.base_url), headers_of(searched_items)
    found = run(address, "/v1/gear/search", file, first=0, clients=2, seconds=0.1, headers=headers)
    assert found.items > 0
    assert found.requests >= found.items / 100
    assert 0 < found.p50 <= found.p99 <= found.most
    with pytest.raises(BrokenRunError, match="401"):
        run(address, "/v1/gear/search", file, first=0, clients=1, seconds=0.1, headers={})
