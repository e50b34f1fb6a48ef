"""Concurrency limits: no receiver and no token takes all attempts."""

from dataclasses import replace

from api.orders.webhooks.limits import (
    FAST_MILLISECONDS,
    FAST_RECEIVER_LIMIT,
    MAX_CONCURRENCY,
    MAX_RECEIVERS,
    RECEIVER_LIMIT,
    SLOW_RECEIVER_LIMIT,
    TOKEN_LIMIT,
    FreeCapacity,
    ReceiverLimits,
)
from api.orders.webhooks.schedule import Outcome
from api.orders.webhooks.sender import Sent
from store.records import DeliveryWork
from tests.support.orders.samples import WORK


def work(receiver: str, token_id: str = "tok_1") -> DeliveryWork:
    return replace(WORK, receiver=receiver, order=replace(WORK.order, token_id=token_id))


def test_a_receiver_has_a_limit() -> None:
    capacity = FreeCapacity([], ReceiverLimits())
    assert [capacity.admit("a.example", "tok_1") for _ in range(RECEIVER_LIMIT + 1)] == [True] * RECEIVER_LIMIT + [
        False
    ]
    assert capacity.admit("b.example", "tok_1")
    full = FreeCapacity([work("a.example")] * RECEIVER_LIMIT, ReceiverLimits())
    assert (list(full.saturated().receivers), list(full.saturated().tokens)) == (["a.example"], [])


def after(outcome: Outcome, milliseconds: int = 0) -> ReceiverLimits:
    """The limits after an attempt at a.example that ended so."""
    limits = ReceiverLimits()
    limits.update("a.example", Sent(outcome, None, None, milliseconds))
    return limits


def test_a_receiver_that_timed_out_has_one_attempt_at_a_time() -> None:
    slow = after("timeout")
    capacity = FreeCapacity([], slow)
    assert [capacity.admit("a.example", "tok_1") for _ in range(2)] == [True, False]
    assert list(FreeCapacity([work("a.example")], slow).saturated().receivers) == ["a.example"]
    assert list(FreeCapacity([work("b.example")], slow).saturated().receivers) == []


def test_a_fast_receiver_has_a_higher_limit() -> None:
    capacity = FreeCapacity([work("a.example")] * (FAST_RECEIVER_LIMIT - 1), after("delivered", FAST_MILLISECONDS))
    assert [capacity.admit("a.example", "tok_1") for _ in range(2)] == [True, False]


def test_the_last_attempt_sets_the_limit() -> None:
    limits = after("delivered")
    ends: dict[Outcome, int] = {
        "timeout": SLOW_RECEIVER_LIMIT,
        "rejected": RECEIVER_LIMIT,
        "unreachable": RECEIVER_LIMIT,
    }
    for outcome, limit in {**ends, "delivered": FAST_RECEIVER_LIMIT}.items():
        limits.update("a.example", Sent(outcome, None, None, 1))
        assert limits.limit_of("a.example") == limit
    assert after("delivered", FAST_MILLISECONDS + 1).limit_of("a.example") == RECEIVER_LIMIT


def test_the_number_of_remembered_receivers_is_bounded() -> None:
    limits = after("timeout")
    for number in range(MAX_RECEIVERS):
        limits.update(f"{number}.example", Sent("timeout", None, None, 1))
    assert limits.limit_of("a.example") == RECEIVER_LIMIT
    assert limits.limit_of("0.example") == SLOW_RECEIVER_LIMIT


def test_a_token_with_many_receivers_leaves_room_for_others() -> None:
    capacity = FreeCapacity([], ReceiverLimits())
    admitted = [capacity.admit(f"{number}.example", "tok_1") for number in range(MAX_CONCURRENCY)]
    assert sum(admitted) == TOKEN_LIMIT
    assert capacity.admit("0.example", "tok_2")
    full = FreeCapacity([work(f"{number}.example") for number in range(TOKEN_LIMIT)], ReceiverLimits())
    assert list(full.saturated().tokens) == ["tok_1"]


def test_a_dispatcher_has_a_limit() -> None:
    running = [work(f"{number}.example", f"tok_{number}") for number in range(MAX_CONCURRENCY - 1)]
    capacity = FreeCapacity(running, ReceiverLimits())
    assert [capacity.admit("new.example", "tok_new") for _ in range(2)] == [True, False]


def test_capacity_is_short_when_any_limit_is_reached() -> None:
    few = [work("a.example")] * (RECEIVER_LIMIT - 1)
    assert not FreeCapacity(few, ReceiverLimits()).is_short()
    assert FreeCapacity([*few, work("a.example")], ReceiverLimits()).is_short()
    assert FreeCapacity([work(f"{number}.example") for number in range(TOKEN_LIMIT)], ReceiverLimits()).is_short()
    assert FreeCapacity([], ReceiverLimits(), recording=MAX_CONCURRENCY).is_short()
