"""Which spelling a word with a typo stands for."""

import pytest

from mappings.vocabulary.misspellings import (
    MIN_SIMILARITY,
    TWO_TYPOS,
    Misspellings,
    MisspeltWords,
    SimilarNames,
    is_typo,
)
from mappings.vocabulary.sounds import Homophones
from mappings.vocabulary.vocabulary import Vocabulary

HOMOPHONES = {"zhi": "之", "ying": "鹰", "shui": "水睡", "ling": "灵零", "sha": "沙杀", "mo": "漠莫"}
SPELLINGS = ["gradient", "granit", "hiperbestia", "hiper", "нож", "градиент", "水灵", "沙漠之鹰", "沙"]
KNOWN = Misspellings(SPELLINGS, Homophones(SPELLINGS, HOMOPHONES))


@pytest.mark.parametrize(
    ("typed", "spelling"),
    [
        ("gradeint", "gradient"),  # swapped
        ("gradiennt", "gradient"),
        ("gradint", "gradient"),
        ("gradyent", "gradient"),
        ("hiperbesita", "hiperbestia"),
        ("hiperbsita", "hiperbestia"),  # two typos in a long word
        ("gradnet", ""),  # two in a short one
        ("eradient", ""),  # another first letter
        ("hipe", ""),  # too short
        ("граидент", "градиент"),
        ("xyzzyx", ""),
        ("水零", "水灵"),  # typed by ear
        ("沙莫之鹰", "沙漠之鹰"),
        ("shuiling", "水灵"),
        ("睡零", ""),  # no character of the name: an everyday word
        ("沙零", ""),
        ("guidel", ""),
        ("杀", ""),  # one of many
    ],
)
def test_a_word_with_a_typo_is_the_nearest_spelling(typed: str, spelling: str) -> None:
    assert KNOWN.nearest(typed) == spelling


def test_of_two_spellings_the_one_with_fewer_typos_is_meant() -> None:
    assert Misspellings(["abcdefghij", "abcdefghxx"], Homophones((), {})).nearest("abcdefghxj") == "abcdefghij"


def test_every_spelling_that_is_a_typo_away_is_found() -> None:
    for spelling in ("gradient", "hiperbestia", "градиент"):
        for at in range(1, len(spelling)):
            for letter in ("", "e", "zx", spelling[at] * 2):
                typed = spelling[:at] + letter + spelling[at + 1 :]
                typos = 2 if len(typed) >= TWO_TYPOS else 1
                assert (KNOWN.nearest(typed) == spelling) is is_typo(typed, spelling, typos)


@pytest.mark.parametrize(("typed", "typos", "is_one"), [("abcd", 0, True), ("abdc", 1, True), ("abdcx", 1, False)])
def test_typos_are_counted(typed: str, typos: int, is_one: bool) -> None:
    assert is_typo(typed, "abcd", typos) is is_one


def test_of_words_that_a_typo_changes_the_frequent_one_is_meant() -> None:
    words = MisspeltWords(["menos", "menos", "menor", "nicht", "under", "mas"])
    assert [words.nearest(typed) for typed in ("menoz", "menorr", "incht", "niht", "undr")] == [
        *("menos", "menor", "nicht", "nicht", "under")
    ]
    assert [words.nearest(typed) for typed in ("mxs", "zicht", "undx", "xyzzy")] == [""] * 4


def test_whole_names_in_other_languages_are_similar_but_for_a_typo() -> None:
    spellings = Vocabulary(words={"Halftone Whorl": ("verwirbeltes halbtonmuster",)}).entries
    names = SimilarNames(("Halftone Whorl", "Fade"), {}, spellings)
    assert list(names.nearest("verwirbelteshalbttonmuster")) == ["Halftone Whorl"]
    assert names.nearest("verwirbeltes") == {}
    assert list(names.nearest("fad0")) == ["Fade"]


def test_the_most_similar_names_come_first_each_once_in_any_language() -> None:
    glossary = Vocabulary(words={"Water Elemental": ("su elementi", "wasserelementar"), "case": ("su",)}).entries
    names = SimilarNames(("Violent Daimyo", "Violet Murano", "Water Elemental", "Fade"), glossary, {})
    similar = names.nearest("violetdynamo")
    assert list(similar) == ["Violent Daimyo", "Violet Murano"]
    assert 100 > similar["Violent Daimyo"] > similar["Violet Murano"] >= MIN_SIMILARITY
    assert names.nearest("suelementi") == {"Water Elemental": 100}
    assert list(names.nearest("suelementar")) == ["Water Elemental"], "two spellings are like it"
    assert names.nearest("fa") == {}, "too short"
    assert names.nearest("tradelock") == {}
