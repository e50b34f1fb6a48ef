"""Writes the amounts of a text in digits: `under twenty dollars`, `a hundred bucks`, `sub-40`. Pure."""

import re

from api.search.parsing.quantities import OTHER_CURRENCY
from mappings.vocabulary.amounts import AmountMatch
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of

_NUMBER = re.compile(r"\d+")
_NUMBER_NEXT = re.compile(r"\s*[$€£]?\s*\d")
MAX_RANGES = 3  # of prices, of floats, and of what else a text may say
_WORD_BEFORE = re.compile(r"([^\W_]{1,12})[\s-]*$")
_YEAR_BEFORE = re.compile(r"(?<!\d)20[12]\d$")

_SUB = re.compile(r"(?<!\w)sub-(?=[\d$€£])", re.IGNORECASE)


def with_digits(text: str, vocabulary: Vocabulary) -> str:
    """The text with its amounts in digits and English; a numeral that is no amount (`player two`) stays."""
    text = vocabulary.amount_words.in_digits(text)
    if numbers := len(_NUMBER.findall(text)):
        if numbers > 1 and (ranges := vocabulary.amount_words.ranges) is not None:
            text = ranges.sub(lambda match: _range(match, vocabulary), text, count=MAX_RANGES)
        text = vocabulary.amount_words.in_english(text, _english)
    return _SUB.sub("sub ", text)


def _range(match: re.Match[str], vocabulary: Vocabulary) -> str:
    low, middle = match["low"], match["middle"]
    if not vocabulary.amount_words.is_range(match) or (middle.isascii() and low[-1:].isdigit()):
        return match.group()  # no blank between (`2a2f`)
    before = _WORD_BEFORE.search(match.string[: match.start()])
    if before is not None and vocabulary.is_known(letters_of([before[1], low.strip()])):
        return match.group()  # a name with a number (`ak 47 bis 100`)
    return f" between {low} - "


def _english(text: str, words: AmountMatch) -> str:
    if words.before:
        follows = text[: words.start][-1:].isalnum()
        return f"{' ' if follows else ''}{words.before} "
    if words.after.startswith(OTHER_CURRENCY) and _YEAR_BEFORE.search(text[: words.start]):
        return text[words.start : words.end]  # a year, and a team with such a name (`cologne 2015 tl`)
    phrase = f"{words.after} {words.bound}" if words.bound else words.after
    is_bound = phrase.endswith(("max", "min")) and _NUMBER_NEXT.match(text, words.end)
    return f" {phrase}, " if is_bound else f" {phrase} "  # `100 min, 200 max`, not `min 200`
