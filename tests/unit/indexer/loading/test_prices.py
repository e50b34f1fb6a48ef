"""The sample of prices is the same for the same ids, and what counts as changed is more than a factor of two."""

from typing import Any

import orjson
import pytest
from opensearchpy import OpenSearch

from indexer.engine.retry import RetryPolicy
from indexer.loading.prices import PriceSample, compare_prices, is_changed
from indexer.loading.rules import PriceChanges
from tests.support.indexer.wire import Fault, Wire


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


def test_prices_that_cannot_be_read_for_a_moment_are_compared_all_the_same(scripted: tuple[Wire, OpenSearch]) -> None:
    """Else a catalogue in another unit would pass while a shard of the serving index is not started."""
    wire, client = scripted
    error = {"type": "no_shard_available_action_exception", "reason": "none"}
    unread: list[dict[str, Any]] = [{"_id": str(number), "error": error} for number in range(20)]
    read = [{"_id": str(number), "found": True, "_source": {"price": 1}} for number in range(20)]
    responses = iter([[*read[:5], *unread[5:]], read])
    wire.rule = lambda method, path, body: Fault("response", 200, orjson.dumps({"docs": next(responses)}))
    assert compare_prices(client, "listings", dict.fromkeys(range(20), 100), RetryPolicy(30)) == PriceChanges(20, 20)
