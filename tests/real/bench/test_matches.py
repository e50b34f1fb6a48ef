"""The cost by matches is that of searches which match so many items, each of them asked once of each peer."""

import json
import random

import pytest

from bench.runs import matches as matching
from bench.runs.matches import NEAR, NoRangeError, Ranges, measure
from bench.runs.search import OURS, OWN, Peer, own_query_of
from tests.support.search.fixtures import ITEMS, SearchedItems, headers_of


@pytest.fixture(scope="module")
def ranges(searched_items: SearchedItems, opensearch_url: str) -> Ranges:
    return Ranges(f"{opensearch_url}/{searched_items.prefix}-730", ITEMS, random.Random(1))


@pytest.mark.parametrize("matches", [10, 40, 200, ITEMS])
def test_bodies_match_about_as_many_as_they_shall(searched_items: SearchedItems, ranges: Ranges, matches: int) -> None:
    bodies = [ranges.body(matches) for _ in range(4)]
    assert len({json.dumps(body) for body in bodies}) == 4
    assert all(("exterior" in body["filters"]) == (matches <= 40) for body in bodies)
    for body in bodies:
        _, total = searched_items.search(body)
        assert matches / NEAR <= total <= matches * NEAR


def test_a_number_that_no_range_holds_is_refused(ranges: Ranges, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "MOST_STARTS", 2)
    with pytest.raises(NoRangeError, match="2 ranges of prices were tried and none holds about 4,000 of 400 items"):
        ranges.body(10 * ITEMS)


def test_each_peer_is_asked_each_body_and_finds_the_same(
    searched_items: SearchedItems, ranges: Ranges, opensearch_url: str
) -> None:
    engine = (opensearch_url, f"/{searched_items.prefix}-730/_search", {"Content-Type": "application/json"})
    ours = Peer(OURS, str(searched_items.client.base_url), "/v1/gear/search", headers_of(searched_items))
    bodies = {matches: [ranges.body(matches) for _ in range(6)] for matches in (10, 200)}
    costs = list(measure(opensearch_url, [ours, Peer(OWN, *engine, said=own_query_of)], bodies, rounds=2))
    assert [(cost.matches, cost.peer) for cost in costs] == [(10, OURS), (10, OWN), (200, OURS), (200, OWN)]
    for mine, theirs in zip(costs[::2], costs[1::2], strict=True):
        assert mine.found == theirs.found
        assert [len(took) for took in mine.rounds] == [2, 2]
