"""Folds text as the index's normalizer `folded` does: without case, accents and marks. Pure.

The engine folds what it compares itself. A text that is only a part of what is compared, as in the tokens of
attachments, is folded here first; a test compares this function with the engine.
"""

import re
from functools import lru_cache

from mappings.folding_tables import ASCII_FOLDING, NONSPACING_MARKS

DROPPED_MARKS = "★™"
LAST_LETTER = chr(0x10FFFF)  # what begins with a text sorts from the text to the text with it
MARKS = NONSPACING_MARKS | frozenset(DROPPED_MARKS)
BLANKS = "\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
CONTROLS = "".join(chr(code) for code in (*range(0x20), *range(0x7F, 0xA0)))

_BLANKS = re.compile(f"[{re.escape(' ' + BLANKS + CONTROLS)}]+")


@lru_cache(maxsize=1024)  # few filter values are most of all
def fold(text: str) -> str:
    """The text without case, accents, ★ and ™, outer and double blanks; empty where nothing else is in it."""
    return _BLANKS.sub(" ", "".join([_folded(letter) for letter in text])).strip(" ")


@lru_cache(maxsize=4096)
def _folded(letter: str) -> str:
    if letter in MARKS:
        return ""
    # one letter may become two, a letter and an accent
    bare = "".join(part for part in (letter, *letter.lower()) if part not in MARKS)
    return next((ASCII_FOLDING[part] for part in bare if part in ASCII_FOLDING), bare[1:])


def mark_mappings() -> list[str]:
    """What the engine's filter `without_marks` does: marks are left out, and every blank becomes a space."""
    return [
        *(f"{_escaped(mark)} => " for mark in sorted(MARKS)),
        *(f"{_escaped(blank)} => \\u0020" for blank in BLANKS + CONTROLS),
    ]


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{int.from_bytes(units[at : at + 2], 'big'):04x}" for at in range(0, len(units), 2))


@lru_cache(maxsize=4096)  # there are few words
def single_spaced(word: str) -> str:
    """The word as the engine's normalizer `word` folds it: itself, unless it has blanks side by side without its marks;
    then without both.
    """
    bare = "".join([letter for letter in word if letter not in MARKS])
    spaced = _BLANKS.sub(" ", bare)
    return word if len(spaced) == len(bare) or not spaced.strip() else spaced.strip()
