"""The cost by matches: sizes in, the numbers of matches out; times in, what is told of them out."""

import pytest

from bench.runs.matches import Cost, classes


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        (1_000_000, [100, 1000, 10_000, 100_000, 1_000_000]),
        (10_000_000, [100, 1000, 10_000, 100_000, 1_000_000, 10_000_000]),
        (200_000, [100, 1000, 10_000, 100_000, 200_000]),
    ],
)
def test_matches_are_by_decade_to_all_items(items: int, expected: list[int]) -> None:
    assert classes(items) == expected


def test_a_cost_is_told_by_its_medians() -> None:
    cost = Cost(100, "gear-api", found=[90, 110, 100], rounds=[[1.0, 2.0, 9.0], [2.0, 3.0, 4.0]])
    assert cost.as_json() == {
        "matches": 100,
        "peer": "gear-api",
        "found": 100,
        "ms": 2.5,
        "p90": 9.0,
        "medians": [2.0, 3.0],
        "searches": 6,
    }
