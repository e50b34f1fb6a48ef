"""Numbers that say how many, which one, or which share: `4x`, `x10`, `2把`, `16th`, `100%`. No item has them. Pure."""

import re
from collections.abc import Collection, Sequence

from mappings.vocabulary.numerals import Numerals
from mappings.vocabulary.words import letters_of

_COUNT = re.compile(r"(\d{1,3})x|x(\d{1,3})")
_ORDINAL = re.compile(r"\d{1,3}(?:st|nd|rd|th)")  # of a birthday
MAX_FEW = 5  # as many things as an item carries
NUMBER = re.compile(r"\d{1,3}")
_COUNTED = re.compile(r"(\d{1,2}x)([^\W\d_]{3,})", re.IGNORECASE)
_MEASURED = re.compile(r"(\d{1,4})([^\W\d_]{2,4})")


def with_counts_apart(words: list[str], gaps: list[str], fillers: Collection[str]) -> tuple[list[str], list[str]]:
    """The words, a number of things apart from what they are: `4xtitan` is `4x titan`, `100шт` is `100 шт`."""
    for at in range(len(words) - 1, -1, -1):
        if not words[at][0].isdecimal():
            continue
        measured = _MEASURED.fullmatch(words[at])
        is_measured = measured is not None and letters_of([measured[2]]) in fillers
        if counted := measured if is_measured else _COUNTED.fullmatch(words[at]):
            words = [*words[:at], *counted.groups(), *words[at + 1 :]]
            gaps = [*gaps[: at + 1], "", *gaps[at + 1 :]]
    return words, gaps


def count_at(letters: Sequence[str], at: int) -> int:
    """How many the word there says: `10x`, `x10`, `10 x`; 0: it says no number of things."""
    if not (letters[at][:1].isdecimal() or letters[at][-1:].isdecimal()):
        return 0
    if count := _COUNT.fullmatch(letters[at]):
        return int(count[1] or count[2])
    is_times = "x" in (*letters[max(0, at - 1) : at], *letters[at + 1 : at + 2])
    return int(letters[at]) if is_times and NUMBER.fullmatch(letters[at]) else 0


def few_in(word: str, numerals: Numerals) -> int:
    """How many things on an item a number in digits or words says; 0: it says none, or more than an item carries."""
    count = int(word) if word.isdecimal() else numerals.value_of(word)
    return count if count <= MAX_FEW else 0


def is_count(letters: Sequence[str], gaps: Sequence[str], at: int, fillers: Collection[str]) -> bool:
    """Whether the word there only says how many, or which share; with a filler behind it, too: `2把`."""
    if letters[at] == "x":
        return any(map(NUMBER.fullmatch, (*letters[max(0, at - 1) : at], *letters[at + 1 : at + 2])))
    if not letters[at].isdecimal():
        return bool(count_at(letters, at) or _ORDINAL.fullmatch(letters[at]))
    if count_at(letters, at):
        return True
    gap = gaps[at + 1]
    return gap.startswith("%") or (not gap and any(each in fillers for each in letters[at + 1 : at + 2]))
