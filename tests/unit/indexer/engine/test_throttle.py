"""The throttle halves what an engine cannot take, gives it back later, and never exceeds its bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.engine.throttle import (
    MAX_BYTES_IN_FLIGHT,
    MIN_REQUEST_BYTES,
    RECOVERY_SECONDS,
    REQUEST_BYTES,
    Throttle,
)

EVENTS = st.lists(st.tuples(st.sampled_from(["ok", "busy", "large"]), st.floats(0, 100)), max_size=60)


@given(st.integers(1, 16), EVENTS)
def test_it_stays_within_its_bounds_whatever_happens(concurrency: int, events: list[tuple[str, float]]) -> None:
    throttle = Throttle(concurrency)
    now = 0.0
    for kind, seconds in events:
        now += seconds
        size = throttle.request_bytes
        if kind == "busy":
            throttle.overloaded(now, now)
        elif kind == "large":
            throttle.too_large(
                size,
            )
            assert throttle.request_bytes <= max(1, size // 2)
        else:
            throttle.succeeded(now)
        assert 1 <= throttle.concurrency <= concurrency
        assert 1 <= throttle.request_bytes <= REQUEST_BYTES
        assert throttle.request_bytes * throttle.concurrency <= MAX_BYTES_IN_FLIGHT


def test_overload_halves_the_concurrency_first_and_the_size_then() -> None:
    throttle = Throttle(4)
    settings = []
    for number in range(10):
        throttle.overloaded(number, number)
        settings.append((throttle.concurrency, throttle.request_bytes))
    assert settings[:3] == [(2, REQUEST_BYTES), (1, REQUEST_BYTES), (1, REQUEST_BYTES // 2)]
    assert settings[-1] == (1, MIN_REQUEST_BYTES)


def test_requests_sent_before_a_halving_do_not_halve_again() -> None:
    throttle = Throttle(16)
    for _ in range(16):
        throttle.overloaded(sent_at=1.0, now=2.0)
    assert (throttle.concurrency, throttle.throttled) == (8, 1)


def test_halvings_are_taken_back_one_by_one_once_all_goes_well() -> None:
    throttle = Throttle(4)
    for number in range(3):
        throttle.overloaded(number, number)
    throttle.succeeded(2 + RECOVERY_SECONDS / 2)
    assert throttle.as_json() == {"bytes": REQUEST_BYTES // 2, "concurrency": 1, "throttled": 3}
    settings = []
    for number in range(1, 5):
        throttle.succeeded(2 + RECOVERY_SECONDS * number)
        settings.append((throttle.concurrency, throttle.request_bytes))
    assert settings == [(1, REQUEST_BYTES), (2, REQUEST_BYTES), (4, REQUEST_BYTES), (4, REQUEST_BYTES)]


@pytest.mark.parametrize("size", [100_000, 3])
def test_a_size_that_was_refused_is_never_sent_again(size: int) -> None:
    throttle = Throttle(2)
    throttle.too_large(size)
    assert throttle.request_bytes == size // 2
    throttle.succeeded(RECOVERY_SECONDS * 9)
    assert throttle.request_bytes == size // 2
