"""How many stickers an item has is read beside what carries them; alone it is how many stickers are wanted."""

import pytest

from api.search.parsing.parse import parse_query
from api.search.query.text import HAS_STICKER, conditions
from api.search.relaxation.stickers import says_it_is_on_items, words_of_stickers
from tests.support.platforms import shared_platforms

CS2 = next(iter(shared_platforms()))


@pytest.mark.parametrize(
    ("text", "others", "count"),
    [
        ("ak redline with 4 stickers", ["ak", "redline"], 4),
        ("ak 2+ stickers", ["ak"], 2),
        ("ak with 3 or more stickers", ["ak"], 3),
        ("usp orion 4 stickers on it ft", ["usp", "orion", "ft"], 4),
        ("items with 4 stickers", [], 4),
        ("ак редлайн с 4 наклейками", ["ак", "редлайн"], 4),
        ("4x ak with 2 stickers", ["ak"], 2),
        ("4 stickers on ak redline", ["ak", "redline"], 4),
        ("ak redline stickers 2x", ["ak", "redline"], 2),
        ("m4a4 at least 3 stickers", ["m4a4"], 3),
        ("四贴红线ak", ["红线", "ak"], 4),
        ("ak redline 4贴", ["ak", "redline"], 4),
        ("四张贴纸 红线", ["红线"], 4),
        ("ak 스티커 4개", ["ak"], 4),
        ("akステッカー4枚", ["ak"], 4),
        ("ak with 4 identical stickers", ["ak"], 4),
        ("any ak under 30 with nice stickers", ["ak"], 0),
        ("stickers on glock", ["glock"], 0),
    ],
)
def test_so_many_stickers_are_on_the_item(text: str, others: list[str], count: int) -> None:
    (on_item,) = words_of_stickers(parse_query(text, [CS2]))
    *terms, attached = on_item.parses[0].terms
    assert [term.typed for term in terms] == others
    assert (attached.is_attached, attached.count) == (True, count)
    counted = {"bool": {"filter": [HAS_STICKER, {"range": {"attachmentCount": {"gte": count}}}]}}
    assert (counted if count else HAS_STICKER) in [each.clause for each in conditions(on_item)]


def test_a_sticker_that_is_named_behind_the_number_is_on_the_item() -> None:
    (on_item, *_) = words_of_stickers(parse_query("四贴navi ak", [CS2]))
    assert [(term.typed, term.on_item, term.count) for term in on_item.options] == [
        ("ak", False, 0),
        ("navi", True, 4),
    ]


def test_a_sticker_that_is_named_before_its_number_is_on_the_item() -> None:
    (*_, on_item) = words_of_stickers(parse_query("crown foil x4 ak redline", [CS2]))
    assert [(term.typed, term.on_item) for term in on_item.options] == [
        ("ak", False),
        ("redline", False),
        ("crown", True),
        ("foil", True),
    ]
    assert {term.count for term in on_item.options if term.on_item} == {4}


def test_stickers_are_counted_by_a_word_of_their_name_and_are_no_price() -> None:
    parsed = parse_query("m4a4 at least 3 holo stickers", [CS2])
    assert parsed.parses[0].quantities == ()
    assert says_it_is_on_items(parse_query("ak min 3 stickers", [CS2]))
    on_items = [term for each in words_of_stickers(parsed) for term in each.options if term.on_item]
    assert {(term.typed, term.count) for term in on_items} == {("holo", 3)}


@pytest.mark.parametrize("text", ["4 stickers", "m4 player two con float", "need 4 stickers", "ak 4x titan stickers"])
def test_other_numbers_are_not_how_many_any_item_has(text: str) -> None:
    assert not any(
        term.is_attached and term.count for read in words_of_stickers(parse_query(text, [CS2])) for term in read.options
    )


def test_what_a_pasted_name_carries_is_no_extra() -> None:
    for text in ("AK-47 | Redline (Field-Tested) with Titan Holo", "M4A4 | Howl (0.00 Float + 4x iBP Holo)"):
        (read, *_) = words_of_stickers(parse_query(text, [CS2]))
        assert any(term.on_item for term in read.options)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # long names without `with`
        ("nova natus vincere holo rio 2022", ["nova", "[natus vincere holo rio 2022]"]),
        ("p90 team spirit foil ranked cologne 2026", ["p90", "[team spirit foil ranked cologne 2026]"]),
        # a name that is one of a finish, too
        ("p90 with fowl play", ["p90", "[fowl play]"]),
        ("m4a4 asiimov toxic flow holo", ["m4a4", "asiimov", "[toxic flow holo]"]),
        ("glock bullet queen guardian berlin 2019", ["glock", "bullet", "queen", "[guardian berlin 2019]"]),
        ("deagle heat treated z naklejką chopper holo", ["deagle", "heat", "treated", "[chopper holo]"]),
        # what stands behind what says that it is on the item is the item
        ("krasnal paris 2023 stickerlı ssg 08 mainframe 001", ["ssg 08", "mainframe", "001", "[krasnal paris 2023]"]),
        ("hades antwerp 2022 스티커 붙은 xm1014", ["xm1014", "[hades antwerp 2022]"]),
        ("ustilo foil 스티커 붙은 ak case hardened", ["case hardened", "ak", "[ustilo foil]"]),
        ("une arme avec un sticker crown foil collé dessus", ["[crown foil]"]),
        # a filler that is a word of the finish
        ("mp9 buff blue with boom detonation", ["mp9", "buff", "blue", "[boom detonation]"]),
        ("famas with ready for battle", ["famas", "[ready for battle]"]),
        ("famas with ninjas in pyjamas holo", ["famas", "[ninjas in pyjamas holo]"]),
        # a digit in a name is no amount
        ("dual berettas w/ gr1ks foil", ["dual berettas", "[gr1ks foil]"]),
    ],
)
def test_a_sticker_on_an_item_is_named_in_many_ways(text: str, expected: list[str]) -> None:
    strict = parse_query(text, [CS2])
    candidates = [
        [f"[{term.typed}]" if term.on_item else term.typed for term in each.parses[0].terms]
        for each in words_of_stickers(strict)
    ]
    assert expected in candidates


def test_a_finish_that_is_the_name_of_a_sticker_is_asked_for_no_more() -> None:
    strict = parse_query("p90 with fowl play", [CS2])
    assert strict.parses[0].finishes == ("fowl play",)
    assert [each.parses[0].finishes for each in words_of_stickers(strict)] == [(), (), ()]
    (redline, *_) = words_of_stickers(parse_query("红线 ak with navi", [CS2]))
    assert redline.parses[0].finishes == ("redline",)
