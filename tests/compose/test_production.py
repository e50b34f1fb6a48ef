"""compose.production.yml comes up, serves, outlives the loss of each part, is rolled over unnoticed, and goes."""

from collections.abc import Iterator
from itertools import count
from time import monotonic, sleep
from typing import Any

import pytest

from tests.compose.deployment import docker, require_engine
from tests.compose.production import Production, health
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
    found = production.search(platform=730, sort="price_asc", filters={"price": {"min": 0.01}}, limit=1)
    placed = production.ask("POST", "/v1/gear", body_of(found["gear"][0]["id"]))
    assert placed.status_code == 201, placed.text
    made: dict[str, Any] = placed.json()["order"]
    return made


def orders(production: Production) -> bool:
    """Whether an order is taken; a server whose connection to the database died unseen refuses its search, whose token
    it may have to look up, or the order, and says so.
    """
    body = {"platform": 730, "sort": "price_asc", "filters": {"price": {"min": 0.01}}, "limit": 1}
    response = production.ask("POST", "/v1/gear/search", body)
    if response.status_code == 200:
        response = production.ask("POST", "/v1/gear", body_of(response.json()["gear"][0]["id"]))
    assert response.status_code == 201 or response.json()["error"]["code"] == "store_unavailable", response.text
    return response.status_code == 201


def within(seconds: float, condition: Any, what: str) -> float:
    """Waits until the condition holds; the seconds that it took."""
    started = monotonic()
    while not condition():
        assert monotonic() - started < seconds, f"after {seconds} seconds not {what}"
        sleep(0.2)
    return monotonic() - started


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
    made = order(production)
    rival = production.ask("POST", "/v1/gear", body_of(made["item"], "b"))
    assert (rival.status_code, rival.json()["error"]["code"]) == (409, "item_unavailable")
    sold = {"platform": 730, "filters": {"ids": [int(made["item"])]}}
    within(30, lambda: production.search(**sold)["total"] == 0, "hidden")
    assert production.ask("GET", "/metrics").status_code == 404, "the proxy shows it to the world"
    assert made["statusUrl"].startswith(production.url)


@pytest.mark.parametrize("service", ["opensearch-2", "opensearch-1", "redis", "deliver", "api"])
def test_searches_and_orders_outlive_the_loss_of(production: Production, service: str) -> None:
    with production.killed(service):
        within(60, lambda: works(production), f"ready without {service}")
        assert production.search(platform=730, limit=1)["total"] > 0
        order(production)
    within(BACK_SECONDS, lambda: health(production.containers(service)[0]) == "healthy", f"{service} back")
    # A second node may be lost once all copies are there again.
    within(BACK_SECONDS, lambda: production.engine_status() == "green", "all copies back")
    within(60, lambda: works(production), "ready")


def test_without_the_database_searches_go_on_and_no_order_is_lost(production: Production) -> None:
    made = order(production)
    item = production.search(platform=730, sort="price_asc", filters={"price": {"min": 0.01}}, limit=1)["gear"][0]["id"]
    with production.killed("postgres"):
        within(30, lambda: searches(production), "searched without the database")
        refused = production.ask("POST", "/v1/gear", body_of(item))
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "store_unavailable")
    within(BACK_SECONDS, lambda: works(production), "ready")
    within(60, lambda: all(orders(production) for _ in range(8)), "ordered by every server")
    order_url = f"/v1/orders/{made['id']}"
    within(60, lambda: production.ask("GET", order_url).status_code == 200, "told of the order")
    kept = production.ask("GET", order_url).json()["order"]
    assert {name: kept[name] for name in made} == made


def test_a_proxy_that_died_serves_again(production: Production) -> None:
    with production.killed("proxy"):
        pass
    production.wait_until_ready()
    within(60, lambda: orders(production), "ordered from")


def test_the_api_is_rolled_over_without_a_failed_request(production: Production) -> None:
    """By the commands of docs/deployment.md."""
    old = production.containers("api")
    with sending(production.client, SEARCH, different_searches(), lambda _: None, clients=3) as responses:
        wait_for_responses(responses, 20)
        production.compose("up", "--detach", "--no-deps", "--no-recreate", "--scale", "api=4", "api")
        new = set(production.containers("api")) - set(old)
        within(BACK_SECONDS, lambda: all(health(container) == "healthy" for container in new), "new ones healthy")
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
    within(30, lambda: production.search(platform=730, limit=1)["total"] <= 150, "the new catalogue")
    assert production.search(platform=730, limit=1)["total"] >= 150 - bound


def test_it_goes_without_a_trace(production: Production) -> None:
    ends = {
        service: production.stopped(service)
        for service in ("proxy", "api", "deliver", "redis", "postgres", "opensearch-1", "opensearch-2", "opensearch-3")
    }
    assert 137 not in ends.values(), f"exit codes {ends}: 137 is the engine losing its patience"
    assert production.leftovers()
    production.compose("down", "--volumes", "--remove-orphans")
    assert production.leftovers() == []
