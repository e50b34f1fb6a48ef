"""Folds text as the index's normalizer `folded` does: without case, accents and marks. Pure.

The engine folds what it compares itself. A text that is only a part of what is compared, as in the tokens of
attachments, is folded here first; a test compares this function with the engine.
"""

import re
import unicodedata
from functools import lru_cache

from mappings.ascii_folding import ASCII_FOLDING

DROPPED_MARKS = "★™"

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")  # every separator and every control character
_ASCII = {letter: ascii_text for ascii_text, letters in ASCII_FOLDING.items() for letter in letters}


@lru_cache(maxsize=1024)  # few filter values are most of all
def fold(text: str) -> str:
    """The text without case, accents, ★ and ™, outer and double blanks; empty where nothing else is in it."""
    return _BLANKS.sub(" ", "".join([_folded(letter) for letter in text])).strip(" ")


@lru_cache(maxsize=4096)
def _folded(letter: str) -> str:
    if letter in DROPPED_MARKS:
        return ""
    # one letter may become two, a letter and an accent
    bare = "".join(part for part in (letter, *letter.lower()) if unicodedata.category(part) != "Mn")
    return next((_ASCII[part] for part in bare if part in _ASCII), bare[1:])
