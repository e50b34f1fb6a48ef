"""`docker compose up` ends with a service that answers a search and takes an order, and keeps both over restarts."""

import json
from dataclasses import replace
from typing import Any

import httpx
import pytest

from tests.support.compose.deployment import CATALOGUE_ROWS, LONG_RUNNING, Deployment, docker

pytestmark = [pytest.mark.docker, pytest.mark.timeout(1500)]

REDLINES = {
    "platform": 730,
    "query": "ak-47 redline",
    "filters": {"exterior": ["Field-Tested"], "price": {"max": 1000}},
    "sort": "price_asc",
}


def order_body(item: dict[str, Any], account: str) -> dict[str, Any]:
    return {"account": account, "email": f"{account}@example.com", "platform": "cs2", "item": str(item["id"])}


def offered(deployment: Deployment) -> list[int]:
    return [item["id"] for item in deployment.search(**REDLINES, limit=100)["gear"]]


def test_up_ends_with_a_service_that_answers_a_search(deployment: Deployment) -> None:
    everything = deployment.search(platform=730, limit=1)
    response = deployment.search(**REDLINES)
    prices = [item["price"] for item in response["gear"]]
    assert everything["total"] == CATALOGUE_ROWS
    assert response["total"] == len(response["gear"]) > 0
    assert all("AK-47 | Redline" in item["name"] for item in response["gear"])
    assert {item["details"]["exterior"] for item in response["gear"]} == {"Field-Tested"}
    assert prices == sorted(prices)
    assert prices[-1] <= 1000


def test_an_order_and_the_catalogue_outlast_restart_and_new_containers(deployment: Deployment) -> None:
    item = deployment.search(**REDLINES)["gear"][0]
    placed = deployment.ask("POST", "/v1/gear", order_body(item, "first"))
    rival = deployment.ask("POST", "/v1/gear", order_body(item, "second"))
    assert placed.status_code == 201, placed.text
    assert (rival.status_code, rival.json()["error"]["code"]) == (409, "item_unavailable")
    order = placed.json()["order"]
    assert order["statusUrl"].startswith(f"{deployment.url}/")

    deployment.compose("restart")
    deployment.wait_until_ready()
    check_order_and_items(deployment, order)
    before = deployment.ask("GET", "/v1/platforms").json()

    deployment.compose("down")
    deployment.up()
    check_order_and_items(deployment, order)
    after = deployment.ask("GET", "/v1/platforms").json()
    assert after == before, "the job `sample` must load nothing where a catalogue is there already"


def check_order_and_items(deployment: Deployment, order: dict[str, Any]) -> None:
    response = deployment.ask("GET", f"/v1/orders/{order['id']}")
    assert response.status_code == 200, response.text
    assert {key: response.json()["order"][key] for key in order} == order
    assert deployment.search(platform=730, limit=1)["total"] == CATALOGUE_ROWS - 1
    assert int(order["item"]) not in offered(deployment)


def test_all_end_by_themselves_when_stopped(deployment: Deployment) -> None:
    deployment.compose("stop")
    killed = 137
    ends = {name: deployment.inspect(name)["State"]["ExitCode"] for name in LONG_RUNNING}
    deployment.up()
    assert killed not in ends.values(), f"exit codes {ends}: 137 is the engine losing its patience"


def test_a_catalogue_of_ones_own_takes_the_place_of_the_sample(deployment: Deployment) -> None:
    items = deployment.search(platform=730, query="ak-47 redline", limit=3)["gear"]
    own = "".join(json.dumps({**item, "id": number}) + "\n" for number, item in enumerate(items, start=1))
    refusals = ("--max-rejects", "50", "--min-share", "0")  # three items in the place of thousands are meant
    load = ("gear-indexer", "load", "-", "--platform", "730", "--rejects", "/dev/stdout", *refusals)
    rejects = deployment.compose("run", "--rm", "--no-TTY", "indexer", *load, stdin=own + '{"id": 4}\n')
    response = deployment.search(platform=730)
    assert sorted(item["id"] for item in response["gear"]) == [1, 2, 3]
    assert response["total"] == 3
    assert [(row["line"], row["field"]) for row in map(json.loads, rejects.splitlines())] == [(4, "name")]


def test_a_lost_index_stays_empty_without_the_profile_of_the_sample(deployment: Deployment) -> None:
    deployment.compose("down")
    docker("volume", "rm", f"{deployment.name}_opensearch-data")
    production = replace(deployment, sample=False)
    production.compose("up", "--detach")
    production.wait_until_ready("/health/live")
    response = httpx.get(f"{production.url}/health/ready", timeout=30)
    assert (response.status_code, response.json()["error"]["code"]) == (503, "search_unavailable")
    assert "load the catalogue" in production.compose("logs", "--no-color", "api")
    state = json.loads(production.compose("run", "--rm", "--no-TTY", "indexer", "gear-indexer", "status", "--json"))
    assert [platform["serving"] for platform in state["platforms"]] == [None]


def test_down_leaves_nothing_behind(deployment: Deployment) -> None:
    assert deployment.remaining()
    deployment.compose("down", "--volumes")
    assert deployment.remaining() == []
