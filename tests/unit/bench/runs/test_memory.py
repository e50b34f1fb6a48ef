"""A worker's memory: samples in, whether it stays the same out; it is asked a mixture that goes on being new."""

from itertools import islice

import pytest

from bench.runs.memory import MIXED, Sample, mixed, verdict

MIB = 2**20


def held(*mib: float) -> list[Sample]:
    return [Sample(number * 1000, round(one * MIB), 300.0) for number, one in enumerate(mib, 1)]


def test_what_a_worker_holds_after_its_warm_up_is_flat() -> None:
    told = verdict(held(90, *[120.0] * 30))
    assert (told["first"], told["last"], told["most"]) == (120 * MIB, 120 * MIB, 120 * MIB)
    assert told["flat"]
    assert told["within"]
    assert [one["requests"] for one in told["tenths"]][-1] == 31_000


def test_what_grows_is_told() -> None:
    told = verdict(held(*range(100, 160)))
    assert not told["flat"]
    assert not told["within"]
    assert len(told["tenths"]) == 10


def test_too_few_samples_are_no_verdict() -> None:
    with pytest.raises(ValueError, match="10 samples have no ten tenths"):
        verdict(held(*[100.0] * 10))


def test_runs_repeat_what_is_hot_and_never_what_is_cold() -> None:
    first, second = list(mixed(0)), list(mixed(1))
    parts = len(MIXED)
    hot, cold = MIXED.index("hot"), MIXED.index("cold")
    assert first[hot::parts] == second[hot::parts]
    assert not any(body in second[cold::parts] for body in islice(first[cold::parts], 20))
    assert {"facets" in body for body in first[MIXED.index("facets") :: parts]} == {True}
    assert {"groupBy" in body for body in first[MIXED.index("groups") :: parts]} == {True}
