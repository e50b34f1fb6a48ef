"""What the relevance bench judges by: the files are whole, and a page is judged as its texts say."""

from pathlib import Path
from typing import Any

import pytest

from bench.relevance.judged import GROUPS, SETS, Judgment, Meaning, Span, judge, read
from bench.relevance.score import OVERALL, by_group, misses


def item(name: str, **more: Any) -> dict[str, Any]:
    fields = ("type", "weapon", "quality", "rarity", "exterior", "phase", "tournament")
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


@pytest.mark.parametrize("name", SETS)
def test_each_file_of_judged_texts_is_whole_and_has_every_group(name: str) -> None:
    judgments = read(SETS[name])
    assert {one.group for one in judgments} == set(GROUPS)
    assert [one.query for one in judgments if {*one.keeps} - {field for m in one.means for field in m.fields()}] == []


def test_the_place_is_that_of_the_first_right_item() -> None:
    assert judge(ASKED, [VULCAN, REDLINE]).place == 2
    assert judge(ASKED, [VULCAN]).place == 0


def test_a_filter_is_broken_by_any_item_of_the_page_and_by_an_empty_page() -> None:
    assert not judge(ASKED, [REDLINE]).is_broken
    assert judge(ASKED, [REDLINE, VULCAN]).is_broken
    assert judge(ASKED, []).is_broken


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
    assert [one for one in (REDLINE, VULCAN, STICKER) if meaning.fits(one)] == [fitting]


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
    }
    assert len(misses(answered)) == 3
