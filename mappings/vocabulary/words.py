"""The words of a text, and the letters by which spellings are looked up. Pure.

`letters_of` differs from `folding.fold`: it drops the accents of every script, but writes few letters as others: those
that people write so who have not their keys.
"""

import re
import sys
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

_WORD = re.compile(r"([^\W_]+)")
# accents that stand alone, and the marks of names
_DROPPED_MARKS = dict.fromkeys(
    [code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == "Mn"] + [ord("★"), ord("™")]
)
_WRITTEN_AS = str.maketrans("ıłøđ", "ilod")


def words_of(text: str) -> list[str]:
    """The words of a text in their order: letters and digits only, without accents that stand alone, ★ and ™."""
    return _WORD.findall(_plain(text))


def words_and_gaps(text: str) -> tuple[list[str], list[str]]:
    """The words of a text, and what stands before each of them and behind the last."""
    parts = _WORD.split(_plain(text))
    return parts[1::2], parts[::2]


def _plain(text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text).translate(_DROPPED_MARKS)


def letters_of(words: Iterable[str]) -> str:
    """The words written as one, without case and accents: `Five`, `SeveN` are `fiveseven`."""
    joined = "".join(words)
    if joined.isascii():
        return joined.lower()
    return _letters(joined)


@lru_cache(maxsize=8192)  # the same words come again and again
def _letters(joined: str) -> str:
    decomposed = unicodedata.normalize("NFKD", joined)
    folded = "".join(letter for letter in decomposed if unicodedata.category(letter) != "Mn").casefold()
    return folded.translate(_WRITTEN_AS)
