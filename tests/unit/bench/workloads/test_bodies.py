"""The bodies of the workloads are the same every time, and valid searches."""

from collections import Counter
from dataclasses import replace
from urllib.parse import parse_qs

import orjson
import pytest

from api.http.json_body import parse
from api.search.schemas.search import SearchBody
from bench.peers import own_index
from bench.peers.plain import counts_of, query_of
from bench.peers.search_peers import OWN, PLAIN, Peer
from bench.workloads.bodies import bodies_of, line_of, workloads

WORKLOADS = workloads()
every_workload = pytest.mark.parametrize("name", sorted(WORKLOADS))


@every_workload
def test_the_same_seed_draws_the_same_bodies(name: str) -> None:
    workload = replace(WORKLOADS[name], bodies=200)
    bodies = bodies_of(workload, 1)
    assert len(bodies) == 200
    assert bodies_of(workload, 1) == bodies != bodies_of(workload, 2)


@pytest.mark.parametrize("name", sorted(name for name, workload in WORKLOADS.items() if not workload.path))
def test_every_body_is_a_valid_search(name: str) -> None:
    for body in bodies_of(replace(WORKLOADS[name], bodies=500), 1):
        SearchBody.model_validate(parse(orjson.dumps(body)))


def test_suggestions_are_asked_for_letter_by_letter() -> None:
    workload = replace(WORKLOADS["suggestions"], bodies=3)
    queries = [parse_qs(line_of(workload, body)) for body in bodies_of(workload, 1)]
    texts = [query["q"][0] for query in queries]
    assert [len(text) for text in texts] == [2, 3, 4]
    assert all(text.startswith(texts[0]) for text in texts)
    assert {key for query in queries for key in query} == {"platform", "q", "limit"}


def test_distinct_bodies_are_distinct_and_a_few_of_zipf_are_most_frequent() -> None:
    cold = [orjson.dumps(body) for body in bodies_of(replace(WORKLOADS["cold"], bodies=4_000), 1)]
    assert len(set(cold)) > 0.99 * len(cold)
    hot = Counter(orjson.dumps(body) for body in bodies_of(replace(WORKLOADS["hot"], bodies=4_000), 1))
    assert len(hot) <= WORKLOADS["hot"].combinations
    assert sum(count for _, count in hot.most_common(30)) > 0.4 * 4_000


def test_a_plain_request_has_the_same_filters() -> None:
    body = {"filters": {"price": {"max": 5}, "type": ["Knife"]}, "sort": "price_asc", "page": 3, "limit": 10}
    request = query_of(body)
    assert request["query"] == {
        "bool": {"filter": [{"range": {"price": {"lte": 5}}}, {"terms": {"details.type": ["Knife"]}}]}
    }
    assert (request["from"], request["size"], request["track_total_hits"]) == (20, 10, True)


COUNTED = {
    "filters": {"price": {"max": 5}, "type": ["Knife"], "exterior": ["Field-Tested"]},
    "facets": ["type", "exterior", "weapon"],
    "sort": "price_asc",
}


def test_a_request_by_hand_counts_each_facet_inside_the_selections_of_the_others() -> None:
    request = own_index.query_of(COUNTED)
    kind, exterior = {"terms": {"type.folded": ["knife"]}}, {"terms": {"exterior.folded": ["field-tested"]}}
    assert request["query"] == {
        "bool": {
            "filter": [{"range": {"price": {"lte": 500}}}],
            "must_not": [{"term": {"bound": True}}],
        }
    }
    assert request["post_filter"] == {"bool": {"filter": [kind, exterior]}}
    assert {name: aggregation["filter"]["bool"]["filter"] for name, aggregation in request["aggs"].items()} == {
        "type": [exterior],
        "exterior": [kind],
        "weapon": [kind, exterior],
    }
    assert request["aggs"]["weapon"]["aggs"] == {"values": {"terms": {"field": "weapon", "size": 500}}}
    assert request["track_total_hits"] is True


def test_counts_of_the_engine_are_read_by_facet_and_value() -> None:
    response = {"aggregations": {"type": {"doc_count": 3, "values": {"buckets": [{"key": "Knife", "doc_count": 3}]}}}}
    assert counts_of(response) == {"type": {"Knife": 3}}
    assert counts_of({}) == {}


def test_our_index_is_measured_by_hand_for_facets_and_whole_results_beside_a_plain_index() -> None:
    own = Peer(OWN, "", "", {}, "own")
    plain = Peer(PLAIN, "", "", {}, "plain")
    assert {name for name, workload in WORKLOADS.items() if own.can_run(workload)} == {"export", "facets", "facets_hot"}
    assert plain.can_run(WORKLOADS["facets_hot"])
    assert not plain.can_run(WORKLOADS["export"])
