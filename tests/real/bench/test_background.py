"""Traffic beside measured searches: its orders are placed, hidden and called back, each run for other items."""

from api.settings import Settings
from bench.clients.background import Target, background_traffic
from tests.support.api.waiting import wait_until
from tests.support.app import serving
from tests.support.services.receiver import Receiver, responses


def test_each_run_sells_what_is_on_offer_and_its_callbacks_are_received(
    sqlite_settings: Settings, opensearch_url: str
) -> None:
    settings = sqlite_settings.model_copy(update={"allow_insecure_callbacks": True})
    with serving(settings) as client, Receiver(responses(200)) as receiver:
        target = Target(
            opensearch_url,
            sqlite_settings.alias(730),
            prices_in_cents=True,
            orders_address=str(client.base_url),
            headers=dict(client.headers),
            callback_url=receiver.url,
        )

        def offered() -> int:
            return int(client.post("/v1/gear/search", json={"platform": 730}).json()["total"])

        def sell(before: int) -> int:
            """How many items were sold by then: a slow first order makes several due at once."""
            with background_traffic(target, changes=10, orders=2.0) as count:
                wait_until(lambda: count.orders > 0)
            sold = before + count.orders
            wait_until(lambda: len(receiver.events) >= sold)
            wait_until(lambda: offered() <= listed - sold)
            return sold

        listed = offered()
        sold = sell(sell(0))
        assert offered() == listed - sold
        orders = client.get("/v1/orders").json()["orders"]
    assert len(orders) == len({order["item"] for order in orders}) == sold
    assert receiver.events == ["order.created"] * sold
