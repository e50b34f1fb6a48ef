"""The sample of prices is the same for the same ids, and what counts as changed is more than a factor of two."""

import pytest

from indexer.loading.prices import PriceSample, is_changed


@pytest.mark.parametrize(
    ("before", "now", "changed"),
    [
        (100, 200, False),
        (100, 201, True),
        (200, 100, False),
        (201, 100, True),
        (0, 0, False),
        (0, 1, True),
        (None, None, False),
        (None, 5, True),
        (5, None, True),
    ],
)
def test_a_price_is_changed_by_more_than_a_factor_of_two(before: int | None, now: int | None, changed: bool) -> None:
    assert is_changed(before, now) is changed


def test_a_small_catalogue_is_in_the_sample_as_a_whole() -> None:
    sample = PriceSample(100)
    for number in range(100):
        sample.add(number, number)
    assert sample.prices == {number: number for number in range(100)}


@pytest.mark.parametrize("step", [1, 2, 1 << 20, 1 << 40])
def test_a_large_catalogue_gives_a_fair_sample_whatever_its_order(step: int) -> None:
    ids = [-7 + number * step for number in range(20_000)]
    forward, backward = PriceSample(1000), PriceSample(1000)
    for number in ids:
        forward.add(number, number)
    for number in reversed(ids):
        backward.add(number, number)
    assert forward.prices == backward.prices
    assert 500 <= len(forward.prices) <= 1000
    upper_half = sum(number > ids[10_000] for number in forward.prices) / len(forward.prices)
    assert 0.4 < upper_half < 0.6
