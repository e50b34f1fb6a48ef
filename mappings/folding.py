"""Folding: a text in, the form in which it is compared out; the same that the index's normalizer `folded` gives.

The engine folds what it compares itself. Where a text is only a part of what is compared, as in the tokens of
attachments, it must be folded before; a test holds this function to the engine's.
"""

import re
import unicodedata
from functools import lru_cache

from mappings.letters import FOLDED_LETTERS

DROPPED_MARKS = "★™"

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")  # every separator and every control character
_LETTERS = {letter: written for written, letters in FOLDED_LETTERS.items() for letter in letters}


@lru_cache(maxsize=1024)  # what is filtered by comes again and again
def fold(text: str) -> str:
    """The text without case, accents, ★ and ™, outer and double blanks; empty where nothing else is in it."""
    return _BLANKS.sub(" ", "".join([_folded(one) for one in text])).strip(" ")


@lru_cache(maxsize=4096)
def _folded(letter: str) -> str:
    if letter in DROPPED_MARKS:
        return ""
    # one letter may become two, a letter and an accent
    bare = "".join(one for one in (letter, *letter.lower()) if unicodedata.category(one) != "Mn")
    return next((_LETTERS[one] for one in bare if one in _LETTERS), bare[1:])
