"""The words of a text, and the letters by which spellings are looked up. Pure.

`letters_of` differs from `folding.fold`: it drops the accents of every script, but writes few letters as others: those
that people write so who have not their keys. Kana keep their voicing marks: `コールド` is cold, `ゴールド` gold.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

_WORD = re.compile(r"([^\W_]+)")
_WRITTEN_AS = str.maketrans({"ı": "i", "ł": "l", "ø": "o", "đ": "d", "œ": "oe", "æ": "ae"})
_VOICING_MARKS = "\u3099\u309a"
_VOICED = re.compile(rf"[\u3041-\u30ff][{_VOICING_MARKS}]")


MAX_LEARNT = 16_384  # the vocabularies have 3,000


class WithoutMarks(dict[int, int | None]):
    """A table for `str.translate` that drops accents and what it is given; it learns the letters that come first."""

    def __init__(self, table: Mapping[int, int | None], max_learnt: int = MAX_LEARNT) -> None:
        super().__init__(table)
        self._max_learnt = max_learnt

    def __missing__(self, letter: int) -> int | None:
        replacement = None if unicodedata.category(chr(letter)) == "Mn" else letter
        if len(self) < self._max_learnt:
            self[letter] = replacement
        return replacement


_WITHOUT_ACCENTS = WithoutMarks({ord(mark): ord(mark) for mark in _VOICING_MARKS})
_WITHOUT_MARKS = WithoutMarks(str.maketrans("", "", "★™"))


def words_of(text: str) -> list[str]:
    """The words of a text in their order: letters and digits only, without accents that stand alone, ★ and ™."""
    return _WORD.findall(_plain(text))


def has_words(text: str) -> bool:
    """Whether a text has any word: no accent and no mark is a letter."""
    return _WORD.search(text) is not None


def words_and_gaps(text: str) -> tuple[list[str], list[str]]:
    """The words of a text, and what stands before each of them and behind the last."""
    parts = _WORD.split(_plain(text))
    return parts[1::2], parts[::2]


def _plain(text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text).translate(_WITHOUT_MARKS)


def letters_of(words: Iterable[str]) -> str:
    """The words written as one, without case and accents: `Five`, `SeveN` are `fiveseven`."""
    joined = "".join(words)
    if joined.isascii():
        return joined.lower()
    return _letters(joined)


@lru_cache(maxsize=8192)  # the same names come again and again
def letters_of_text(text: str) -> str:
    return letters_of(words_of(text))


@lru_cache(maxsize=8192)  # the same words come again and again
def _letters(joined: str) -> str:
    letters = unicodedata.normalize("NFKD", joined).translate(_WITHOUT_ACCENTS).casefold().translate(_WRITTEN_AS)
    return _VOICED.sub(lambda kana: unicodedata.normalize("NFC", kana.group()), letters)


def spelt(spellings: Iterable[str]) -> frozenset[str]:
    """The letters of each spelling."""
    return frozenset(letters_of(words_of(spelling)) for spelling in spellings)
