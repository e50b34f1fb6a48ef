"""The pace finds what an engine takes best, yields where it has too much, and never holds more than it may."""

from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.engine.throttle import (
    BETTER,
    FIRST_WINDOWS,
    LEAST_BYTES,
    MEBIBYTE,
    MOST_BYTES,
    MOST_BYTES_IN_FLIGHT,
    MOST_SENDERS,
    REST_WINDOWS,
    SLOW_SECONDS,
    WINDOW_SECONDS,
    Pace,
    Setting,
)

Engine = Callable[[Setting], float]  # bytes a second that it takes


def engine(cores: int, speed: float, overhead: float) -> Engine:
    """One that works at `cores` requests at once, each at `speed`, and needs `overhead` seconds more for each."""

    def rate(setting: Setting) -> float:
        seconds = setting.bytes / speed + overhead
        return min(setting.senders, cores) * setting.bytes / seconds

    return rate


class Run:
    """A load with a clock of its own."""

    def __init__(self, most_senders: int = MOST_SENDERS) -> None:
        self.now = 100.0
        self.pace = Pace(most_senders, self.now)
        self.settings: list[Setting] = []  # of each window

    def windows(self, rate: Engine, count: int) -> None:
        """So many windows in which requests are answered as fast as the engine takes them."""
        for _ in range(count):
            setting = self.pace.setting
            self.settings.append(setting)
            began = self.now
            while self.now - began < WINDOW_SECONDS * 1.5 and self.pace.setting == setting:
                seconds = setting.bytes / rate(setting)
                self.now += seconds
                self.pace.answered(setting.bytes, seconds * setting.senders, self.now)

    def pushed(self, seconds: float = 0.1) -> None:
        """One request is refused because there is too much."""
        self.now += seconds
        self.pace.pushed(seconds, self.now)


@pytest.mark.parametrize("cores", [1, 2, 6, 16])
@pytest.mark.parametrize("speed", [MEBIBYTE, 20 * MEBIBYTE, 200 * MEBIBYTE])
@pytest.mark.parametrize("overhead", [0.001, 0.05])
def test_it_finds_most_of_what_the_engine_takes(cores: int, speed: float, overhead: float) -> None:
    rate = engine(cores, speed, overhead)
    run = Run()
    run.windows(rate, 400)
    found = Counter(run.settings[-100:]).most_common(1)[0][0]  # but for what is tried
    sizes = [LEAST_BYTES * 2**power for power in range(8)]
    best = max(
        rate(Setting(size, senders))
        for size in sizes
        for senders in range(1, MOST_SENDERS + 1)
        if size * senders <= MOST_BYTES_IN_FLIGHT
    )
    # each step that is not taken would have gained less than a tenth
    assert rate(found) >= best / BETTER**4


EVENTS = st.lists(
    st.tuples(st.sampled_from(("answered", "slow", "pushed", "too large")), st.floats(0.001, 100), st.floats(0.01, 10)),
    max_size=200,
)


@given(EVENTS, st.integers(1, MOST_SENDERS))
def test_what_is_on_its_way_is_bounded_whatever_happens(
    events: list[tuple[str, float, float]], most_senders: int
) -> None:
    pace = Pace(most_senders, 0.0)
    now = 0.0
    for kind, seconds, passed in events:
        now += passed
        size = pace.setting.bytes
        if kind == "pushed":
            pace.pushed(seconds, now)
        elif kind == "too large":
            pace.too_large(size, now)
            assert pace.setting.bytes <= max(1, size // 2)
        else:
            pace.answered(size, seconds if kind == "slow" else 0.1, now)
        assert 1 <= pace.setting.senders <= most_senders
        assert 1 <= pace.setting.bytes <= MOST_BYTES
        assert pace.setting.bytes * pace.setting.senders <= MOST_BYTES_IN_FLIGHT


def test_it_yields_by_half_down_to_one_small_request_at_a_time() -> None:
    run = Run()
    seen = [run.pace.setting]
    for _ in range(12):
        run.pushed()
        seen.append(run.pace.setting)
    for before, after in pairwise(seen):
        halved = before.senders // 2 == after.senders if before.senders > 1 else before.bytes // 2 == after.bytes
        assert halved or after == Setting(LEAST_BYTES, 1)
    assert run.pace.setting == Setting(LEAST_BYTES, 1)


def test_requests_of_one_moment_are_one_reason_to_yield() -> None:
    run = Run()
    run.pushed()
    after = run.pace.setting
    for _ in range(3):
        run.now += 0.01
        run.pace.pushed(0.5, run.now)  # all were sent before the first of them was refused
    assert run.pace.setting == after
    assert run.pace.pushed_back == 1


def test_after_a_rest_it_tries_for_more_again() -> None:
    rate = engine(4, 20 * MEBIBYTE, 0.01)
    run = Run()
    for _ in range(10):
        run.pushed()
    low = run.pace.setting
    run.windows(rate, REST_WINDOWS // 2)
    assert run.pace.setting == low
    run.windows(rate, 200)
    assert rate(run.pace.setting) > 4 * rate(low)


def test_a_load_that_is_over_soon_is_not_tried_on() -> None:
    rate = engine(2, 20 * MEBIBYTE, 0.01)
    run = Run()
    began, first = run.now, run.pace.setting
    for _ in range(FIRST_WINDOWS * 2):
        if run.pace.setting == first:
            run.windows(rate, 1)
    assert run.pace.setting != first
    assert run.now - began >= FIRST_WINDOWS * WINDOW_SECONDS


def test_what_only_seems_better_because_the_engine_was_slow_before_is_not_kept() -> None:
    run = Run()
    first = run.pace.setting

    def rate(setting: Setting) -> float:
        """It does nothing better with more, and every fifth window is half as fast."""
        return 10.0 * MEBIBYTE * (0.5 if len(run.settings) % 5 == 0 else 1)

    run.windows(rate, 200)
    assert run.settings.count(first) > 150


def test_requests_that_take_too_long_become_smaller() -> None:
    run = Run()
    size = run.pace.setting.bytes
    run.now += SLOW_SECONDS * 2
    run.pace.answered(size, SLOW_SECONDS * 2, run.now)
    assert run.pace.setting.bytes == size // 2


def test_no_request_is_ever_as_large_again_as_one_that_was_too_large() -> None:
    run = Run()
    run.pace.too_large(100_000, run.now)
    assert run.pace.setting.bytes == 50_000
    run.windows(engine(4, 200 * MEBIBYTE, 0.05), 300)
    assert run.pace.setting.bytes <= 50_000
