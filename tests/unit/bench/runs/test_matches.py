"""The numbers of matches that are measured, and what is reported of their times."""

import pytest

from bench.runs.matches import SearchTimes, decades


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        (1_000_000, [100, 1000, 10_000, 100_000, 1_000_000]),
        (10_000_000, [100, 1000, 10_000, 100_000, 1_000_000, 10_000_000]),
        (200_000, [100, 1000, 10_000, 100_000, 200_000]),
    ],
)
def test_matches_are_by_decade_to_all_items(items: int, expected: list[int]) -> None:
    assert decades(items) == expected


def test_times_are_reported_by_their_medians() -> None:
    times = SearchTimes(100, "gear-api", totals=[90, 110, 100], rounds=[[1.0, 2.0, 9.0], [2.0, 3.0, 4.0]])
    assert times.as_json() == {
        "matches": 100,
        "peer": "gear-api",
        "found": 100,
        "ms": 2.5,
        "p90": 9.0,
        "medians": [2.0, 3.0],
        "searches": 6,
    }
