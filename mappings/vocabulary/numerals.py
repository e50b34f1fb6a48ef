"""Amounts that are written in words: `two hundred dollars`, `до двухсот`, `zweihundertfünfzig Euro`. Pure."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Any

UNSPACED_LETTERS = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # of scripts whose words follow without blanks
HUNDRED, THOUSAND, TEN_THOUSAND = 100, 1000, 10_000  # they multiply what stands before them
_SCALES = (HUNDRED, THOUSAND, TEN_THOUSAND)
_DIGITS = r"\d{1,4}(?:[.,]\d{1,2})?"
_GAP = r"(?:\s+|-|)"
_LETTER = rf"[^\W\d_{UNSPACED_LETTERS}]"  # of a script that has blanks between words


class Numerals:
    """The words for numbers: {value: spellings}; words of the value 0 (`and`) only join others.

    The values of words that follow each other are added, written together or not; hundreds, thousands and ten thousands
    multiply what stands before them, the latter two digits as well (`2 тысячи`; `50 cent` is no 5,000).
    """

    def __init__(self, spellings: Mapping[int, Sequence[str]]) -> None:
        self._values = {_plain(each): value for value, words in spellings.items() for each in words}

    def pattern(self, before: Iterable[str], after: Iterable[str]) -> re.Pattern[str] | None:
        """What finds numbers in words behind one of the patterns `before`, or in front of one of `after`."""
        if not self._values:
            return None
        numbers = any_of([each for each, value in self._values.items() if value])
        joining = [each for each, value in self._values.items() if not value]
        joiners = any_of(joining) if joining else "(?!)"
        scales = any_of([each for each, value in self._values.items() if value in _SCALES and value != HUNDRED])
        joined = rf"{_GAP}{joiners}{_GAP}(?={numbers})"
        word = rf"{numbers}(?=(?!{_LETTER})|{numbers}|{joiners}{numbers})"  # no other word goes on there
        run = rf"(?>(?:{_DIGITS}\s*(?={scales}))?{word}(?:(?:{joined}|{_GAP}){word})*)"
        start = rf"(?<![\d.,])(?<!{_LETTER})"
        bounded = rf"(?P<bound>{start}(?:{'|'.join(before)})\s*)(?P<bounded>{run})"
        counted = rf"{start}(?P<counted>{run})(?=\s*(?:{'|'.join(after)}))"
        return re.compile(rf"{bounded}|{counted}", re.IGNORECASE)

    def in_digits(self, text: str) -> str:
        """The numbers of a text of such words in digits: `ten and twenty-five` are two, `hundred and five` is one."""
        digits, number, between, end = "", _Number(), "", 0
        for piece in self._piece.finditer(text):
            value = Decimal(piece[0].replace(",", ".")) if piece[0][0].isdigit() else Decimal(self._value(piece[0]))
            between += text[end : piece.start()]
            end = piece.end()
            if not value:
                between += piece[0]
                continue
            if not number.takes(value, is_together=" " not in between):
                digits, number = f"{digits}{number}{between}", _Number()
            number.add(value)
            between = ""
        return f"{digits}{number}"

    @cached_property
    def _piece(self) -> re.Pattern[str]:
        return re.compile(rf"\d[\d.,]*|{any_of(self._values)}", re.IGNORECASE)

    def _value(self, word: str) -> int:
        return self._values[_plain(word)]


class _Number:
    """A number as its words are read."""

    def __init__(self) -> None:
        self._thousands = self._rest = self._last = Decimal(0)

    def takes(self, value: Decimal, *, is_together: bool) -> bool:
        """Whether the next word's value belongs to it: in `five and twenty` not, in `fünfundzwanzig` it does."""
        last = self._last
        if not last or value in _SCALES:
            return True
        if last < 10:
            return is_together and 20 <= value < HUNDRED
        return value < last and (value < 10 or last >= HUNDRED)

    def add(self, value: Decimal) -> None:
        """Adds the next word's value, or multiplies by it."""
        if value >= THOUSAND:
            self._thousands, self._rest = self._thousands + max(self._rest, Decimal(1)) * value, Decimal(0)
        elif value == HUNDRED:
            self._rest = max(self._rest, Decimal(1)) * value
        else:
            self._rest += value
        self._last = value

    def __str__(self) -> str:
        return f"{(self._thousands + self._rest).normalize():f}"


def any_of(spellings: Iterable[str], end_of: Callable[[str], str] = lambda _: "") -> str:
    """A pattern of all spellings by their common beginnings, the longest first, so that few are tried at each place.

    `end_of` gives what follows a spelling.
    """
    tree: dict[str, Any] = {}
    for spelling in spellings:
        node = tree
        for letter in spelling:
            node = node.setdefault(letter, {})
        node[""] = end_of(spelling)
    return _branches(tree)


def _branches(node: dict[str, Any]) -> str:
    longer = [
        (r"\s+" if letter == " " else re.escape(letter)) + _branches(rest) for letter, rest in node.items() if letter
    ]
    return "(?:" + "|".join([*longer, *([node[""]] if "" in node else ())]) + ")"


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
