"""Judged queries: what is right, which changes are worse, and files that are wrong."""

import json
from typing import Any

import pytest

from api.vocabulary.judged import Change, JudgedQuery, Report, judged, read_judged

LORE = {"id": 1, "name": "AWP | Dragon Lore (Factory New)", "details": {"weapon": "AWP", "exterior": "Factory New"}}
ASIIMOV = {"id": 2, "name": "AWP | Asiimov (Field-Tested)", "details": {"weapon": "AWP", "exterior": None}}


def judgment(**fields: Any) -> JudgedQuery:
    (read,) = read_judged([json.dumps({"query": "awp", **fields})])
    return read


@pytest.mark.parametrize(
    "fields",
    [
        {"ids": [1, 7]},
        {"names": ["AWP | Dragon Lore (Factory New)"]},
        {"words": "LORE dragon"},
        {"filters": {"weapon": ["awp"], "exterior": ["Minimal Wear", "factory new"]}},
        {"words": "dragon", "filters": {"weapon": ["AWP"]}},
    ],
)
def test_right_is_what_has_an_id_a_name_or_all_conditions(fields: dict[str, Any]) -> None:
    assert [judgment(**fields).is_right(item) for item in (LORE, ASIIMOV)] == [True, False]


def test_conditions_hold_together() -> None:
    assert not judgment(words="dragon", filters={"exterior": ["Field-Tested"]}).is_right(LORE)
    assert not judgment(words="dra").is_right(LORE), "whole words"


def test_a_page_is_right_by_its_first_item_or_by_every_item() -> None:
    first = judgment(ids=[1])
    assert judged(first, [LORE, ASIIMOV]).as_json() == {"first": LORE["name"], "place": 1, "right": True}
    assert judged(first, [ASIIMOV, LORE]).as_json() == {"first": ASIIMOV["name"], "place": 2, "right": False}
    assert judged(first, []).as_json() == {"first": None, "place": None, "right": False}
    every = judgment(ids=[1], every=True)
    assert [judged(every, page).is_right for page in ([LORE], [LORE, ASIIMOV])] == [True, False]
    nothing = judgment(nothing=True)
    assert [judged(nothing, page).is_right for page in ([], [LORE])] == [True, False]


def changed(before: list[Any], after: list[Any], **fields: Any) -> Change:
    judged_query = judgment(**fields)
    return Change(judged_query, judged(judged_query, before), judged(judged_query, after))


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ([LORE], [ASIIMOV, LORE], "worse"),
        ([ASIIMOV, LORE], [ASIIMOV], "worse"),
        ([ASIIMOV, LORE], [LORE], "better"),
        ([], [LORE], "better"),
        ([LORE], [LORE, ASIIMOV], "same"),
        ([], [ASIIMOV], "same"),
    ],
)
def test_worse_is_a_right_item_that_is_gone_or_comes_later(before: list[Any], after: list[Any], verdict: str) -> None:
    change = changed(before, after, ids=[1])
    assert (change.verdict, change.is_visible) == (verdict, True)


def test_worse_is_a_wrong_item_where_there_may_be_none() -> None:
    assert changed([], [LORE], nothing=True).verdict == "worse"
    assert changed([LORE], [LORE, ASIIMOV], ids=[1], every=True).verdict == "worse"


def test_a_report_counts_and_shows_what_changes() -> None:
    assert not changed([LORE], [LORE], ids=[1]).is_visible
    report = Report(3, (changed([LORE], [], ids=[1]), changed([], [LORE], ids=[1])))
    assert report.as_json() == {
        "queries": 3,
        "worse": 1,
        "changed": [
            {
                "query": "awp",
                "verdict": "worse",
                "before": {"first": LORE["name"], "place": 1, "right": True},
                "after": {"first": None, "place": None, "right": False},
            },
            {
                "query": "awp",
                "verdict": "better",
                "before": {"first": None, "place": None, "right": False},
                "after": {"first": LORE["name"], "place": 1, "right": True},
            },
        ],
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"query": "awp"}', "line 2 is no judged query: say what is right"),
        ('{"query": "awp", "words": "..."}', "say what is right"),
        ('{"query": "awp", "ids": [1], "nothing": true}', "say what is right"),
        ('{"query": "", "ids": [1]}', "query: String should have at least 1 character"),
        ('{"query": "awp", "means": []}', "means: Extra inputs are not permitted"),
        ('{"query": "awp", "filters": {"weapons": ["AWP"]}}', "filters.weapons: Extra inputs"),
        ("awp", "Invalid JSON"),
    ],
)
def test_a_wrong_line_is_named(line: str, message: str) -> None:
    with pytest.raises(ValueError, match="line 2") as error:
        read_judged(["\n", line])
    assert message in str(error.value)


def test_a_file_without_a_query_is_refused() -> None:
    with pytest.raises(ValueError, match="no judged query"):
        read_judged(["", " \n"])
