"""Admission: budgets apart, the newest first, refusals in time, and an adaptive limit."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field

import pytest
from structlog.testing import capture_logs

from api.errors import ApiError
from api.http.admission import (
    HOLD_SECONDS,
    MAX_REFUSAL_CREDIT,
    REFUSALS_PER_REQUEST,
    WAIT_SECONDS,
    Admission,
    Budget,
    RefusalCredit,
    budget_of,
)
from api.http.concurrency_limit import ConcurrencyLimit


@dataclass
class Reported:
    """What the budgets reported last, and how often."""

    limits: dict[str, int] = field(default_factory=dict)
    in_flight: dict[str, int] = field(default_factory=dict)
    waits: list[float] = field(default_factory=list)
    shed: Counter[str] = field(default_factory=Counter)

    def set_limit(self, budget: str, limit: int) -> None:
        self.limits[budget] = limit

    def set_in_flight(self, budget: str, requests: int) -> None:
        self.in_flight[budget] = requests

    def count_wait(self, budget: str, seconds: float) -> None:
        self.waits.append(seconds)

    def count_shed(self, budget: str) -> None:
        self.shed[budget] += 1


@dataclass
class Request:
    """Work that notes what becomes of it."""

    name: str
    log: list[str]
    is_abandoned: bool = False

    def start(self) -> None:
        self.log.append(f"start {self.name}")

    def refuse(self) -> None:
        self.log.append(f"refuse {self.name}")


async def test_what_finds_its_budget_full_waits_and_the_newest_is_served_first() -> None:
    log: list[str] = []
    budget = Budget("search", ConcurrencyLimit(3, 3), Reported())
    for name in "abcdef":
        budget.submit(Request(name, log))
    assert log == ["start a", "start b", "start c"]
    budget.release()
    budget.release()
    assert log[3:] == ["start f", "start e"]
    budget.release()
    budget.release()
    assert log[5:] == ["start d"]
    assert budget.in_flight == 2


async def test_what_does_not_fit_into_the_queue_is_refused_at_once() -> None:
    log: list[str] = []
    reported = Reported()
    budget = Budget("order", ConcurrencyLimit(1, 1), reported)
    with capture_logs() as lines:
        for name in "abcd":
            budget.submit(Request(name, log))
    assert log == ["start a", "refuse c", "refuse d"]
    assert reported.shed == {"order": 2}
    assert [(line["budget"], line["limit"]) for line in lines] == [("order", 1)]  # one line a second


async def test_what_has_waited_is_refused_in_time() -> None:
    log: list[str] = []
    budget = Budget("search", ConcurrencyLimit(2, 2), Reported())
    for name in "abcd":
        budget.submit(Request(name, log))
    assert log == ["start a", "start b"]
    for _ in range(500):
        if len(log) == 4:
            break
        await asyncio.sleep(WAIT_SECONDS)
    assert log[2:] == ["refuse c", "refuse d"]
    budget.submit(Request("e", log))
    budget.release()
    assert log[4:] == ["start e"]


async def test_what_its_client_has_left_is_dropped() -> None:
    log: list[str] = []
    reported = Reported()
    budget = Budget("search", ConcurrencyLimit(1, 1), reported)
    budget.submit(Request("a", log))
    budget.submit(Request("b", log, is_abandoned=True))
    budget.release()
    assert log == ["start a"]
    assert (budget.in_flight, reported.shed) == (0, {})


def test_connections_that_are_refused_too_often_are_held() -> None:
    credit = RefusalCredit()
    assert {credit.hold_seconds() for _ in range(MAX_REFUSAL_CREDIT)} == {0.0}
    assert credit.hold_seconds() == HOLD_SECONDS
    credit.add_work()
    holds = [credit.hold_seconds() for _ in range(REFUSALS_PER_REQUEST + 1)]
    assert holds == [0.0] * REFUSALS_PER_REQUEST + [HOLD_SECONDS]


async def test_a_slot_is_given_back_however_it_ends() -> None:
    budget = Budget("export", ConcurrencyLimit(1, 1), Reported())
    async with budget.slot():
        waiting = asyncio.create_task(budget.slot().__aenter__())
        await asyncio.sleep(0)
        with pytest.raises(ApiError, match="overloaded"):
            await budget.slot().__aenter__()
        waiting.cancel()
        await asyncio.sleep(0)
    with pytest.raises(LookupError):
        async with budget.slot():
            raise LookupError
    assert budget.in_flight == 0


async def test_a_slot_whose_task_is_cancelled_as_it_is_decided_gives_back_what_it_got() -> None:
    budget = Budget("export", ConcurrencyLimit(1, 1), Reported())

    async def work() -> None:
        async with budget.slot():
            await asyncio.Event().wait()

    at_work, refused = asyncio.create_task(work()), asyncio.create_task(work())
    await asyncio.sleep(0)
    time.sleep(2 * WAIT_SECONDS)  # noqa: ASYNC251  # the loop is busy: it refuses and cancels in one turn
    loop = asyncio.get_running_loop()
    loop.call_at(loop.time(), refused.cancel)
    await asyncio.wait([refused])
    assert refused.cancelled()
    assert budget.in_flight == 1
    started = asyncio.create_task(work())
    await asyncio.sleep(0)
    at_work.cancel()
    await asyncio.sleep(0)  # it has left, and `started` does not know yet that it may begin
    assert budget.in_flight == 1
    started.cancel()
    await asyncio.wait([at_work, started])
    assert budget.in_flight == 0


async def test_budgets_are_apart() -> None:
    reported = Reported()
    admission = Admission(2, reported)
    log: list[str] = []
    for _ in range(10):
        admission.budgets["search"].submit(Request("search", log))
    for budget in ("order", "health", "export", "catalogue", "feed", "body"):
        admission.budgets[budget].submit(Request(budget, log))
    assert [line for line in log if line.startswith("start")][2:] == [
        "start order",
        "start health",
        "start export",
        "start catalogue",
        "start feed",
        "start body",
    ]
    fixed = {"health": 32, "catalogue": 4, "feed": 20_000, "body": 512}
    assert reported.limits == {"search": 2, "order": 2, "export": 1, **fixed}
    others = dict.fromkeys(("order", "health", "export", "catalogue", "feed", "body"), 1)
    assert reported.in_flight == {"search": 2, **others}


@pytest.mark.parametrize(
    ("path", "budget"),
    [
        ("/v1/gear/search", "search"),
        ("/v1/gear/17", "search"),
        ("/v1/gear/suggest", "search"),
        ("/v1/platforms", "search"),
        ("/docs", "search"),
        ("/nowhere", "search"),
        ("/v1/gear", "order"),
        ("/v1/gear/cheapest", "order"),
        ("/v1/gear/prices", "export"),
        ("/v1/gear/changes", "feed"),
        ("/v1/searches", "feed"),
        ("/v1/searches/sch_1", "search"),
        ("/v1/orders", "order"),
        ("/v1/orders/x/transitions", "order"),
        ("/orders/secret", "order"),
        ("/health/live", "health"),
        ("/health/ready", "health"),
        ("/metrics", "health"),
    ],
)
def test_every_path_has_a_budget(path: str, budget: str) -> None:
    assert budget_of("POST", path) == budget


def test_a_list_of_saved_searches_does_not_wait_for_the_feed() -> None:
    assert budget_of("GET", "/v1/searches") == "search"


def limit_under(seconds: float, samples: int, limit: ConcurrencyLimit, start: float = 0.0) -> int:
    """The limit after so many samples of a server that is used to its limit."""
    for number in range(samples):
        for _ in range(10):
            limit.add(start + number, seconds, limit.value)
    return limit.value


def test_the_limit_grows_while_requests_take_as_long_as_ever() -> None:
    limit = ConcurrencyLimit(4, 64)
    first = limit.value
    assert limit_under(0.01, 30, limit) > 2 * first
    assert limit_under(0.01, 300, limit, 30.0) == 64


def test_the_limit_shrinks_when_requests_take_longer_and_grows_again() -> None:
    limit = ConcurrencyLimit(4, 64)
    limit_under(0.01, 300, limit)
    assert limit_under(0.1, 20, limit, 300.0) < 20
    assert limit_under(0.01, 100, limit, 320.0) > 40


def test_after_a_long_overload_the_limit_is_as_before_soon() -> None:
    limit = ConcurrencyLimit(4, 64)
    limit_under(1.0, 100, limit)
    assert limit.value < 16
    limit_under(0.01, 100, limit, 100.0)
    assert (
        limit_under(0.05, 40, limit, 200.0) < 32
    )  # five times as long as lately, though not as long as in the overload


def test_an_overload_that_lasts_does_not_become_the_long_run() -> None:
    limit = ConcurrencyLimit(4, 64)
    for number in range(5_000):  # each request at work adds 20 ms
        for _ in range(10):
            limit.add(float(number), 0.02 * limit.value, limit.value)
    assert 0.02 * limit.value < 0.5


def test_the_limit_stays_where_it_is_not_used() -> None:
    limit = ConcurrencyLimit(4, 64)
    for number in range(1_000):
        limit.add(number / 10, 0.01, 1)
    assert limit.value == ConcurrencyLimit(4, 64).value


def test_a_fixed_limit_is_fixed() -> None:
    limit = ConcurrencyLimit(7, 7)
    assert {limit_under(seconds, 20, limit) for seconds in (0.01, 1.0)} == {7}
