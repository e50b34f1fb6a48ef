"""The Python client on a broken wire: an order is placed once, and a change is not sent again."""

import threading
from typing import Any

import pytest
from gear_client import (
    ConnectionFailedError,
    GearClient,
)

from tests.support.clients import Service
from tests.support.services.wire import TcpProxy

ORDER: Any = {"account": "shop-7", "email": "buyer@example.test", "platform": "730"}


def test_an_order_whose_answer_is_lost_is_placed_once(service: Service) -> None:
    with TcpProxy.before(service.url) as proxy, GearClient(service.url, service.token) as direct:
        proxy.delay = 1.0  # the order arrives after its sender has given up

        def heal() -> None:
            while not direct.list_orders()["orders"]:
                threading.Event().wait(0.05)
            proxy.delay = 0.0

        healing = threading.Thread(target=heal)
        healing.start()
        with GearClient(proxy.url, service.token, timeout=0.5, attempts=20) as gear:
            placed = gear.order_item(item="-10", **ORDER)["order"]
        healing.join()
        assert [order["id"] for order in direct.list_orders()["orders"]] == [placed["id"]]


def test_a_change_that_may_have_been_done_is_not_sent_again(service: Service) -> None:
    with TcpProxy.before(service.url) as proxy, GearClient(proxy.url, service.token, timeout=0.3) as gear:
        proxy.hang()
        with pytest.raises(ConnectionFailedError, match="ReadTimeout"):
            gear.transition_order("gor_0000000000000000000000", to="failed")
        received = proxy.bytes_held
        with (
            GearClient(proxy.url, service.token, timeout=0.1, attempts=3) as other,
            pytest.raises(ConnectionFailedError),
        ):
            other.search()
        proxy.restore()
    assert received <= 1000, "the change was sent once"
