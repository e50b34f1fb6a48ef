"""Words of texts in any script: without accents and marks, whatever was read before."""

import re
import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from mappings.vocabulary.words import WithoutMarks, has_words, letters_of, words_of

TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("é\u0301\u0308★™ñǅ한글_ -1"))


def without_accents(text: str) -> str:
    return "".join(letter for letter in text if unicodedata.category(letter) != "Mn")


@given(TEXTS)
@example("★ Kara\u0301mbit™ | Тёмное")
@example("\u0301_★")
def test_words_have_no_accent_and_no_mark(text: str) -> None:
    plain = without_accents(unicodedata.normalize("NFC", text)).translate(str.maketrans("", "", "★™"))
    assert words_of(text) == re.findall(r"[^\W_]+", plain)
    assert has_words(text) == bool(words_of(text))


def test_no_more_letters_are_learnt_than_may_be() -> None:
    table = WithoutMarks({ord("★"): None}, max_learnt=3)
    assert "abcd\u0301★".translate(table) == "abcd"
    assert table == {ord("★"): None, ord("a"): ord("a"), ord("b"): ord("b")}


def test_kana_keep_their_voicing_marks() -> None:
    assert letters_of(["ゴールド"]) != letters_of(["コールド"])
    assert letters_of(["ｺﾞｰﾙﾄﾞ"]) == letters_of(["ゴールド"]) == "ゴールド"


@given(TEXTS)
@example("Łódź ıøđ Ⅷ")
def test_letters_have_no_case_and_no_accent(text: str) -> None:
    bare = without_accents(unicodedata.normalize("NFKD", text)).casefold()
    assert letters_of([text]) == (bare if not text.isascii() else text.lower()).translate(str.maketrans("ıłøđ", "ilod"))
