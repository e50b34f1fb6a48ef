"""The time by matches is that of searches which so many items match, each sent once to each peer."""

import json
import random

import pytest

from bench.clients.connection import JSON_HEADERS
from bench.peers import own_index
from bench.peers.search_peers import OURS, OWN, SEARCH_PATH, Peer
from bench.runs.matches import TOLERANCE, BodySource, NoRangeError, measure
from tests.support.search.fixtures import ITEMS, SearchedItems, headers_of


@pytest.fixture(scope="module")
def source(searched_items: SearchedItems, opensearch_url: str) -> BodySource:
    return BodySource(f"{opensearch_url}/{searched_items.prefix}-730", ITEMS, random.Random(1))


@pytest.mark.parametrize("matches", [10, 40, 200, ITEMS])
def test_about_so_many_items_match_a_body(searched_items: SearchedItems, source: BodySource, matches: int) -> None:
    bodies = [source.body(matches) for _ in range(4)]
    assert len({json.dumps(body) for body in bodies}) == 4
    assert all(("exterior" in body["filters"]) == (matches <= 40) for body in bodies)
    for body in bodies:
        _, total = searched_items.search(body)
        assert matches / TOLERANCE <= total <= matches * TOLERANCE


def test_a_number_that_no_range_has_is_refused(searched_items: SearchedItems, opensearch_url: str) -> None:
    address = f"{opensearch_url}/{searched_items.prefix}-730"
    source = BodySource(address, ITEMS, random.Random(1), max_attempts=2)
    with pytest.raises(NoRangeError, match="none of 2 price ranges has about 4,000 of 400 items"):
        source.body(10 * ITEMS)


def test_each_peer_gets_each_body_and_finds_the_same(
    searched_items: SearchedItems, source: BodySource, opensearch_url: str
) -> None:
    ours = Peer(OURS, str(searched_items.client.base_url), SEARCH_PATH, headers_of(searched_items))
    path = f"/{searched_items.prefix}-730/_search"
    own = Peer(OWN, opensearch_url, path, JSON_HEADERS, translate=own_index.query_of)
    bodies = {matches: [source.body(matches) for _ in range(6)] for matches in (10, 200)}
    measured = list(measure(opensearch_url, [ours, own], bodies, rounds=2))
    assert [(times.matches, times.peer) for times in measured] == [(10, OURS), (10, OWN), (200, OURS), (200, OWN)]
    for mine, theirs in zip(measured[::2], measured[1::2], strict=True):
        assert mine.totals == theirs.totals
        assert [len(times) for times in mine.rounds] == [2, 2]
