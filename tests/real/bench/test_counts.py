"""The workloads of facets compare the same content: the request by hand counts what the service counts."""

from dataclasses import replace

import pytest

from bench.clients.connection import JSON_HEADERS
from bench.peers.search_peers import OURS, OWN, SEARCH_PATH, Peer, check_facet_counts
from bench.workloads.bodies import workloads
from tests.support.search.fixtures import SearchedItems, headers_of


@pytest.mark.parametrize("name", ["facets", "facets_hot"])
def test_the_request_by_hand_counts_what_the_service_counts(
    searched_items: SearchedItems, opensearch_url: str, name: str
) -> None:
    workload = replace(workloads()[name], bodies=200)
    assert workload.has_facets
    ours = Peer(OURS, str(searched_items.client.base_url), SEARCH_PATH, headers_of(searched_items))
    path = f"/{searched_items.prefix}-730/_search"
    check_facet_counts(workload, [ours, Peer(OWN, opensearch_url, path, JSON_HEADERS)])
    fewer = Peer(OWN, opensearch_url, f"{path}?terminate_after=1", JSON_HEADERS)
    with pytest.raises(RuntimeError, match="count differently"):
        check_facet_counts(workload, [ours, fewer])
