"""Amounts in words, in English and in other languages."""

import pytest

from api.search.parsing.numerals import with_digits
from mappings.vocabulary.vocabulary import Vocabulary

GERMAN = Vocabulary(amounts={"under": ("unter", "weniger als"), "eur": ("euro",), "max": ("maximal",)})


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("ak under twenty dollars", "ak under 20 dollars"),
        ("a hundred bucks", "100 bucks"),
        ("under two hundred and fifty", "under 250"),
        ("under two thousand five hundred", "under 2500"),
        ("under a grand", "under 1000"),
        ("between ten and twenty-five dollars", "between 10 and 25 dollars"),
        ("sub-40", "sub 40"),
        ("player two", "player two"),
        ("two times", "two times"),
    ],
)
def test_amounts_are_written_in_digits(text: str, digits: str) -> None:
    assert with_digits(text, Vocabulary()) == digits


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("unter 50", "under 50"),
        ("Weniger  als 50 euro", "under 50 eur "),
        ("50euro maximal", "50 eur  maximal"),
        ("50 maximal euro", "50 max  euro"),
        ("unter uns", "unter uns"),
        ("munter 50", "munter 50"),
    ],
)
def test_words_beside_amounts_are_written_in_english(text: str, english: str) -> None:
    assert with_digits(text, GERMAN) == english


KOREAN = Vocabulary(amounts={"usd": ("불", "달러"), "max": ("달러 이하",)})


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("50불짜리 칼", "50 usd 짜리 칼"),
        ("50 불", "50 usd "),
        ("sg 553 불도저", "sg 553 불도저"),  # bulldozer
        ("50 달러짜리", "50 usd 짜리"),
        ("50달러 이하", "50 max "),
    ],
)
def test_a_single_korean_letter_behind_a_blank_is_a_word_of_its_own(text: str, english: str) -> None:
    assert with_digits(text, KOREAN) == english


MONEY = Vocabulary(
    amounts={
        "under": ("до",),
        "¤RUB": ("руб", "р", "₽"),
        "¤JPY max": ("円以下",),
        "¤TRY": ("tl",),
        "¤BRL": ("r$",),
    }
)


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("до 3000 руб", "under 3000 ¤RUB "),
        ("до ₽3000", "under ¤RUB 3000"),
        ("3k руб", "3k ¤RUB "),
        ("ак 47 редлайн", "ак 47 редлайн"),  # no `р`
        ("5000円以下ナイフ", "5000 ¤JPY max ナイフ"),
        ("R$246,74", "¤BRL 246,74"),
        ("500 tl", "500 ¤TRY "),
        ("cologne 2015 tl", "cologne 2015 tl"),  # a year and a team
    ],
)
def test_other_currencies_are_written_as_their_codes(text: str, english: str) -> None:
    assert with_digits(text, MONEY) == english
