"""The memory of a worker: the verdict of its samples, and a mixture of bodies that goes on being new."""

from itertools import islice

import pytest

from bench.runs.memory import MIXED, Sample, mixed_bodies, verdict

MIB = 2**20


def samples(*mib: float) -> list[Sample]:
    return [Sample(number * 1000, round(size * MIB), 300.0) for number, size in enumerate(mib, 1)]


def test_memory_that_stays_after_the_warm_up_is_flat() -> None:
    judged = verdict(samples(90, *[120.0] * 30))
    assert (judged["first"], judged["last"], judged["max"]) == (120 * MIB, 120 * MIB, 120 * MIB)
    assert judged["flat"]
    assert judged["within"]
    assert [tenth["requests"] for tenth in judged["tenths"]][-1] == 31_000


def test_memory_that_grows_is_not_flat() -> None:
    judged = verdict(samples(*range(100, 160)))
    assert not judged["flat"]
    assert not judged["within"]
    assert len(judged["tenths"]) == 10


def test_too_few_samples_are_no_verdict() -> None:
    with pytest.raises(ValueError, match="10 samples have no ten tenths"):
        verdict(samples(*[100.0] * 10))


def test_runs_repeat_hot_bodies_and_never_cold_ones() -> None:
    first, second = list(mixed_bodies(0, 100)), list(mixed_bodies(1, 100))
    parts = len(MIXED)
    hot, cold = MIXED.index("hot"), MIXED.index("cold")
    assert first[hot::parts] == second[hot::parts]
    assert not any(body in second[cold::parts] for body in islice(first[cold::parts], 20))
    assert {"facets" in body for body in first[MIXED.index("facets") :: parts]} == {True}
    assert {"groupBy" in body for body in first[MIXED.index("groups") :: parts]} == {True}
