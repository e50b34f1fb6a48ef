"""Hangul by its keys: what is typed one letter after the other, in syllables and back."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mappings.vocabulary.hangul import letters_typed, syllables_of

LETTERS = st.text(st.characters(min_codepoint=0x3131, max_codepoint=0x3163))
SYLLABLES = st.text(st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3))


@pytest.mark.parametrize(
    ("letters", "text"),
    [
        ("ㅇㅏㅅㅣㅁㅗㅍㅡ", "아시모프"),
        ("ㅇㅓㅂㅅㄷㅏ", "없다"),  # two last consonants
        ("ㅇㅓㅂㅅㅇㅓ", "없어"),
        ("ㄱㅏㅂㅅㅣ", "갑시"),  # the second one begins the next syllable
        ("ㅇㅗㅐ ㅂㅜㅔㄹㄱ", "왜 뷁"),  # a vowel of two keys
        ("ㅁㅈㅔ", "ㅁ제"),
        ("ak ㅏ", "ak ㅏ"),
    ],
)
def test_letters_are_typed_into_syllables(letters: str, text: str) -> None:
    assert syllables_of(letters) == text
    assert letters_typed(text) == letters


@given(LETTERS)
@example("ㅋㅈㄷㅑㅗㅐㄱㅜ")  # zweihorn
def test_any_letters_are_typed_into_syllables(letters: str) -> None:
    assert letters_typed(syllables_of(letters)) == letters_typed(letters)


@given(SYLLABLES)
def test_what_is_typed_is_read_again(text: str) -> None:
    without_shift = letters_typed(text)
    assert letters_typed(syllables_of(without_shift)) == without_shift
