"""The parts of a search are the search: each condition of the query once, under the body's own name for it."""

from typing import Any

import pytest

from api.search.explain.conditions import conditions, value_of
from mappings.fields import DETAILS, FILTERS
from tests.support.search.query_cases import CASES, query_of


def leaves(clause: Any) -> list[Any]:
    """The clauses that all must hold, out of the nests of a query that only gather them; not what only scores."""
    if set(clause) == {"bool"} and set(clause["bool"]) <= {"must", "filter", "should"}:
        gathered = [inner for name in ("must", "filter") for inner in clause["bool"].get(name, ())]
        return [leaf for inner in gathered for leaf in leaves(inner)]
    return [clause]


@pytest.mark.parametrize("name", CASES)
def test_all_parts_together_are_the_query(name: str) -> None:
    query = query_of(CASES[name])
    explained = [clause for condition in conditions(query) for clause in leaves(condition.clause)]
    searched = leaves(query.offered)
    assert len(explained) == len(searched)
    assert all(clause in explained for clause in searched)


def test_every_filter_has_its_name_what_is_asked_and_what_an_item_has() -> None:
    (offer, weapon, price) = conditions(query_of('{"filters": {"price": {"min": 5, "max": 9.5}, "weapon": ["AWP"]}}'))
    assert (offer.field, offer.requested) == ("offer", None)
    requested = {part.field: part.requested for part in (weapon, price)}
    assert requested == {"filters.price": {"min": 5, "max": 9.5}, "filters.weapon": ["AWP"]}


def test_an_item_has_something_to_show_for_every_filter() -> None:
    item = {
        "id": 1,
        "name": "x",
        "price": 2,
        "details": {name: f"its {name}" for name in DETAILS},
        "paint": {"float": 0.1, "seed": 3, "index": 4, "pattern": 5},
        "attachments": [{"name": "A", "wear": None, "id": 6}],
    }
    assert {row.name for row in FILTERS if value_of(item, f"filters.{row.name}") is None} == set()
    assert value_of(item, "filters.attachments.all.1") == [{"name": "A", "wear": None}]
    assert value_of(item, "query") == "x"
    assert value_of(item, "offer") is None


def test_each_condition_on_attachments_is_a_part_of_its_own() -> None:
    attachments = '{"all": [{"name": "A"}, {"name": "B", "maxWear": 0.1}], "any": [{"name": "C"}], "count": {"min": 2}}'
    requested = {
        part.field: part.requested for part in conditions(query_of(f'{{"filters": {{"attachments": {attachments}}}}}'))
    }
    assert requested == {
        "offer": None,
        "filters.attachments.all.0": {"name": "A"},
        "filters.attachments.all.1": {"name": "B", "maxWear": 0.1},
        "filters.attachments.any": [{"name": "C"}],
        "filters.attachments.count": {"min": 2},
    }
