"""Pins and hides in the engine's request, as golden files in tests/golden/rules."""

import pytest

from api.search.explain.conditions import conditions
from api.search.parsing.parse import parse_query
from api.search.query.operator_rules import hidden_from_all
from api.search.query.request import SearchQuery
from api.search.schemas.search import SearchBody
from mappings.vocabulary.rules import Hide, Pin, rules_of
from tests.support.golden import Golden
from tests.support.platforms import shared_platforms

CASES = {"pinned": "redline ", "amounts_and_exclusions": "awp under 50 -stattrak", "hidden": "dragon lore", "blank": ""}
PINS = [Pin(texts=("redline", "awp under 50 -stattrak"), names=("AK-47 | Redline (Field-Tested)", "x"))]
HIDES = [Hide(texts=("dragon lore",), names=("y",)), Hide(names=("Souvenir Charm | Broken",))]


def query_of(text: str) -> SearchQuery:
    """A search by this text with the rules."""
    (platform,) = shared_platforms()
    platform.use_rules(rules_of(PINS, HIDES))
    return SearchQuery(SearchBody(query=text), parse_query(text, [platform]))


@pytest.mark.parametrize("name", CASES)
def test_each_rule_is_asked_as_in_its_golden_file(name: str, golden: Golden) -> None:
    golden(f"rules/{name}", {"query": CASES[name], "request": query_of(CASES[name]).offered})


@pytest.mark.parametrize("name", CASES)
def test_explain_has_a_condition_for_what_is_hidden(name: str) -> None:
    query = query_of(CASES[name])
    assert [each.clause for each in conditions(query) if each.field == "hidden"] == query.hidden_clauses


def test_suggestions_leave_out_what_is_hidden_from_all_texts() -> None:
    (platform,) = shared_platforms()
    assert hidden_from_all([platform]) == []
    platform.use_rules(rules_of(PINS, HIDES))
    (clause,) = hidden_from_all([platform])
    assert "Souvenir Charm | Broken" in str(clause)
    assert "'y'" not in str(clause)
