"""The bodies that benchmarks send are the same every time, and each of them is one that the service takes."""

from collections import Counter
from dataclasses import replace

import orjson
import pytest

from api.json_body import parse
from api.search.schemas import SearchBody
from bench.plain import query_of
from bench.workloads import bodies_of, workloads

WORKLOADS = workloads()
every_workload = pytest.mark.parametrize("name", sorted(WORKLOADS))


@every_workload
def test_the_same_seed_draws_the_same_bodies(name: str) -> None:
    workload = replace(WORKLOADS[name], bodies=200)
    assert bodies_of(workload, 1) == bodies_of(workload, 1)
    assert bodies_of(workload, 1) != bodies_of(workload, 2)
    assert len(bodies_of(workload, 1)) == 200


@pytest.mark.parametrize("name", sorted(set(WORKLOADS) - {"facets", "groups"}))
def test_every_body_is_one_that_the_service_takes(name: str) -> None:
    for body in bodies_of(replace(WORKLOADS[name], bodies=500), 1):
        SearchBody.model_validate(parse(orjson.dumps(body)))


def test_distinct_bodies_are_distinct_and_a_few_of_zipf_are_asked_most() -> None:
    cold = [orjson.dumps(body) for body in bodies_of(WORKLOADS["cold"], 1)]
    assert len(set(cold)) > 0.99 * len(cold)
    hot = Counter(orjson.dumps(body) for body in bodies_of(WORKLOADS["hot"], 1))
    assert len(hot) <= WORKLOADS["hot"].combinations
    assert sum(count for _, count in hot.most_common(30)) > 0.4 * WORKLOADS["hot"].bodies


def test_a_plain_request_has_the_same_filters() -> None:
    body = {"filters": {"price": {"max": 5}, "type": ["Knife"]}, "sort": "price_asc", "page": 3, "limit": 10}
    request = query_of(body)
    assert request["query"] == {
        "bool": {"filter": [{"range": {"price": {"lte": 5}}}, {"terms": {"details.type": ["Knife"]}}]}
    }
    assert (request["from"], request["size"], request["track_total_hits"]) == (20, 10, True)
