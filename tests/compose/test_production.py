"""compose.production.yml comes up, serves, outlives the loss of each part, is rolled over unnoticed, and goes."""

from collections.abc import Iterator
from itertools import count
from time import sleep
from typing import Any

import pytest

from tests.support.api.waiting import wait_until
from tests.support.compose.deployment import docker, require_engine
from tests.support.compose.production import Production, health
from tests.support.search.items import make_items
from tests.support.traffic import SEARCH, sending, wait_for_responses

pytestmark = [pytest.mark.docker, pytest.mark.timeout(2400)]

ITEMS = make_items(200, 1)
BACK_SECONDS = 240.0  # until a part that was killed serves again, on a busy machine


@pytest.fixture(scope="module")
def production(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Production]:
    """Up, with a catalogue and a token, behind two API containers."""
    require_engine()
    production = Production(folder=tmp_path_factory.mktemp("production"))
    try:
        production.prepare()
        production.up("--scale", "api=2")
        production.load(ITEMS)
        production.token = production.new_token()
        production.wait_until_ready()
        yield production
    finally:
        production.remove()


def body_of(item: int | str, account: str = "a") -> dict[str, Any]:
    return {"account": account, "email": "a@example.com", "platform": "cs2", "item": str(item)}


def order(production: Production) -> dict[str, Any]:
    """Orders the cheapest item; the order."""
    response = production.search(platform=730, sort="price_asc", filters={"price": {"min": 0.01}}, limit=1)
    placed = production.ask("POST", "/v1/gear", body_of(response["gear"][0]["id"]))
    assert placed.status_code == 201, placed.text
    created: dict[str, Any] = placed.json()["order"]
    return created


def orders(production: Production) -> bool:
    """Whether an order is taken; a server whose connection to the database died unseen refuses its search, whose token
    it may have to look up, or the order, and says so. So does one that is late on a busy machine.
    """
    body = {"platform": 730, "sort": "price_asc", "filters": {"price": {"min": 0.01}}, "limit": 1}
    response = production.ask("POST", "/v1/gear/search", body)
    if response.status_code == 200:
        response = production.ask("POST", "/v1/gear", body_of(response.json()["gear"][0]["id"]))
    if response.status_code == 201:
        return True
    assert response.json()["error"]["code"] in ("store_unavailable", "overloaded"), response.text
    return False


def works(production: Production) -> bool:
    """Whether searches and orders are served, and a search is answered."""
    return production.ask("GET", "/health/ready").status_code == 200 and searches(production)


def searches(production: Production) -> bool:
    """Whether a search is answered; on a busy machine one may be refused."""
    return production.ask("POST", "/v1/gear/search", {"platform": 730, "limit": 1}).status_code == 200


def different_searches() -> Iterator[dict[str, Any]]:
    """No response is in a cache; a little time between two of them leaves some for the containers."""
    for price in count(1):
        sleep(0.01)
        yield {"platform": 730, "filters": {"price": {"max": price}}, "limit": 1}


def test_it_serves_searches_and_orders_by_tls_at_every_part(production: Production) -> None:
    assert production.search(platform=730, limit=1)["total"] == len(ITEMS)
    placed = order(production)
    rival = production.ask("POST", "/v1/gear", body_of(placed["item"], "b"))
    assert (rival.status_code, rival.json()["error"]["code"]) == (409, "item_unavailable")
    sold = {"platform": 730, "filters": {"ids": [int(placed["item"])]}}
    wait_until(lambda: production.search(**sold)["total"] == 0, 30, "it is still offered")
    assert production.ask("GET", "/metrics").status_code == 404, "the proxy shows it to the world"
    assert placed["statusUrl"].startswith(production.url)


@pytest.mark.parametrize("service", ["opensearch-2", "opensearch-1", "redis", "deliver", "api"])
def test_searches_and_orders_outlive_the_loss_of(production: Production, service: str) -> None:
    with production.killed(service):
        wait_until(lambda: works(production), 60, f"it is not ready without {service}")
        assert production.search(platform=730, limit=1)["total"] > 0
        order(production)
    wait_until(lambda: health(production.containers(service)[0]) == "healthy", BACK_SECONDS, f"{service} is not back")
    # A second node may be lost once all copies are there again.
    wait_until(lambda: production.engine_status() == "green", BACK_SECONDS, "not all copies are back")
    wait_until(lambda: works(production), 60, "it is not ready")


def test_without_the_database_searches_go_on_and_no_order_is_lost(production: Production) -> None:
    placed = order(production)
    item = production.search(platform=730, sort="price_asc", filters={"price": {"min": 0.01}}, limit=1)["gear"][0]["id"]
    with production.killed("postgres"):
        wait_until(lambda: searches(production), 30, "no search is answered without the database")
        refused = production.ask("POST", "/v1/gear", body_of(item))
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "store_unavailable")
    wait_until(lambda: works(production), BACK_SECONDS, "it is not ready")
    wait_until(lambda: all(orders(production) for _ in range(8)), 60, "some server takes no order")
    order_url = f"/v1/orders/{placed['id']}"
    wait_until(lambda: production.ask("GET", order_url).status_code == 200, 60, "the order is not shown")
    stored = production.ask("GET", order_url).json()["order"]
    assert {name: stored[name] for name in placed} == placed


def test_a_proxy_that_died_serves_again(production: Production) -> None:
    with production.killed("proxy"):
        pass
    production.wait_until_ready()
    wait_until(lambda: orders(production), 60, "no order is taken")


def test_the_api_is_rolled_over_without_a_failed_request(production: Production) -> None:
    """By the commands of docs/deployment.md."""
    old = production.containers("api")
    with sending(production.client, SEARCH, different_searches(), lambda _: None, clients=3) as responses:
        wait_for_responses(responses, 20)
        production.compose("up", "--detach", "--no-deps", "--no-recreate", "--scale", "api=4", "api")
        new = set(production.containers("api")) - set(old)
        wait_until(
            lambda: all(health(container) == "healthy" for container in new),
            BACK_SECONDS,
            "the new ones are not healthy",
        )
        for container in old:
            wait_for_responses(responses, 20)
            docker("stop", container)
            docker("rm", container)
        wait_for_responses(responses, 50)
        order(production)
    assert {response.failure or response.status for response in responses} == {200}, f"{len(responses)} searches"
    assert not set(production.containers("api")) & set(old)


def test_a_reload_is_swapped_in_behind_the_proxy(production: Production) -> None:
    production.load(ITEMS[:150])
    bound = len(production.ask("GET", "/v1/orders?limit=100").json()["orders"])
    wait_until(lambda: production.search(platform=730, limit=1)["total"] <= 150, 30, "the old catalogue still serves")
    assert production.search(platform=730, limit=1)["total"] >= 150 - bound


def test_it_goes_without_a_trace(production: Production) -> None:
    ends = {
        service: production.stopped(service)
        for service in ("proxy", "api", "deliver", "redis", "postgres", "opensearch-1", "opensearch-2", "opensearch-3")
    }
    assert 137 not in ends.values(), f"exit codes {ends}: 137 is the engine losing its patience"
    assert production.remaining()
    production.compose("down", "--volumes", "--remove-orphans")
    assert production.remaining() == []
