"""What a buyer typed becomes words with their joins, the vocabulary's meanings, amounts, or symbols alone."""

from decimal import Decimal
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.search.parsing.parse import PlatformParse, parse_query
from api.search.query.text import text_clauses
from mappings.platforms import Platform
from tests.support.platforms import shared_platforms
from tests.support.search.clauses import leaves

CS2 = next(iter(shared_platforms()))
BARE = Platform(id=1, slug="bare", name="a game without a vocabulary", currency="EUR", minor_digits=2)


def reading(text: str, platform: Platform = BARE) -> PlatformParse:
    (only,) = parse_query(text, [platform]).parses
    return only


@pytest.mark.parametrize("text", ["", "   ", "\t\r\n", "\x00", "\u00a0\u2003"])
def test_blank_text_asks_for_everything(text: str) -> None:
    parsed = parse_query(text, [CS2])
    assert parsed.matches_all
    assert text_clauses(parsed) == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("redline", (("redline",),)),
        ("ak 47", (("ak", "ak47"), ("47", "ak47"))),
        ("AK-47", (("AK", "AK47"), ("47", "AK47"))),
        (
            "m4 a1 s",
            (("m4", "m4a1", "m4a1s"), ("a1", "m4a1", "a1s", "m4a1s"), ("s", "a1s", "m4a1s")),
        ),
        ("StatTrak™ ★", (("StatTrak",),)),
        ("Jo\u0308rmungandr", (("Jörmungandr",),)),
        ("a\x00b", (("a", "ab"), ("b", "ab"))),
    ],
)
def test_words_are_asked_for_alone_and_joined_with_their_neighbours(
    text: str, words: tuple[tuple[str, ...], ...]
) -> None:
    read_words = [word for term in reading(text).terms for word in term.words]
    assert [set(word.spellings) for word in read_words] == [set(group) for group in words]


@pytest.mark.parametrize("text", ["★", "♥", " $ ~ "])
def test_marks_alone_are_asked_for_as_they_are(text: str) -> None:
    parsed = reading(text)
    assert (parsed.terms, parsed.quantities, parsed.symbols) == ((), (), text.strip())


def test_punctuation_beside_an_amount_asks_for_nothing_and_a_mark_does() -> None:
    assert reading("(under 50),").symbols == ""
    assert reading("♥ under 50").symbols == "♥"


@pytest.mark.parametrize(
    ("text", "prefixes"),
    [
        ("ak redl", ["akredl", "redl"]),  # what is being typed
        ("ak redl ", []),  # a blank after it: it is finished
        ("katowice 20", ["katowice20"]),  # a number is no beginning, a join with it is
        ("a", []),
        ("redline under 50", []),
    ],
)
def test_the_last_word_may_be_a_beginning(text: str, prefixes: list[str]) -> None:
    last = [word for term in reading(text).terms for word in term.words][-1]
    assert sorted(last.prefixes) == prefixes


def meanings_of(text: str) -> dict[str, dict[str, list[str]]]:
    return {
        term.typed: {field: list(values) for meaning in term.meanings for field, values in meaning.filters}
        for term in reading(text, CS2).terms
        if term.meanings
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "ak redline ft st",
            {
                "ak": {"weapon": ["AK-47"]},
                "ft": {"exterior": ["Field-Tested"]},
                "st": {"quality": ["StatTrak™", "★ StatTrak™"]},
            },
        ),
        ("field tested", {"field tested": {"exterior": ["Field-Tested"]}}),
        ("Field-Tested", {"Field Tested": {"exterior": ["Field-Tested"]}}),
        ("fieldtested", {"fieldtested": {"exterior": ["Field-Tested"]}}),
        ("FN", {"FN": {"exterior": ["Factory New"]}}),
        ("f-n", {"f n": {"exterior": ["Factory New"]}}),
        ("u sp", {}),  # a spelling is not taken apart in other ways than it is listed
        ("5-7", {"5 7": {"weapon": ["Five-SeveN"]}}),
        ("usps", {"usps": {"weapon": ["USP-S"]}}),
        ("usp-s", {"usp s": {"weapon": ["USP-S"]}}),
        ("m4", {"m4": {"weapon": ["M4A1-S", "M4A4"]}}),
        ("m4a1 s", {"m4a1 s": {"weapon": ["M4A1-S"]}}),
        ("m9 bayonet", {"m9 bayonet": {"weapon": ["M9 Bayonet"]}}),
        ("bp", {"bp": {"phase": ["Black Pearl"]}}),
        ("phase 2", {"phase 2": {"phase": ["Phase 2"]}}),
        ("StatTrak™", {"StatTrak": {"quality": ["StatTrak™", "★ StatTrak™"]}}),
        ("mil-spec", {"mil spec": {"rarity": ["Mil-Spec Grade"]}}),
        ("cases", {"cases": {"type": ["Container"]}}),
        ("case hardened", {"case hardened": {}}),
    ],
)
def test_the_vocabulary_knows_codes_slang_and_names(text: str, expected: dict[str, Any]) -> None:
    assert meanings_of(text) == expected


def test_a_word_of_the_vocabulary_is_no_beginning_and_its_typed_words_count_too() -> None:
    (term,) = reading("ruby", CS2).terms
    assert [(word.spellings, word.prefixes) for word in term.words] == [(("ruby",), ())]
    clauses = text_clauses(parse_query("ruby", [CS2]))["must"][0]["bool"]["should"]
    assert {"constant_score": {"filter": {"match": {"text": "ruby"}}, "boost": 1}} in clauses


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("ak 20+", 20, None),
        ("awp 57+", 57, None),
        ("20+ ft", 20, None),
        ("sticker 1-5", 1, 5),
        ("1 - 5", 1, 5),
        ("2-5", 2, 5),
    ],
)
def test_a_price_is_no_year_or_weapon_that_is_written_with_the_same_digits(
    text: str, low: Decimal, high: Decimal | None
) -> None:
    (price,) = reading(text, CS2).quantities
    assert (price.field, price.low, price.high) == ("price", low, high)


@pytest.mark.parametrize("text", ["500+ hours", "500+ Stunden", "500+ часов", "100+ шт", "2000+ elo", "3+ years old"])
def test_how_much_of_a_measure_is_no_price(text: str) -> None:
    assert reading(text, CS2).quantities == ()


@pytest.mark.parametrize(
    ("text", "high", "currency"),
    [
        ("sticker up to a pound", 1, "GBP"),
        ("sticker up to a buck", 1, "USD"),
        ("ak up to twenty pound", 20, "GBP"),
        ("wts ak b/o 20 pounds", 20, "ASK"),
        ("is 350 a good price for a talon knife", 350, "ASK"),
        ("should i pay 350 for a talon knife", 350, "ASK"),
        ("got offered 350 for my talon knife", 350, "ASK"),
    ],
)
def test_amounts_have_any_english_word_of_their_currency(text: str, high: Decimal, currency: str) -> None:
    parse = reading(text, CS2)
    assert [(each.high, each.currency) for each in (*parse.quantities, *parse.other_amounts)] == [(high, currency)]
    assert all(term.meanings or term.is_filler for term in parse.terms)


@pytest.mark.parametrize("text", ["47", "p250", "2014", "m4a1s", "٣"])
def test_what_has_a_digit_is_never_mistyped(text: str) -> None:
    assert not any(word.is_correctable for term in reading(text).terms for word in term.words)


@given(st.text(max_size=200) | st.text("ab c1", min_size=150, max_size=200) | st.just("9 " * 100))
def test_any_text_is_parsed_within_the_engines_limit_of_clauses(text: str) -> None:
    # OpenSearch refuses a query of more than 1,024 clauses (indices.query.bool.max_clause_count)
    assert len(list(leaves(text_clauses(parse_query(text, [CS2, BARE, CS2]))))) < 1000


def test_words_that_say_how_others_are_meant_are_read_in_any_order() -> None:
    words = ("cheapest", "no,", "not wanted", "or", "knife", "st", "under 5")
    for text in map(" ".join, product(words, repeat=4)):
        reading(text, CS2)


@pytest.mark.parametrize("text", ["ak ft ww/bs", "ak ft/ww bs", "ak ft ww bs", "ak ft/ww/bs"])
def test_exteriors_are_any_of_all_that_are_named(text: str) -> None:
    _, exteriors = parse_query(text, [CS2]).parses[0].terms
    assert [option.typed for option in exteriors.options] == ["ft", "ww", "bs"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cheapest spectrum case", "spectrumcase"),
        ("spectrum 2 case lowest price", "spectrum2case"),
        ("cheapest case", "case"),
        ("spectrum case", "case"),
        ("cheapest dreams and nightmares case", "case"),
        ("cheapest unheard of case", "case"),
    ],
)
def test_under_an_order_a_case_is_the_one_of_just_its_name(text: str, words: str) -> None:
    (parse,) = parse_query(text, [CS2]).parses
    (case,) = [term for term in parse.terms if term.fields]
    assert [meaning.words for meaning in case.meanings] == [words]


def test_what_a_colour_means_where_no_name_has_it_is_a_rarity() -> None:
    (term,) = parse_query("pink", [CS2]).parses[0].terms
    assert not term.meanings
    assert dict(filters for meaning in term.otherwise for filters in meaning.filters) == {
        "rarity": ("Classified", "Exotic", "Superior")
    }


def test_fillers_say_nothing_beside_an_order() -> None:
    for text in ("low float only", "show me the cheapest please"):
        assert parse_query(text, [CS2]).parses[0].terms == ()
    assert parse_query("cheapest skins", [CS2]).parses[0].terms


def test_a_word_in_brackets_may_be_of_another_language() -> None:
    french, plain = (parse_query(text, [CS2]).parses[0].terms for text in ("FURIA (or)", "FURIA (holo)"))
    assert [term.typed for term in french] == ["FURIA", "gold"]
    assert [term.typed for term in plain] == ["FURIA", "holo"]
