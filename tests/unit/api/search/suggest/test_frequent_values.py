"""Frequent values: what they suggest is what a count of all values suggests, however few of them are known."""

import asyncio
from collections import Counter
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from api.background import BackgroundTasks
from api.engine.responses import EngineResponse
from api.errors import ApiError
from api.search.parsing.prefix import PrefixQuery
from api.search.suggest.counting import FRESH_SECONDS, FRESH_TIMES, FrequentValueCounts
from api.search.suggest.frequent_values import FrequentValues
from api.search.suggest.requests import PLACES, Suggestion
from api.search.suggest.suggest import suggest
from mappings.fields import SUGGESTED
from tests.support.platforms import shared_platforms
from tests.support.search.engines import ScriptedEngine

PLATFORMS = list(shared_platforms())
WORDS = ("Ak", "Awp", "Fade", "Foil", "Fa")
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
kinds = st.sampled_from([row.kind for row in SUGGESTED])


def ordered(counts: Counter[tuple[str, str]]) -> list[tuple[str, str, int]]:
    listed = [(text, kind, count) for (text, kind), count in counts.items()]
    return sorted(listed, key=lambda each: (-each[2], each[0], PLACES[each[1]]))


def known(counts: Counter[tuple[str, str]], limit: int) -> FrequentValues:
    """The first values of each kind."""
    of_kinds = {
        row.kind: [(text, count) for text, kind, count in ordered(counts) if kind == row.kind][:limit]
        for row in SUGGESTED
    }
    return FrequentValues(of_kinds, limit)


def shown(values: list[Suggestion]) -> list[tuple[str, str, int]]:
    return [(value.text, value.kind, value.count) for value in values]


@given(counts=st.dictionaries(st.tuples(texts, kinds), st.integers(1, 20)), typed=texts, limit=st.integers(1, 5))
def test_as_many_as_are_known_are_the_first_of_all(counts: dict[tuple[str, str], int], typed: str, limit: int) -> None:
    every, text = ordered(Counter(counts)), PrefixQuery(typed)
    beginning = [value for value in every if text.begins(value[0])]
    for max_values in (1, 3, 1000):
        values = known(Counter(counts), max_values)
        first = shown(values.beginning(text, limit))
        assert first == beginning[: len(first)]
    assert shown(known(Counter(counts), 1000).beginning(text, limit)) == beginning[:limit]


def counted(body: Any, counts: dict[str, int]) -> EngineResponse:
    """An index whose items have these names and nothing else."""
    (kind, asked), *_ = body["aggs"]["texts"].items()
    if kind == "filters":
        return {
            "aggregations": {"texts": {"buckets": {text: {"doc_count": counts[text]} for text in asked["filters"]}}}
        }
    values = counts if asked["field"] == "name" else {}
    buckets = [{"key": text, "doc_count": count} for text, count in values.items() if count]
    return {"aggregations": {"texts": {"buckets": buckets, "sum_other_doc_count": 0, "doc_count_error_upper_bound": 0}}}


async def suggested(engine: ScriptedEngine, values: FrequentValues, text: str, limit: int) -> dict[str, int]:
    response = orjson.loads(await suggest(engine, PLATFORMS, text, limit, frequent=values))
    return {each["text"]: each["count"] for each in response["suggestions"]}


BEFORE = FrequentValues({"item": [("Ak A", 9), ("Ak B", 5), ("Ak C", 4), ("Awp Fade", 3), ("Ak Fade", 2)]}, 10)


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


async def test_values_are_counted_once_and_again_in_time() -> None:
    clock, tasks = Clock(), BackgroundTasks()

    def response(body: Any) -> EngineResponse:
        clock.now += 1.0  # five kinds: a count takes five seconds
        return counted(body, {"Ak A": len(engine.round_trips)})

    engine = ScriptedEngine(response)
    counts = FrequentValueCounts(engine, tasks, clock)

    async def first() -> int:
        values = counts.of(PLATFORMS)
        for _ in range(3):
            counts.of(PLATFORMS)  # joins the count that is under way
        await tasks.close(seconds=60)
        return shown(values.beginning(PrefixQuery("ak"), 1))[0][2] if values else 0

    assert [await first(), await first()] == [0, 1]
    fresh = FRESH_TIMES * len(SUGGESTED)
    assert fresh > FRESH_SECONDS
    clock.now += fresh
    assert [await first(), await first()] == [1, len(SUGGESTED) + 1]
    clock.now += 2 * fresh  # nobody has asked for long: they are too old
    assert await first() == 0


async def test_an_engine_that_fails_is_asked_again_later() -> None:
    clock, tasks, fails = Clock(), BackgroundTasks(), True

    def response(body: Any) -> EngineResponse:
        if fails:
            raise ApiError("search_unavailable")
        return counted(body, {"Ak A": 1})

    engine = ScriptedEngine(response)
    counts = FrequentValueCounts(engine, tasks, clock)
    for _ in range(3):
        assert counts.of(PLATFORMS) is None
        await tasks.close(seconds=60)
    assert len(engine.round_trips) == 1
    fails = False
    clock.now += FRESH_SECONDS
    assert counts.of(PLATFORMS) is None
    await tasks.close(seconds=60)
    assert counts.of(PLATFORMS) is not None
    await asyncio.sleep(0)
