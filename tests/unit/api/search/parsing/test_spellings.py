"""Numbers that say how many, which one, or which share, are no words of a name."""

import pytest

from api.search.parsing.parse import parse_query
from api.search.parsing.words import count_at, is_count, with_counts_apart
from mappings.vocabulary.words import words_and_gaps
from tests.support.platforms import shared_platforms

CS2 = next(iter(shared_platforms()))


@pytest.mark.parametrize(
    ("text", "counts", "saying"),
    [
        ("10x case", [10, 0], [True, False]),
        ("x10 case", [10, 0], [True, False]),
        ("10 x case", [10, 0, 0], [True, True, False]),
        ("x case", [0, 0], [False, False]),
        ("1000 x", [0, 0], [False, False]),
        ("fade 100%", [0, 0], [False, True]),
        ("fade 100", [0, 0], [False, False]),
        ("2pcs fade", [0, 0], [False, False]),
        ("10", [0], [False]),
        ("16th birthday", [0, 0], [True, False]),
    ],
)
def test_a_number_may_say_how_many(text: str, counts: list[int], saying: list[bool]) -> None:
    words, gaps = words_and_gaps(text)
    assert [count_at(words, at) for at in range(len(words))] == counts
    assert [is_count(words, gaps, at, {"把"}) for at in range(len(words))] == saying


def test_a_number_with_a_filler_behind_it_says_how_many() -> None:
    assert is_count(["2", "把", "ak"], ["", "", "", ""], 0, {"把"})
    assert not is_count(["2", "把", "ak"], ["", " ", "", ""], 0, {"把"})
    assert not is_count(["2", "刀"], ["", "", ""], 0, {"把"})


@pytest.mark.parametrize(
    ("text", "words", "gaps"),
    [
        ("火神 4xtitan holo", ["火神", "4x", "titan", "holo"], ["", " ", "", " ", ""]),
        ("10XTitan", ["10X", "Titan"], ["", "", ""]),
        ("100шт 50szt 3d", ["100", "шт", "50szt", "3d"], ["", "", " ", " ", ""]),
        ("4x20 zeus x27 100xtitan", ["4x20", "zeus", "x27", "100xtitan"], ["", " ", " ", " ", ""]),
    ],
)
def test_a_number_of_things_is_parted_from_what_they_are(text: str, words: list[str], gaps: list[str]) -> None:
    assert with_counts_apart(*words_and_gaps(text), {"шт", "d"}) == (words, gaps)


@pytest.mark.parametrize(
    ("text", "fillers"),
    [
        ("50 fracture cases", ["50"]),
        ("50 fracture case", []),  # may be of a name
        ("22 legends capsule", []),
        ("50 cases", ["50"]),
        ("need 1 ak redline", ["need", "1"]),
        ("looking 4 p2000 fire elemental", ["looking", "4"]),
        ("redline 1 ak", []),
        ("50 ak redline", []),
        ("5 seven fade", []),
        ("gamma 2 cases", []),  # of the name
        ("50 caisses kilowatt", ["50"]),
        ("100 dreams and nightmares cases", ["100"]),
        ("awp asiimov trade locked 7 days", ["trade", "locked", "7", "days"]),
        ("knife for a 13 year old", ["for", "a", "13", "year", "old"]),
        ("ak 7 дней", ["7", "дней"]),
        ("trade lock 15days", ["trade", "lock", "15", "days"]),  # not 2015
        ("naklejka 10 lat", []),  # the sticker Ten Years
        ("10 year birthday capsule", ["year"]),
        ("bravo case, 3 pieces", ["3", "pieces"]),
        ("mp7 bloodsport 6d 4h", ["6d", "4h"]),
        ("4 stickers", ["4"]),
        ("15 ak", []),
        ("cases 50", []),
        ("10 awp asiimovs", ["10"]),
        ("10 awp asiimov", []),
        ("Sealed Graffiti | Sorry (Blood Red)", ["Sealed"]),
        ("sorry, ak redline", ["sorry"]),
        ("50 foo", []),
    ],
)
def test_a_number_of_what_is_opened_says_how_many(text: str, fillers: list[str]) -> None:
    assert [term.typed for term in parse_query(text, [CS2]).parses[0].terms if term.is_filler] == fillers


@pytest.mark.parametrize(
    ("text", "terms", "quantities"),
    [
        ("awp asiimov ft b/o 100", ["awp", "asiimov", "ft"], []),
        ("karambit doppler phase 2 b/o: 400", ["karambit", "doppler", "phase 2"], []),
        ("asiimov 0.15 b/o: 50", ["asiimov"], ["0.15"]),
        ("ak47 b/o", ["ak47"], []),
        ("usp cortex mw $14 b/o", ["usp", "cortex", "mw"], []),
        ("usp cortex mw b/o $14", ["usp", "cortex", "mw"], []),
        ("fracture case x100 @ 0.40 ea", ["fracture", "case"], []),
        ("moto gloves spearmint, would you accept 80", ["moto gloves", "spearmint"], []),
        ("mp7 bloodsport not more 60 usd", ["mp7", "bloodsport"], ["at most 60 usd"]),
        ("fracture case @home", ["fracture", "case", "home"], []),
        ("ak redline under $20 b/o $14", ["ak", "redline"], ["under $20"]),
        ("ak redline do 200 bo nie mam wiecej", ["ak", "redline"], ["at most 200"]),
    ],
)
def test_a_price_that_is_asked_is_no_bound(text: str, terms: list[str], quantities: list[str]) -> None:
    parse = parse_query(text, [CS2]).parses[0]
    assert [term.typed for term in parse.terms if not term.is_filler] == terms
    assert [quantity.typed for quantity in parse.quantities] == quantities


@pytest.mark.parametrize(
    ("text", "terms"),
    [("юсп с наклейками", ["юсп", "с наклейками"]), ("юсп с", ["юсп с"]), ("юсп с драконом", ["юсп с", "драконом"])],
)
def test_with_before_stickers_is_no_end_of_a_name(text: str, terms: list[str]) -> None:
    (parse,) = parse_query(text, [CS2]).parses
    assert [term.typed for term in parse.terms] == terms
