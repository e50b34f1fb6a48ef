"""What a clause surely and possibly matches; tests/real/saved_searches/test_prefilter.py compares with the engine."""

from typing import Any

import pytest

from api.saved_searches.prefilter import Batch, Fields, new_candidates, prefilter_of, set_bits
from mappings.definition import read_definition

FIELDS = Fields(read_definition().log_properties())
ITEMS: dict[int, dict[str, list[Any]]] = {
    0: {"name": ["AK-47 | Redline"], "weapon": ["AK-47"], "price.ascending": [500], "platform": [730]},
    1: {"name": ["★ StatTrak™ Bayonet"], "weapon": ["Bayonet"], "price.ascending": [900], "platform": [730]},
    2: {"name": ["Jörmungandr"], "price.ascending": [500], "platform": [252490], "bound": [True]},
}
BATCH = Batch(FIELDS, ITEMS)
UNKNOWN = {"match": {"text": {"query": "redlin", "fuzziness": "AUTO"}}}
ALL, NONE = [0, 1, 2], list[int]()


@pytest.mark.parametrize(
    ("clause", "sure", "possible"),
    [
        ({"terms": {"name": ["AK-47 | Redline", "x"]}}, [0], [0]),
        ({"terms": {"weapon.folded": ["ak-47", "BAYONET"]}}, [0, 1], [0, 1]),
        ({"terms": {"platform": [730]}}, [0, 1], [0, 1]),
        ({"term": {"bound": True}}, [2], [2]),
        ({"term": {"bound": {"value": True}}}, NONE, ALL),
        ({"term": {"name.letters": "ak47 redline"}}, [0], [0, 2]),
        ({"term": {"name.letters": "龍"}}, NONE, ALL),
        ({"terms": {"seed": ["1"]}}, NONE, ALL),
        ({"range": {"price.ascending": {"gte": 500, "lte": 899}}}, [0, 2], [0, 2]),
        ({"range": {"price.ascending": {"gte": 501}}}, [1], [1]),
        ({"range": {"price.ascending": {"gte": 600, "lte": 1}}}, NONE, NONE),
        ({"range": {"price.ascending": {"gt": 1}}}, NONE, ALL),
        ({"range": {"attachments": {"gte": "a"}}}, NONE, ALL),
        ({"match": {"text": "redline bayonet"}}, [0, 1], ALL),
        ({"match": {"text": {"query": "ak47 Redline", "operator": "and"}}}, [0], [0, 2]),
        ({"match": {"name.typed": "47redline"}}, [0], [0, 2]),
        ({"match": {"name.marks": "|"}}, NONE, ALL),
        ({"match": {"text": "龍王"}}, NONE, ALL),
        (UNKNOWN, NONE, ALL),
        ({"match_bool_prefix": {"text": "stat"}}, [1], [1, 2]),
        ({"match_bool_prefix": {"text": "two words"}}, NONE, ALL),
        ({"match_bool_prefix": {"text": {"query": "x"}}}, NONE, ALL),
        ({"exists": {"field": "stickers"}}, NONE, ALL),
        ({"constant_score": {"filter": {"term": {"platform": 730}}, "boost": 2}}, [0, 1], [0, 1]),
        ({"bool": {"must_not": [{"term": {"bound": True}}]}}, [0, 1], [0, 1]),
        ({"bool": {"must_not": [UNKNOWN]}}, NONE, ALL),
        ({"bool": {"should": [{"term": {"bound": True}}, {"term": {"weapon": "AK-47"}}]}}, [0, 2], [0, 2]),
        ({"bool": {"must": [{"term": {"platform": 730}}], "should": [{"term": {"bound": True}}]}}, [0, 1], [0, 1]),
        ({"bool": {"should": [{"term": {"bound": True}}, UNKNOWN], "minimum_should_match": 1}}, [2], ALL),
        ({"bool": {"should": [UNKNOWN], "minimum_should_match": 2}}, NONE, ALL),
        ({"bool": {"filter": [{"term": {"name": "x"}}, UNKNOWN]}}, NONE, NONE),
        ({"bool": {"filter": [{"term": {"bound": True}}], "boost": 1}}, NONE, ALL),
        ({"bool": {}}, ALL, ALL),
    ],
)
def test_what_surely_and_possibly_matches(clause: dict[str, Any], sure: list[int], possible: list[int]) -> None:
    candidates = prefilter_of(FIELDS, clause)(BATCH)
    assert (set_bits(candidates[0]), set_bits(candidates[1])) == (sure, possible)


def test_a_change_is_a_candidate_where_its_item_may_match_and_did_not_surely_match_before() -> None:
    cheap = {"range": {"price.ascending": {"lte": 600}}}
    before = Batch(FIELDS, {0: {"price.ascending": [700]}, 1: {"price.ascending": [500]}})
    assert set_bits(new_candidates(prefilter_of(FIELDS, cheap), before, BATCH)) == [0, 2]
    assert set_bits(new_candidates(prefilter_of(FIELDS, {"bool": {"filter": [cheap, UNKNOWN]}}), before, BATCH)) == [
        0,
        2,
    ]
    assert new_candidates(prefilter_of(FIELDS, {"term": {"name": "x"}}), before, BATCH) == 0


def test_words_are_not_judged_where_what_they_are_of_cannot_be_read() -> None:
    fields = Fields({"name": {"type": "keyword", "doc_values": False, "copy_to": "text"}})
    assert prefilter_of(fields, {"match": {"text": "x"}})(Batch(fields, {0: {}})) == (0, 1)
