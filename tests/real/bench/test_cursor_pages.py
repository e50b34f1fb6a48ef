"""The export workload measures whole results: both ways of reading give the same items in the same order."""

from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest

from bench.clients.connection import JSON_HEADERS, Connection
from bench.clients.cursor import Reader, run
from bench.clients.wrk import FailedRunError
from bench.peers import own_index
from bench.peers.search_peers import SEARCH_PATH
from tests.support.search.fixtures import SearchedItems, headers_of

BODY: dict[str, Any] = {"platform": 730, "filters": {"price": {"min": 0}}, "sort": "price_asc", "cursor": "*"}


# the last page is full, not full, and the only one
@pytest.mark.parametrize("limit", [10, 7, 100])
def test_both_ways_read_the_same_items_to_the_end(
    searched_items: SearchedItems, opensearch_url: str, limit: int
) -> None:
    priced = [item for item in searched_items.items if item["price"] is not None]
    priced = sorted(priced, key=lambda item: (item["price"], item["id"]))[: 10 * (10 if limit == 10 else 9)]
    ids = [item["id"] for item in priced]
    body = {**BODY, "filters": {"ids": ids}, "limit": limit}
    client = searched_items.client
    with closing(Reader(Connection(str(client.base_url), headers_of(searched_items)))) as reader:
        pages = list(reader.pages(SEARCH_PATH, body))
    assert [item["id"] for page in pages for item in page] == ids
    assert len(reader.page_times) == len(pages)
    query = {**own_index.query_of({**BODY, "limit": limit}), "query": {"terms": {"id": ids}}}
    with closing(Reader(Connection(opensearch_url, JSON_HEADERS))) as by_hand:
        hits = [hit for page in by_hand.pages(f"/{searched_items.prefix}-730/_search", query) for hit in page]
    assert [int(hit["_id"]) for hit in hits] == ids


def test_the_process_counts_pages_and_items(searched_items: SearchedItems, tmp_path: Path) -> None:
    file = tmp_path / "bodies.ndjson"
    file.write_bytes(orjson.dumps({**BODY, "limit": 100}) + b"\n")
    address, headers = str(searched_items.client.base_url), headers_of(searched_items)
    counted = run(address, SEARCH_PATH, file, first=0, clients=2, seconds=0.1, headers=headers)
    assert counted.items > 0
    assert counted.requests >= counted.items / 100
    assert 0 < counted.p50 <= counted.p99 <= counted.max
    with pytest.raises(FailedRunError, match="401"):
        run(address, SEARCH_PATH, file, first=0, clients=1, seconds=0.1, headers={})
