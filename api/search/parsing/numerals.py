"""Writes the amounts of a text in digits: `under twenty dollars`, `a hundred bucks`, `sub-40`. Pure."""

import re

from api.search.parsing.quantities import OTHER_CURRENCY
from mappings.vocabulary.vocabulary import Vocabulary

_NUMBER = re.compile(r"\d+")
MAX_RANGES = 3  # of prices, of floats, and of what else a text may say
_YEAR_BEFORE = re.compile(r"(?<!\d)20[12]\d$")

_TEENS = ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_VALUES = {
    **{word: value for value, word in enumerate((*_UNITS, *_TEENS))},
    **{word: (place + 2) * 10 for place, word in enumerate(_TENS)},
}
_SCALES = {"hundred": 100, "thousand": 1000, "grand": 1000}
_NUMERAL = rf"(?:{'|'.join((*_VALUES, *_SCALES))})"
_NUMERALS = rf"(?:an?\s+)?{_NUMERAL}(?:(?:\s+|-|(?<=hundred)\s+and\s+){_NUMERAL})*"
_BOUND = r"(?:under|below|sub|over|above|than|max|maximum|budget|within|up\s*to|most|least|between|from|and|to|min|of)"
_MONEY = r"(?:dollars?|bucks|usd|euros?|eur|pounds|gbp|cents?)"
_AMOUNT = re.compile(
    rf"(?<!\w)(?:(?P<bound>{_BOUND}\s+)(?P<bounded>{_NUMERALS})(?!\w)|(?P<counted>{_NUMERALS})(?=\s+{_MONEY}(?!\w)))",
    re.IGNORECASE,
)
_ANY = re.compile(_NUMERAL, re.IGNORECASE)
_SUB = re.compile(r"(?<!\w)sub-(?=[\d$€£])", re.IGNORECASE)


def with_digits(text: str, vocabulary: Vocabulary) -> str:
    """The text with its amounts in digits and English; a numeral that is no amount (`player two`) stays."""
    if (numbers := len(_NUMBER.findall(text))) and (pattern := vocabulary.amount_words.pattern) is not None:
        if numbers > 1 and (ranges := vocabulary.amount_words.ranges) is not None:
            text = ranges.sub(lambda match: _range(match, vocabulary), text, count=MAX_RANGES)
        text = pattern.sub(lambda match: _english(match, vocabulary), text)
    text = _SUB.sub("sub ", text)
    return _AMOUNT.sub(_in_digits, text) if _ANY.search(text) else text


def _range(match: re.Match[str], vocabulary: Vocabulary) -> str:
    return f" between {match['low']} - " if vocabulary.amount_words.is_range(match) else match.group()


def _english(match: re.Match[str], vocabulary: Vocabulary) -> str:
    words = vocabulary.amount_words.words
    if match["before"] is not None:
        follows = match.string[: match.start()][-1:].isalnum()
        return f"{' ' if follows else ''}{words[_blanks(match['before'])]} "
    word = words[_blanks(match["after"])]
    if word.startswith(OTHER_CURRENCY) and _YEAR_BEFORE.search(match.string[: match.start()]):
        return match.group()  # a year, and a team with such a name (`cologne 2015 tl`)
    return f" {word} "


def _blanks(text: str) -> str:
    return " ".join(text.lower().split())


def _in_digits(match: re.Match[str]) -> str:
    total = current = 0
    for word in re.findall(_NUMERAL, match["bounded"] or match["counted"], re.IGNORECASE):
        value = word.lower()
        if value in _VALUES:
            current += _VALUES[value]
        elif _SCALES[value] == 100:
            current = max(current, 1) * 100
        else:
            total, current = total + max(current, 1) * 1000, 0
    return f"{match['bound'] or ''}{total + current}"
