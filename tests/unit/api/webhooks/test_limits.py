"""Concurrency limits: no receiver and no token takes all attempts."""

from dataclasses import replace

from api.webhooks.limits import (
    FAST_MILLISECONDS,
    FAST_RECEIVER_LIMIT,
    MAX_CONCURRENCY,
    MAX_RECEIVERS,
    RECEIVER_LIMIT,
    SANDBOX_CONCURRENCY,
    SLOW_RECEIVER_LIMIT,
    SLOW_TOKEN_TIMEOUTS,
    FreeCapacity,
    ReceiverLimits,
    TokenWeights,
)
from api.webhooks.schedule import Outcome
from api.webhooks.sender import SendResult
from store.records import DeliveryWork
from tests.support.orders.samples import WORK


def work(receiver: str, token_id: str = "tok_1") -> DeliveryWork:
    return replace(WORK, receiver=receiver, subject=replace(WORK.subject, token_id=token_id))


def test_a_receiver_has_a_limit() -> None:
    capacity = FreeCapacity()
    assert [capacity.admit("a.example", "tok_1", sandbox=False) for _ in range(RECEIVER_LIMIT + 1)] == [
        True
    ] * RECEIVER_LIMIT + [False]
    assert capacity.admit("b.example", "tok_1", sandbox=False)
    full = FreeCapacity([work("a.example")] * RECEIVER_LIMIT)
    assert (list(full.saturated().receivers), list(full.saturated().tokens)) == (["a.example"], [])


def after(outcome: Outcome, milliseconds: int = 0) -> ReceiverLimits:
    """The limits after an attempt at a.example that ended so."""
    limits = ReceiverLimits()
    limits.update("a.example", SendResult(outcome, None, None, milliseconds))
    return limits


def test_a_receiver_that_timed_out_has_one_attempt_at_a_time() -> None:
    slow = after("timeout")
    capacity = FreeCapacity([], slow)
    assert [capacity.admit("a.example", "tok_1", sandbox=False) for _ in range(2)] == [True, False]
    assert list(FreeCapacity([work("a.example")], slow).saturated().receivers) == ["a.example"]
    assert list(FreeCapacity([work("b.example")], slow).saturated().receivers) == []


def test_a_fast_receiver_has_a_higher_limit() -> None:
    capacity = FreeCapacity([work("a.example")] * (FAST_RECEIVER_LIMIT - 1), after("delivered", FAST_MILLISECONDS))
    assert [capacity.admit("a.example", "tok_1", sandbox=False) for _ in range(2)] == [True, False]


def test_the_last_attempt_sets_the_limit() -> None:
    limits = after("delivered")
    ends: dict[Outcome, int] = {
        "timeout": SLOW_RECEIVER_LIMIT,
        "rejected": RECEIVER_LIMIT,
        "unreachable": RECEIVER_LIMIT,
    }
    for outcome, limit in {**ends, "delivered": FAST_RECEIVER_LIMIT}.items():
        limits.update("a.example", SendResult(outcome, None, None, 1))
        assert limits.limit_of("a.example") == limit
    assert after("delivered", FAST_MILLISECONDS + 1).limit_of("a.example") == RECEIVER_LIMIT


def test_the_number_of_remembered_receivers_is_bounded() -> None:
    limits = after("timeout")
    for number in range(MAX_RECEIVERS):
        limits.update(f"{number}.example", SendResult("timeout", None, None, 1))
    assert limits.limit_of("a.example") == RECEIVER_LIMIT
    assert limits.limit_of("0.example") == SLOW_RECEIVER_LIMIT


def admitted(capacity: FreeCapacity, token_id: str, *, sandbox: bool = False) -> int:
    """How many attempts of a token start that has more than enough due, each to another receiver."""
    hosts = [f"{number}.{token_id}.example" for number in range(MAX_CONCURRENCY)]
    return sum([capacity.admit(host, token_id, sandbox=sandbox) for host in hosts])


def test_tokens_with_many_receivers_leave_room_for_the_next_one() -> None:
    capacity = FreeCapacity()
    real = MAX_CONCURRENCY - SANDBOX_CONCURRENCY
    assert [admitted(capacity, f"tok_{number}") for number in range(3)] == [real // 2, real // 4, -(-real // 8)]
    assert capacity.admit("next.example", "tok_next", sandbox=False)
    assert set(capacity.saturated().tokens) == {"tok_0", "tok_1", "tok_2"}


def test_shares_become_alike_where_attempts_end_and_begin() -> None:
    running: list[DeliveryWork] = []
    for _ in range(2000):
        capacity = FreeCapacity(running)
        for token in ("tok_0", "tok_1", "tok_2"):
            if capacity.admit(f"{len(running)}.{token}.example", token, sandbox=False):
                running.append(work(f"{len(running)}.{token}.example", token))
                break
        else:
            running.pop(0)
    real = MAX_CONCURRENCY - SANDBOX_CONCURRENCY
    shares = [sum(delivery.subject.token_id == token for delivery in running) for token in ("tok_0", "tok_1", "tok_2")]
    assert real // 8 < min(shares) <= max(shares) <= real // 3  # a quarter each, and a quarter free


def test_all_sandbox_tokens_together_have_a_tenth() -> None:
    capacity = FreeCapacity()
    assert SANDBOX_CONCURRENCY <= MAX_CONCURRENCY // 10
    assert sum(admitted(capacity, f"tok_{number}", sandbox=True) for number in range(50)) == SANDBOX_CONCURRENCY
    assert list(capacity.saturated().sandbox) == [True]
    assert capacity.left == MAX_CONCURRENCY - SANDBOX_CONCURRENCY
    assert capacity.admit("real.example", "tok_real", sandbox=False)


def test_real_tokens_leave_the_sandbox_its_room() -> None:
    capacity = FreeCapacity()
    for number in range(MAX_CONCURRENCY):
        admitted(capacity, f"tok_{number}")
    assert capacity.left == SANDBOX_CONCURRENCY
    assert list(capacity.saturated().sandbox) == [False]
    assert capacity.admit("sandbox.example", "tok_sandbox", sandbox=True)


def test_a_token_whose_last_attempts_all_timed_out_is_slowed_until_one_does_not() -> None:
    weights = TokenWeights()
    for _ in range(SLOW_TOKEN_TIMEOUTS - 1):
        weights.update("tok_1", SendResult("timeout", None, None, 15_000))
    assert admitted(FreeCapacity(tokens=weights), "tok_1") > 50
    weights.update("tok_1", SendResult("timeout", None, None, 15_000))
    assert 1 <= admitted(FreeCapacity(tokens=weights), "tok_1") <= 20
    assert admitted(FreeCapacity(tokens=weights), "tok_2") > 50
    weights.update("tok_1", SendResult("rejected", 500, None, 1))
    assert admitted(FreeCapacity(tokens=weights), "tok_1") > 50


def test_a_dispatcher_has_a_limit() -> None:
    real = MAX_CONCURRENCY - SANDBOX_CONCURRENCY
    capacity = FreeCapacity([work(f"{number}.example", f"tok_{number}") for number in range(real - 1)])
    assert [capacity.admit("new.example", f"tok_new_{n}", sandbox=False) for n in range(2)] == [True, False]


def test_capacity_is_short_when_any_limit_is_reached() -> None:
    few = [work("a.example")] * (RECEIVER_LIMIT - 1)
    assert not FreeCapacity(few).saturated()
    assert FreeCapacity([*few, work("a.example")]).saturated()
    assert FreeCapacity([work(f"{number}.example") for number in range(MAX_CONCURRENCY // 2)]).saturated()
    assert FreeCapacity([], ReceiverLimits(), recording=[work("a.example")] * MAX_CONCURRENCY).saturated()
