"""Frequent values: what they suggest is what a count of all values suggests, however few of them are known."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from api.background.tasks import BackgroundTasks, StopDeadline
from api.engine.responses import EngineResponse
from api.errors import ApiError
from api.search.parsing.prefix import PrefixQuery
from api.search.response_cache import IndexRevision
from api.search.suggest.counting import FRESH_SECONDS, FRESH_TIMES, FrequentValueCounts
from api.search.suggest.requests import FrequentValues, Suggestion, uncounted_of
from api.search.suggest.suggest import suggest
from mappings.fields import SUGGESTED
from mappings.platforms import Platform
from tests.support.platforms import shared_platforms
from tests.support.search.engines import ScriptedEngine

PLATFORMS = list(shared_platforms())
WORDS = ("Ak", "Awp", "Fade", "Foil", "Fa")
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
KINDS = [row.kind for row in SUGGESTED]
kinds = st.sampled_from(KINDS)


def ordered(counts: Counter[tuple[str, str]]) -> list[tuple[str, str, int]]:
    listed = [(text, kind, count) for (text, kind), count in counts.items()]
    return sorted(listed, key=lambda each: (-each[2], each[0], KINDS.index(each[1])))


def frequent_values(counts: Counter[tuple[str, str]], limit: int) -> FrequentValues:
    """The first values of each kind."""
    of_kinds = {
        row.kind: [(text, count) for text, kind, count in ordered(counts) if kind == row.kind] for row in SUGGESTED
    }
    uncounted = max(values[limit - 1][1] if len(values) > limit else 0 for values in of_kinds.values())
    return FrequentValues({kind: values[:limit] for kind, values in of_kinds.items()}, uncounted)


def shown(values: list[Suggestion]) -> list[tuple[str, str, int]]:
    return [(value.text, value.kind, value.count) for value in values]


@given(counts=st.dictionaries(st.tuples(texts, kinds), st.integers(1, 20)), typed=texts, limit=st.integers(1, 5))
def test_as_many_as_are_known_are_the_first_of_all(counts: dict[tuple[str, str], int], typed: str, limit: int) -> None:
    every, text = ordered(Counter(counts)), PrefixQuery(typed)
    beginning = [value for value in every if text.begins(value[0])]
    for max_values in (1, 3, 1000):
        values = frequent_values(Counter(counts), max_values)
        first = shown(values.beginning(text, limit))
        assert first == beginning[: len(first)]
    assert shown(frequent_values(Counter(counts), 1000).beginning(text, limit)) == beginning[:limit]


def counted(body: Any, counts: dict[str, int]) -> EngineResponse:
    """An index whose items have these names and nothing else."""
    (kind, aggregation), *_ = body["aggs"]["texts"].items()
    if kind == "filters":
        return {
            "aggregations": {
                "texts": {"buckets": {text: {"doc_count": counts[text]} for text in aggregation["filters"]}}
            }
        }
    values = counts if aggregation["field"] == "name" else {}
    buckets = [{"key": text, "doc_count": count} for text, count in values.items() if count]
    return {"aggregations": {"texts": {"buckets": buckets, "sum_other_doc_count": 0, "doc_count_error_upper_bound": 0}}}


async def suggested(engine: ScriptedEngine, values: FrequentValues, text: str, limit: int) -> dict[str, int]:
    response = orjson.loads(await suggest(engine, PLATFORMS, text, limit, frequent=values))
    return {each["text"]: each["count"] for each in response["suggestions"]}


BEFORE = FrequentValues({"item": [("Ak A", 9), ("Ak B", 5), ("Ak C", 4), ("Awp Fade", 3), ("Ak Fade", 2)]}, 0)


async def test_only_frequent_values_are_counted_and_by_the_index() -> None:
    now = {"Ak A": 1, "Ak B": 6, "Ak C": 4, "Awp Fade": 3, "Ak Fade": 2}
    engine = ScriptedEngine(lambda body: counted(body, now))
    assert await suggested(engine, BEFORE, "ak", 1) == {"Ak B": 6}
    assert engine.sizes == [1]
    (request,) = engine.round_trips[0]
    assert list(request["aggs"]["texts"]["filters"]["filters"]) == ["Ak A", "Ak B"]


async def test_where_frequent_values_have_gone_all_are_counted() -> None:
    now = {"Ak A": 0, "Ak B": 0, "Ak D": 1}
    engine = ScriptedEngine(lambda body: counted(body, now))
    assert await suggested(engine, BEFORE, "ak", 1) == {"Ak D": 1}
    assert engine.sizes == [1, len(SUGGESTED)]


async def test_where_others_may_have_more_by_now_all_are_counted() -> None:
    now = {"Ak A": 3, "Ak B": 2, "Ak C": 4}  # B had five: more than C has now, but C may come first
    engine = ScriptedEngine(lambda body: counted(body, now))
    assert await suggested(engine, BEFORE, "ak", 1) == {"Ak C": 4}
    assert engine.sizes == [1, len(SUGGESTED)]
    some = FrequentValues({"item": [("Ak A", 9)]}, 8)
    engine = ScriptedEngine(lambda body: counted(body, {"Ak A": 7, "Ak Z": 8}))
    assert await suggested(engine, some, "ak", 1) == {"Ak Z": 8}, "one that was not counted"


def test_values_that_were_not_counted_have_no_more_items_than_the_last_and_the_error() -> None:
    terms = {"buckets": [{"key": "a", "doc_count": 9}, {"key": "b", "doc_count": 5}], "doc_count_error_upper_bound": 2}
    assert uncounted_of({"aggregations": {"texts": {**terms, "sum_other_doc_count": 1}}}) == 7
    assert uncounted_of({"aggregations": {"texts": {**terms, "sum_other_doc_count": 0}}}) == 0


async def test_what_too_few_frequent_values_have_is_counted_among_all() -> None:
    engine = ScriptedEngine(lambda body: counted(body, {"Awp Fade": 3}))
    assert await suggested(engine, BEFORE, "awp", 2) == {"Awp Fade": 3}
    assert engine.sizes == [len(SUGGESTED), len(SUGGESTED)]


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Counting:
    """Counts over an index whose revision, time and faults a test changes."""

    revision: bytes | None = b"1"
    fails: bool = False
    seconds: float = 1.0
    """Of each of the five counts."""

    def __post_init__(self) -> None:
        self.clock, self.tasks = Clock(), BackgroundTasks()
        self.engine = ScriptedEngine(self._response)
        self.counts = FrequentValueCounts(self.engine, IndexRevision(self._ask, self.tasks, 60), self.tasks, self.clock)

    async def _ask(self, platforms: Sequence[Platform]) -> bytes | None:
        return self.revision

    def _response(self, body: Any) -> EngineResponse:
        if self.fails:
            raise ApiError("search_unavailable")
        self.clock.now += self.seconds
        return counted(body, {"Ak A": len(self.engine.round_trips)})

    async def first(self) -> tuple[int, int]:
        """How many items the first value has, and the number of the count; 0 and 0 where none is known."""
        values, number = self.counts.of(PLATFORMS)
        for _ in range(3):
            self.counts.of(PLATFORMS)  # joins the count that is under way
        await self.tasks.close(StopDeadline(60))
        return (shown(values.beginning(PrefixQuery("ak"), 1))[0][2] if values else 0, number)


FRESH = float(FRESH_TIMES * len(SUGGESTED))


async def test_values_are_counted_once_and_again_in_time() -> None:
    counting = Counting()
    assert [await counting.first(), await counting.first()] == [(0, 0), (1, 1)]
    assert FRESH > FRESH_SECONDS
    counting.clock.now += FRESH
    counting.revision = b"2"
    assert [await counting.first(), await counting.first()] == [(1, 1), (len(SUGGESTED) + 1, 2)]
    counting.clock.now += 2 * FRESH  # nobody has asked for long: they are too old
    assert await counting.first() == (0, 0)


async def test_an_index_that_has_not_changed_is_not_counted_again() -> None:
    counting = Counting()
    await counting.first()
    counting.clock.now += FRESH
    assert [await counting.first(), await counting.first()] == [(1, 1), (1, 1)]
    assert len(counting.engine.round_trips) == len(SUGGESTED)
    counting.clock.now += FRESH
    counting.revision = None  # which nobody may ask for
    await counting.first()
    assert await counting.first() == (len(SUGGESTED) + 1, 2)


async def test_an_engine_that_fails_is_asked_again_later_and_what_is_known_is_used() -> None:
    counting = Counting(fails=True)
    assert [await counting.first() for _ in range(3)] == [(0, 0)] * 3
    assert len(counting.engine.round_trips) == 1
    counting.fails = False
    counting.clock.now += FRESH_SECONDS
    assert [await counting.first(), await counting.first()] == [(0, 0), (2, 1)]
    counting.fails, counting.revision = True, b"2"
    counting.clock.now += FRESH
    assert [await counting.first(), await counting.first()] == [(2, 1), (2, 1)]
