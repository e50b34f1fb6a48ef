"""Orders and rebuilds over faults: what is sold while a load, a swap or a rollback fails stays hidden."""

import os
import signal
from pathlib import Path

import pytest

from tests.support.indexer.examined import bound_in
from tests.support.indexer.fixtures import Place, items, lines
from tests.support.indexer.shop import Shop
from tests.support.indexer.wire import CUT, LOSE, Fault, Wire


def test_an_order_placed_while_the_new_index_is_proved_is_hidden_at_the_swap(
    place: Place, shop: Shop, wire: Wire
) -> None:
    """Else searches offer it until it is published to the new index."""
    shop.sell(1)
    old = place.load(items(6))["index"]

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if "-products/_search" in path and b"redline" in body:  # the warm-up's last
            shop.sell(4)
            shop.cancel(1)
        if path.startswith("/_aliases"):
            (new,) = set(place.indices()) - {old}
            hidden.append(bound_in(place, new))
        return None

    hidden: list[list[int]] = []
    wire.rule = rule
    assert place.load(items(6))["bound"] == 1
    assert hidden == [[4]]


def test_an_order_placed_between_the_claims_and_the_swap_is_in_the_new_index(
    place: Place, shop: Shop, wire: Wire
) -> None:
    """The dispatcher has told the old index by then, and would never tell the new one."""
    shop.sell(1)

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if path.startswith("/_aliases"):
            shop.sell(4)
            shop.cancel(1)
            assert shop.publish() == {1: False, 4: True}
        return None

    wire.rule = rule
    report = place.load(items(6))
    assert bound_in(place, report["index"]) == [1]
    assert shop.publish() == {1: False, 4: True}


@pytest.mark.parametrize(
    ("command", "after"),
    [
        (("load", "-", "--retry-timeout", "0.4"), CUT),
        (("rollback",), Fault("response", 403, b'{"error": {"type": "security_exception", "reason": "no"}}')),
    ],
    ids=["load", "rollback"],
)
def test_what_was_ordered_is_published_again_after_a_swap_that_ended_in_an_error(
    place: Place, shop: Shop, wire: Wire, command: tuple[str, ...], after: Fault
) -> None:
    """The aliases have moved, and the engine is away before anybody knows."""
    place.load(items(6))
    place.load(items(6))

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if path.startswith("/_aliases"):
            wire.rule = lambda method, path, body: after
            shop.sell(1)
            assert shop.publish() == {1: True}
            return LOSE
        return None

    wire.rule = rule
    before = place.client.indices.get_alias(name=place.alias)
    response = place.json(*command, "--platform", "730", stdin=lines(items(6)), code=1)
    assert response["swapped"] is None
    assert f"whether {response['index']} serves now is not known" in response["error"]
    assert place.client.indices.get_alias(name=place.alias) != before
    assert shop.publish() == {1: True}


def test_an_interruption_during_the_swap_of_a_rollback_waits_for_its_end(place: Place, shop: Shop, wire: Wire) -> None:
    first = place.load(items(6))["index"]
    place.load(items(6))

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if path.startswith("/_aliases"):
            shop.sell(1)
            assert shop.publish() == {1: True}
            os.kill(os.getpid(), signal.SIGINT)
        return None

    wire.rule = rule
    response = place.json("rollback", "--platform", "730", code=130)
    assert (response["swapped"], response["error"]) == (True, "interrupted")
    assert list(place.client.indices.get_alias(name=place.alias)) == [first]
    assert shop.publish() == {1: True}


def test_a_database_that_goes_away_after_the_swap_is_reported(place: Place, shop: Shop, wire: Wire) -> None:
    shop.sell(1)

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if path.startswith("/_aliases"):
            shop.sell(2)
            assert shop.publish() == {1: True, 2: True}
            contents.append(Path("orders.db").read_bytes())
            Path("orders.db").write_bytes(b"this is no database" * 100)
            for left in Path().glob("orders.db-*"):
                left.unlink()
        return None

    contents: list[bytes] = []
    wire.rule = rule
    report = place.load(items(3), "--retry-timeout", "0.5", code=1)
    assert report["swapped"] is True
    assert "could not be recorded for the new index" in report["error"]
    assert "`gear-indexer doctor --platform 730 --fix`" in report["error"]
    assert bound_in(place, report["index"]) == [1]
    Path("orders.db").write_bytes(contents[0])
    shop.age()
    place.json("doctor", "--platform", "730", "--fix")
    assert bound_in(place, report["index"]) == [1, 2]
