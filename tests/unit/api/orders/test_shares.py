"""Shares of the attempts under way: nobody's receiver, and nobody's token, takes all of them."""

from dataclasses import replace

from api.orders.shares import AT_ONCE, OF_A_RECEIVER, OF_A_TOKEN, Shares
from store.deliveries import DeliveryWork
from tests.unit.api.orders.test_verifying import WORK


def work(receiver: str, token_id: str = "tok_1") -> DeliveryWork:
    return replace(WORK, receiver=receiver, order=replace(WORK.order, token_id=token_id))


def test_a_receiver_has_its_share_and_no_more() -> None:
    shares = Shares([], slow=[])
    assert [shares.admit("a.example", "tok_1") for _ in range(OF_A_RECEIVER + 1)] == [True] * OF_A_RECEIVER + [False]
    assert shares.admit("b.example", "tok_1")
    full = Shares([work("a.example")] * OF_A_RECEIVER, slow=[])
    assert (list(full.crowded().receivers), list(full.crowded().tokens)) == (["a.example"], [])


def test_a_slow_receiver_has_one_attempt() -> None:
    shares = Shares([], slow=["a.example"])
    assert [shares.admit("a.example", "tok_1") for _ in range(2)] == [True, False]
    assert list(Shares([work("a.example")], slow=["a.example"]).crowded().receivers) == ["a.example"]
    assert list(Shares([work("b.example")], slow=["a.example"]).crowded().receivers) == []


def test_a_token_with_many_receivers_leaves_room_for_others() -> None:
    shares = Shares([], slow=[])
    admitted = [shares.admit(f"{number}.example", "tok_1") for number in range(AT_ONCE)]
    assert sum(admitted) == OF_A_TOKEN
    assert shares.admit("0.example", "tok_2")
    full = Shares([work(f"{number}.example") for number in range(OF_A_TOKEN)], slow=[])
    assert list(full.crowded().tokens) == ["tok_1"]


def test_all_together_have_a_bound() -> None:
    running = [work(f"{number}.example", f"tok_{number}") for number in range(AT_ONCE - 1)]
    shares = Shares(running, slow=[])
    assert [shares.admit("new.example", "tok_new") for _ in range(2)] == [True, False]
