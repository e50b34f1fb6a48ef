"""A text without what says nothing of an item."""

import pytest

from api.search.parsing.parse import ParsedQuery, parse_query
from api.search.relaxation.fillers import (
    for_another_thing,
    is_of_one_weapon,
    offered_items,
    without_fillers,
    without_wear,
)
from api.search.relaxation.relaxations import misspelt
from mappings.platforms import Platform
from mappings.vocabulary.vocabulary import Vocabulary
from tests.support.platforms import shared_platforms

CS2 = next(iter(shared_platforms()))
DOTA = Platform(id=570, slug="dota2", name="Dota 2", currency="EUR", minor_digits=2, vocabulary=Vocabulary())


def strict(text: str) -> ParsedQuery:
    return parse_query(text, [CS2])


def test_a_thing_for_a_weapon_or_a_craft_is_wanted_itself() -> None:
    def things(text: str) -> list[list[str]]:
        return [[term.typed for term in each.parses[0].terms] for each in for_another_thing(strict(text))]

    assert things("crown foil sticker for my awp") == [["crown", "foil", "sticker"]]
    assert things("need crown foil x4 for a full pink craft")[-1] == ["crown", "foil"]
    assert things("pegatina crown foil para mi awp") == [["pegatina", "crown", "foil"]]
    assert things("crown foil sticker, craft on my awp") == [["crown", "foil", "sticker"]]
    assert things("skin for my ak") == []  # says nothing of what it is
    assert things("ak redline for my awp") == []
    assert things("crown foil sticker for my ak redline") == [["crown", "foil", "sticker"]]
    for more in ("brother, pandora box mw", "ak katowice 2014", "awp, no holo", "ak cheapest first", "craft, stattrak"):
        assert things(f"crown foil for my {more}") == [], more
    assert things("charm for my gun: hot wurst") == []  # what it is stands behind
    assert things("crown foil for my awp under 50") == []  # a bound of what?
    assert things("crown foil") == []
    assert for_another_thing(parse_query("crown foil for my awp", [CS2, DOTA])) == []
    assert for_another_thing(parse_query("crown foil for my awp", [DOTA])) == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("that scout with the shark, blood in the water", "scout shark blood in the water"),
        ("baby karat ct keychain want", "baby karat ct keychain"),
        ("in the living room", "living room"),
        ("the one", "the one"),
        ("karambit fade% pls", "karambit fade"),
        ("1 blue laminate", "blue laminate"),
        ("1; drop table", "1 table"),
    ],
)
def test_fillers_in_a_name_stay(text: str, left: str) -> None:
    parsed = without_fillers(strict(text)) or strict(text)
    assert " ".join(term.typed for term in parsed.parses[0].terms) == left


def test_an_exterior_says_nothing_of_what_has_no_float() -> None:
    parsed = without_wear(strict("новые кейсы gamma"))
    assert parsed is not None
    assert [term.typed for term in parsed.parses[0].terms] == ["кейсы", "gamma"]
    for text in ("новые ножи", "fn ak sticker", "fn redline", "gamma case"):
        assert without_wear(strict(text)) is None, text


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("that revolver with the banana, banana cannon r8 mw", True),
        ("ak redline, awp asiimov", False),
        ("ak redline", False),
    ],
)
def test_a_weapon_named_twice_is_one(text: str, is_one: bool) -> None:
    assert is_of_one_weapon(parse_query(text, [CS2])) == is_one


def test_an_item_of_a_text_comes_in_the_order_that_the_text_asks_for() -> None:
    (item,) = offered_items(strict("the cheapest AK-47 | Nightwish listing"))
    assert (item.text.strip(), item.sort) == ("AK-47 | Nightwish listing", "price_asc")
    (mistyped,) = offered_items(strict("the cheapest AK-47 | Nightwish (feild testd) listing"))
    assert {each.sort for each in misspelt(mistyped)} == {"price_asc"}
