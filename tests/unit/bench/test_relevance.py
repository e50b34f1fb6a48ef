"""What the relevance bench judges by: the files are whole, and a page is judged as its texts say."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bench.relevance.judged import (
    ALL_SETS,
    GROUPS,
    IN_ROLE,
    OWN_WORDS_GROUPS,
    PUBLISHED,
    SETS,
    Judgment,
    Meaning,
    Span,
    judge,
    read,
)
from bench.relevance.score import OVERALL, by_group, misses


def item(name: str, **more: Any) -> dict[str, Any]:
    fields = ("type", "weapon", "quality", "rarity", "exterior", "phase", "tournament", "set")
    details = {field: more.get(field) for field in fields}
    paint = {"float": more.get("wear"), "seed": more.get("seed")}
    return {"name": name, "price": more.get("price"), "details": details, "paint": paint}


REDLINE = item("AK-47 | Redline (Field-Tested)", weapon="AK-47", exterior="Field-Tested", price=30.0, wear=0.2, seed=5)
VULCAN = item("AK-47 | Vulcan (Factory New)", weapon="AK-47", exterior="Factory New", price=300.0, wear=0.01, seed=6)
STICKER = item("Sticker | Titan (Holo) | Katowice 2014", type="Sticker", tournament="Katowice 2014")
ASKED = Judgment(
    query="ak redline under 50",
    group="mixed",
    means=(Meaning(weapon=("AK-47",), finish=("Redline",), price=Span(max=50)),),
    keeps=("weapon", "price"),
)


@pytest.mark.parametrize("name", ALL_SETS)
def test_each_file_of_judged_texts_is_whole_and_has_every_group(name: str) -> None:
    judgments = read(ALL_SETS[name])
    groups = {judgment.group for judgment in judgments}
    if name in {**PUBLISHED, **IN_ROLE}:
        assert groups <= {*GROUPS, *OWN_WORDS_GROUPS}
    else:
        assert groups == set(GROUPS if name in SETS else OWN_WORDS_GROUPS)
    assert [
        judgment.query
        for judgment in judgments
        if {*judgment.keeps} - {field for m in judgment.means for field in m.fields()}
    ] == []


def test_the_place_is_that_of_the_first_right_item() -> None:
    assert judge(ASKED, [VULCAN, REDLINE]).place == 2
    assert judge(ASKED, [VULCAN]).place == 0


def test_a_filter_is_broken_by_any_item_of_the_page_and_by_an_empty_page() -> None:
    assert not judge(ASKED, [REDLINE]).is_broken
    assert judge(ASKED, [REDLINE, VULCAN]).is_broken
    assert judge(ASKED, []).is_broken
    assert [judge(ASKED, page).is_violated for page in ([REDLINE], [REDLINE, VULCAN], [])] == [False, True, False]


def test_no_text_is_in_both_parts() -> None:
    texts = [judgment.query for file in ALL_SETS.values() for judgment in read(file)]
    assert [text for text, times in Counter(texts).items() if times > 1] == []


def test_each_text_by_others_or_in_a_role_says_so_but_for_the_first_set() -> None:
    second = [
        judgment for name, file in {**PUBLISHED, **IN_ROLE}.items() if name != "published/01" for judgment in read(file)
    ]
    assert [judgment.query for judgment in second if not judgment.source] == []


def test_what_no_hit_may_be_and_a_wrong_order_break_a_page() -> None:
    never = ASKED.model_copy(update={"never": (Meaning(exterior=("Field-Tested",)),)})
    assert judge(never, [REDLINE]).place == 0
    assert judge(never, [REDLINE]).is_broken
    dearer = {**REDLINE, "price": 40.0}
    without_price = {**REDLINE, "price": None}
    for order, pages in {
        "price_asc": ([REDLINE, dearer], [dearer, REDLINE]),
        "price_desc": ([dearer, REDLINE], [REDLINE, dearer]),
        "float_asc": ([REDLINE], [{**VULCAN, "paint": {"float": 0.3}}, {**VULCAN, "paint": {"float": 0.1}}]),
    }.items():
        ordered = Judgment(query="x", group="sorting", means=(Meaning(),), order=order)
        assert [judge(ordered, page).is_broken for page in pages] == [False, True]
    assert not judge(
        Judgment(query="x", group="sorting", means=(Meaning(),), order="price_asc"), [REDLINE, without_price]
    ).is_broken


def test_what_is_on_an_item_may_be_meant() -> None:
    crown = {**REDLINE, "attachments": [{"name": "Sticker | Crown (Foil)", "type": None}]}
    bare = {**REDLINE, "attachments": []}
    assert [Meaning(stickers=("crown", "foil")).fits(item) for item in (crown, bare)] == [True, False]
    assert [Meaning(attached=True).fits(item) for item in (crown, bare)] == [True, False]


def test_where_nothing_is_meant_an_empty_page_is_right() -> None:
    nonsense = Judgment(query="xyzzy", group="nonsense", means=())
    assert judge(nonsense, []).place == 1
    assert judge(nonsense, [REDLINE]).place == 0


@pytest.mark.parametrize(
    ("meaning", "fitting"),
    [
        (Meaning(words=("titan", "holo")), STICKER),
        (Meaning(words=("kato*",)), STICKER),
        (Meaning(tournament=("Katowice 2014",)), STICKER),
        (Meaning(finish=("Redline",)), REDLINE),
        (Meaning(wear=Span(below=0.07)), VULCAN),
        (Meaning(seed=(6, 7)), VULCAN),
    ],
)
def test_a_meaning_is_said_in_fields_of_items(meaning: Meaning, fitting: dict[str, Any]) -> None:
    assert [candidate for candidate in (REDLINE, VULCAN, STICKER) if meaning.fits(candidate)] == [fitting]


def test_texts_that_stand_twice_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "twice.ndjson"
    file.write_text(2 * (ASKED.model_dump_json() + "\n"), encoding="utf-8")
    with pytest.raises(ValueError, match="ak redline under 50"):
        read(file)


def test_scores_are_shares_by_group_and_of_all() -> None:
    answered = [judge(ASKED, page) for page in ([REDLINE], [VULCAN, REDLINE], [], [REDLINE, VULCAN])]
    scores = by_group(answered)
    assert set(scores) == {"mixed", OVERALL}
    assert scores[OVERALL].as_json() == {
        "texts": 4,
        "success@1": 0.5,
        "success@5": 0.75,
        "mrr": 0.625,
        "broken": 0.75,
        "violated": 0.5,
    }
    assert len(misses(answered)) == 3
