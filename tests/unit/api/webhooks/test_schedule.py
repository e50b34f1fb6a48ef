"""The schedule of callbacks: what an integrator may rely on after an answer, an error or silence."""

from datetime import UTC, datetime, timedelta

import pytest

from api.webhooks.schedule import RETRY_DELAYS, Outcome, Verdict, outcome_of, parse_retry_after, verdict
from store.outbox.deliveries import MAX_WAIT

NOW = datetime(2026, 8, 9, 4, 0, 0, tzinfo=UTC)
BAD: list[tuple[Outcome, int | None]] = [
    ("rejected", 500),
    ("rejected", 301),
    ("rejected", 404),
    ("timeout", None),
    ("unreachable", None),
    ("refused", None),
]


@pytest.mark.parametrize(("outcome", "status"), BAD)
def test_the_attempts_are_those_of_the_contract(outcome: Outcome, status: int | None) -> None:
    verdicts = [verdict(outcome, status, None, tries, 0.0) for tries in range(10)]
    hours = [timedelta(hours=number) for number in (2, 5, 10, 14, 20, 24)]
    waits = [timedelta(seconds=5), timedelta(minutes=5), timedelta(minutes=30), *hours]
    assert verdicts == [*(Verdict("pending", wait) for wait in waits), Verdict("failed")]


def test_jitter_makes_waits_longer_by_a_fifth_at_most() -> None:
    for tries, wait in enumerate(RETRY_DELAYS):
        late = verdict("timeout", None, None, tries, 0.999).delay
        assert late is not None
        assert wait < late < wait * 1.2


def test_no_wait_is_longer_than_the_store_believes() -> None:
    for tries in range(len(RETRY_DELAYS)):
        wait = verdict("rejected", 503, timedelta(days=365), tries, 0.999).delay
        assert wait is not None
        assert wait < MAX_WAIT


def test_success_and_410_end_a_delivery() -> None:
    assert verdict("delivered", 200, None, 0, 0.0) == Verdict("delivered")
    assert verdict("rejected", 410, timedelta(1), 0, 0.0) == Verdict("failed")


def test_retry_after_makes_a_wait_longer_and_never_shorter() -> None:
    assert verdict("rejected", 429, timedelta(hours=1), 0, 0.0).delay == timedelta(hours=1)
    assert verdict("rejected", 503, timedelta(seconds=1), 1, 0.0).delay == timedelta(minutes=5)
    assert verdict("rejected", 503, timedelta(days=30), 0, 0.0).delay == timedelta(hours=24)


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("120", timedelta(seconds=120)),
        (" 0 ", timedelta(0)),
        ("9" * 400, timedelta(hours=24)),
        ("Sun, 09 Aug 2026 04:01:00 GMT", timedelta(minutes=1)),
        ("Sun, 09 Aug 2026 04:01:00 -0000", timedelta(minutes=1)),
        ("Sun, 09 Aug 2026 03:00:00 GMT", timedelta(0)),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_read_in_both_notations(value: str | None, wait: timedelta | None) -> None:
    assert parse_retry_after(value, NOW) == wait


def test_2xx_alone_is_success() -> None:
    good = [status for status in range(100, 600) if outcome_of(status) == "delivered"]
    assert good == list(range(200, 300))
