"""Shares of the attempts under way: nobody's receiver, and nobody's token, takes all of them."""

from dataclasses import replace

from api.orders.webhooks.limits import (
    AT_ONCE,
    MOST_KNOWN,
    OF_A_PROMPT_RECEIVER,
    OF_A_RECEIVER,
    OF_A_SLOW_RECEIVER,
    OF_A_TOKEN,
    PROMPT_MILLISECONDS,
    Paces,
    Shares,
)
from api.orders.webhooks.schedule import Outcome
from api.orders.webhooks.sender import Sent
from store.outbox.deliveries import DeliveryWork
from tests.support.orders.samples import WORK


def work(receiver: str, token_id: str = "tok_1") -> DeliveryWork:
    return replace(WORK, receiver=receiver, order=replace(WORK.order, token_id=token_id))


def test_a_receiver_has_its_share_and_no_more() -> None:
    shares = Shares([], Paces())
    assert [shares.admit("a.example", "tok_1") for _ in range(OF_A_RECEIVER + 1)] == [True] * OF_A_RECEIVER + [False]
    assert shares.admit("b.example", "tok_1")
    full = Shares([work("a.example")] * OF_A_RECEIVER, Paces())
    assert (list(full.crowded().receivers), list(full.crowded().tokens)) == (["a.example"], [])


def after(outcome: Outcome, milliseconds: int = 0) -> Paces:
    """What is known of a.example once an attempt there has ended so."""
    paces = Paces()
    paces.learn("a.example", Sent(outcome, None, None, milliseconds))
    return paces


def test_a_slow_receiver_has_one_attempt() -> None:
    slow = after("timeout")
    shares = Shares([], slow)
    assert [shares.admit("a.example", "tok_1") for _ in range(2)] == [True, False]
    assert list(Shares([work("a.example")], slow).crowded().receivers) == ["a.example"]
    assert list(Shares([work("b.example")], slow).crowded().receivers) == []


def test_a_receiver_that_takes_callbacks_soon_has_more_at_once() -> None:
    shares = Shares([work("a.example")] * (OF_A_PROMPT_RECEIVER - 1), after("delivered", PROMPT_MILLISECONDS))
    assert [shares.admit("a.example", "tok_1") for _ in range(2)] == [True, False]


def test_the_last_attempt_decides() -> None:
    paces = after("delivered")
    ends: dict[Outcome, int] = {"timeout": OF_A_SLOW_RECEIVER, "rejected": OF_A_RECEIVER, "unreachable": OF_A_RECEIVER}
    for outcome, most in {**ends, "delivered": OF_A_PROMPT_RECEIVER}.items():
        paces.learn("a.example", Sent(outcome, None, None, 1))
        assert paces.most("a.example") == most
    assert after("delivered", PROMPT_MILLISECONDS + 1).most("a.example") == OF_A_RECEIVER


def test_what_is_known_of_receivers_has_a_bound() -> None:
    paces = after("timeout")
    for number in range(MOST_KNOWN):
        paces.learn(f"{number}.example", Sent("timeout", None, None, 1))
    assert paces.most("a.example") == OF_A_RECEIVER
    assert paces.most("0.example") == OF_A_SLOW_RECEIVER


def test_a_token_with_many_receivers_leaves_room_for_others() -> None:
    shares = Shares([], Paces())
    admitted = [shares.admit(f"{number}.example", "tok_1") for number in range(AT_ONCE)]
    assert sum(admitted) == OF_A_TOKEN
    assert shares.admit("0.example", "tok_2")
    full = Shares([work(f"{number}.example") for number in range(OF_A_TOKEN)], Paces())
    assert list(full.crowded().tokens) == ["tok_1"]


def test_all_together_have_a_bound() -> None:
    running = [work(f"{number}.example", f"tok_{number}") for number in range(AT_ONCE - 1)]
    shares = Shares(running, Paces())
    assert [shares.admit("new.example", "tok_new") for _ in range(2)] == [True, False]


def test_it_is_known_whether_anybody_may_have_to_wait_for_room() -> None:
    few = [work("a.example")] * (OF_A_RECEIVER - 1)
    assert not Shares(few, Paces()).full()
    assert Shares([*few, work("a.example")], Paces()).full()
    assert Shares([work(f"{number}.example") for number in range(OF_A_TOKEN)], Paces()).full()
    assert Shares([], Paces(), noting=AT_ONCE).full()
