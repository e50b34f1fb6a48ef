"""What the workloads of facets compare is the same content: the request by hand counts what the service counts."""

from dataclasses import replace

import pytest

from bench.runs.search import OURS, OWN, Peer, check_counts
from bench.workloads.bodies import workloads
from tests.support.search.fixtures import SearchedItems, headers_of


@pytest.mark.parametrize("name", ["facets", "facets_hot"])
def test_the_request_by_hand_counts_what_the_service_counts(
    searched_items: SearchedItems, opensearch_url: str, name: str
) -> None:
    workload = replace(workloads()[name], bodies=200)
    assert workload.counts
    ours = Peer(OURS, str(searched_items.client.base_url), "/v1/gear/search", headers_of(searched_items))
    path = f"/{searched_items.prefix}-730/_search"
    check_counts(workload, ours, Peer(OWN, opensearch_url, path, {"Content-Type": "application/json"}))
    less = Peer(OWN, opensearch_url, f"{path}?terminate_after=1", {"Content-Type": "application/json"})
    with pytest.raises(RuntimeError, match="count differently"):
        check_counts(workload, ours, less)
