"""What a search costs beyond its page."""

import pytest

from api.search.costs import (
    FACETS_COST,
    GROUPS_COST,
    RELAXED_WORD_COST,
    SORTED_GROUPS_COST,
    extra_cost,
    relaxation_cost,
)
from tests.support.search.query_cases import query_of


@pytest.mark.parametrize(
    ("body", "cost"),
    [
        ("{}", 0),
        ('{"facets": ["type", "price"]}', FACETS_COST),
        ('{"groupBy": "name", "sort": "price_asc"}', GROUPS_COST),
        ('{"groupBy": "name", "sort": "newest"}', SORTED_GROUPS_COST),
        ('{"groupBy": "name", "sort": "price_asc", "cursor": "*"}', SORTED_GROUPS_COST),
        ('{"groupBy": "name", "sort": "newest", "facets": ["type"]}', FACETS_COST + SORTED_GROUPS_COST),
    ],
)
def test_facets_and_groups_come_on_top_of_a_page(body: str, cost: int) -> None:
    assert extra_cost(query_of(body)) == cost


def test_each_word_that_is_relaxed_costs_the_same() -> None:
    assert relaxation_cost(query_of("{}")) == 0
    assert relaxation_cost(query_of('{"query": "ak redline ft"}')) == 3 * RELAXED_WORD_COST
