"""The rule for pruning, and what counts as unfinished."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from indexer.engine.states import IndexState, ProductsState, expired, loading_alias, swap_actions
from mappings.names import Generation


def state(day: int, *, serving: bool = False, loading: bool = False, refresh: str = "1s") -> IndexState:
    name = f"gear-730-202601{day:02d}000000000-00000000"
    generation = Generation(datetime(2026, 1, day, tzinfo=UTC), "00000000", name)
    return IndexState(generation, serving, loading, None, None, "", {"refresh_interval": refresh})


STATES = [state(1, serving=True), state(2), state(3), state(4, loading=True), state(5)]


def day_of(index: str) -> int:
    return int(index.split("-")[2][6:8])


@pytest.mark.parametrize(
    ("keep", "always", "days"),
    [(1, [], [2, 3, 5]), (2, [], [2, 3]), (3, [], [2]), (9, [], []), (2, [2], [3, 5]), (1, [3], [2, 5])],
)
def test_the_serving_the_named_and_then_the_newest_stay(keep: int, always: list[int], days: list[int]) -> None:
    names = {generation.index for generation in STATES if day_of(generation.index) in always}
    assert [day_of(index) for index in expired(STATES, keep, names)] == days


@pytest.mark.parametrize(
    ("unfinished", "index"),
    [
        (True, state(1, loading=True)),
        (True, state(1, refresh="-1")),
        (False, state(1)),
        (False, state(1, serving=True, loading=True)),
    ],
)
def test_a_generation_is_unfinished_by_its_alias_or_its_settings(unfinished: bool, index: IndexState) -> None:
    assert index.unfinished is unfinished


def test_a_generation_is_closed_where_one_of_its_indices_is() -> None:
    closed = {"verified_before_close": "true"}
    products = ProductsState(frozenset(), None, closed)
    assert replace(state(1), settings=closed).closed
    assert replace(state(1), products=products).closed
    assert not replace(state(1), products=replace(products, settings={})).closed
    assert not state(1).closed


def test_what_belongs_to_a_generation_is_named_after_it() -> None:
    assert loading_alias("gear-1-x") == "gear-1-x-loading"


def added(index: str, alias: str) -> dict[str, object]:
    return {"add": {"index": index, "alias": alias}}


def removed(index: str, alias: str) -> dict[str, object]:
    return {"remove": {"index": index, "alias": alias, "must_exist": True}}


@pytest.mark.parametrize(
    ("aliases", "actions"),
    [
        ({"new-products": ["gear-products", "of-somebody"]}, []),
        ({"new-products": ["new-loading-products"]}, ["new-products-", "new-products+"]),
        ({"old-products": ["gear-products"], "new-products": []}, ["old-products", "new-products+"]),
        ({"old-products": ["gear-products"], "new-products": ["gear-products"]}, ["old-products"]),
        ({"old-products": ["gear-products"], "new": ["gear"]}, ["old-products"]),
        ({"new": ["gear"]}, []),
    ],
    ids=["right", "first-load", "later-load", "several", "without-products", "without-products-alone"],
)
def test_the_alias_of_products_is_pointed_to_those_of_one_generation(
    aliases: dict[str, list[str]], actions: list[str]
) -> None:
    named = {
        "new-products-": removed("new-products", "new-loading-products"),
        "new-products+": added("new-products", "gear-products"),
        "old-products": removed("old-products", "gear-products"),
    }
    assert swap_actions("gear", "new", aliases) == [named[action] for action in actions]


def test_a_swap_moves_both_aliases_and_finishes_the_generation() -> None:
    aliases = {
        "old": ["gear"],
        "old-products": ["gear-products"],
        "new": ["new-loading"],
        "new-products": ["new-loading-products"],
    }
    assert swap_actions("gear", "new", aliases) == [
        removed("old", "gear"),
        removed("new", "new-loading"),
        added("new", "gear"),
        removed("old-products", "gear-products"),
        removed("new-products", "new-loading-products"),
        added("new-products", "gear-products"),
    ]
