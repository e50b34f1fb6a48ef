"""Writes the amounts of a text in digits: `under twenty dollars`, `a hundred bucks`, `sub-40`. Pure."""

import re
from collections.abc import Callable
from functools import partial

from api.search.parsing.quantities import ASKING_PRICE, OTHER_CURRENCY
from mappings.vocabulary.amounts import CURRENCY_WORDS, ENGLISH_MONEY, AmountMatch
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of, letters_of_text

_NUMBER = re.compile(r"\d+")
_NUMBER_LAST = re.compile(r"\d+$")
_NUMBER_NEXT = re.compile(r"\s*[$€£]?\s*\d")
_LEADING = {"<max": "under", ">min": "over"}  # bounds that exclude their number, before it
MAX_RANGES = 3  # of prices, of floats, and of what else a text may say
_WORD_BEFORE = re.compile(r"([^\W_]{1,12})[\s-]*$")
_YEAR_BEFORE = re.compile(r"(?<!\d)20[12]\d$")

_OF_UNIT = re.compile(rf"(?<!\w)(?P<half>half\s+)?an?\s+(?=(?:{CURRENCY_WORDS}|cent)(?!\w))", re.IGNORECASE)
_CYRILLIC_K = re.compile(r"(?<=\d)[кК](?!\w)")  # `100к` is 100k
# thousands apart (`2 000`) behind a bound or a sign: elsewhere the first number may be of a name (`glock 18 500$`)
_GROUPED = re.compile(
    r"((?:(?<!\w)(?:under|over|most|least|max|min|between|from|to)\s|[-<>$€£]|¤[A-Z]{3})\s*)"
    r"([1-9]\d{0,2})\s(\d00|\d{3}(?=\s*(?:[$€£¤]|usd|eur)))(?!\w|[.,]\d)",
    re.IGNORECASE,
)
# `10 keys @ 0.40`, `@ 0.40 each = $4 total`
_ASKED_EACH = re.compile(r"(?<![\w.])(?:@\s*(?=[$€£]?\s*\d)|=\s*(?=[$€£]?\s*\d[\d.,]*\s*total))")
# An asked price is no bound in whatever currency: `b/o $14`, `95$ b/o`. The word is said of the amount behind it if it
# has one, and of no float (`0.15 b/o 50`).
_ASKED = re.compile(
    rf"(?P<before>{ASKING_PRICE}\s*)?(?:[$€£]\s*)?(?<![\w.,])(?(before)|(?!0[.,]))(?P<amount>\d(?:[\d.,]*\d)?k?)"
    rf"(?:\s*(?:[$€£]|(?:{CURRENCY_WORDS})(?!\w)))?"
    rf"(?P<after>[\s,]*{ASKING_PRICE}(?!\s*[$€£]?\s*\d[\d.,]*+k?(?![\s,]*{ASKING_PRICE})))?",
    re.IGNORECASE,
)
# from the first to the last (`phase 1-4`), or each of them (`phase 1, 2 and 4`, `p2/4`)
_AND = (
    r"(?:\s?[,/&+\u3001\uff0c\u3068\u548c]\s?"
    r"|\s(?:(?:and|or|n|und|oder|y|o|et|ou|e|i|lub|oraz|и|или|та|або|і|й|ve|veya)\s)?)"
)
_NUMBERED = re.compile(
    r"(?<!\w)(?P<word>[^\W\d_]{1,12}\s?)(?P<first>[1-9])"
    rf"(?:\s?[-\u2013]\s?(?P<last>[1-9])(?![.,])|(?P<others>(?:{_AND}[1-9](?![a-zA-Z\d]))+)(?![.,]\d))(?![a-zA-Z\d]|\s*[$€£])"
)
_LETTERS_LAST, _LETTERS_NEXT = re.compile(r"[a-zA-Z0-9]+$"), re.compile(r"[a-zA-Z0-9]+")
_NICKNAME = re.compile(r"(?P<before>[a-zA-Z]{1,2})\d[a-zA-Z]{2,}")
_SUB = re.compile(r"(?<!\w)sub-(?=[\d$€£])", re.IGNORECASE)


# a number with a point, said digit by digit: `zero point zero two`, `point oh seven`
_SAID_DIGITS = {
    word: str(digit)
    for digit, word in enumerate(("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"))
}
_SAID_DIGITS |= {"oh": "0", "o": "0"}
_DIGIT = "|".join(_SAID_DIGITS)
_POINT = re.compile(
    rf"(?<!\w)(?:(?P<before>{_DIGIT})\s+)?point(?P<digits>(?:\s+(?:{_DIGIT})(?!\w)){{1,6}})", re.IGNORECASE
)


def with_digits(text: str, vocabulary: Vocabulary) -> str:
    """The text with its amounts in digits and English; a numeral that is no amount (`player two`) stays."""
    is_name = partial(_ends_with_name, vocabulary=vocabulary)
    text = _numerals_in_digits(text, is_name, vocabulary)
    if numbers := len(_NUMBER.findall(text)):
        if numbers > 1 and (ranges := vocabulary.amount_words.ranges.pattern) is not None:
            text = ranges.sub(_Ranges(vocabulary), text)
        text = vocabulary.amount_words.in_english(text, partial(_english, vocabulary=vocabulary), is_name)
        text = _several_in_digits(text, vocabulary) if numbers > 1 else text
        text = _SUB.sub("sub ", text) if "-" in text else text
    return _with_asked(text) if "@" in text or ASKING_PRICE in text else text


def _several_in_digits(text: str, vocabulary: Vocabulary) -> str:
    """The text, thousands joined (`2 000`), and each name that has one of several numbers written out."""
    return _NUMBERED.sub(partial(_each_numbered, vocabulary=vocabulary), _GROUPED.sub(r"\1\2\3", text))


def _numerals_in_digits(text: str, is_name: Callable[[str], bool], vocabulary: Vocabulary) -> str:
    text = _OF_UNIT.sub(lambda match: "0.5 " if match["half"] else "1 ", text)
    text = vocabulary.amount_words.in_digits(
        _POINT.sub(_number_said, text), is_name, partial(_is_word, vocabulary=vocabulary)
    )
    return _CYRILLIC_K.sub("k", text)


def _number_said(match: re.Match[str]) -> str:
    before = (match["before"] or "zero").lower()
    return f"{_SAID_DIGITS[before]}.{''.join(_SAID_DIGITS[word.lower()] for word in match['digits'].split())}"


def _with_asked(text: str) -> str:
    """The text, each asked price as an amount of no currency."""
    return _ASKED.sub(_without_currency, _ASKED_EACH.sub(f" {ASKING_PRICE} ", text))


def _without_currency(match: re.Match[str]) -> str:
    is_asked = match["before"] or match["after"]
    return f" {match['amount']} {ASKING_PRICE} " if is_asked else match.group()


class _Ranges:
    """What writes the first ranges of a text in English."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._left = MAX_RANGES

    def __call__(self, match: re.Match[str]) -> str:
        range_ = _range(match, self._vocabulary) if self._left else ""
        self._left -= bool(range_)
        return range_ or match.group()


def _range(match: re.Match[str], vocabulary: Vocabulary) -> str:
    """The first amount of a range in English; empty where it is none."""
    low, middle = match["low"], match["middle"][:1]
    if low[-1:].isdigit() and middle.isascii() and middle.isalpha():
        return ""  # no blank between (`2a2f`)
    if not vocabulary.amount_words.ranges.is_range(match):
        return ""
    number, unit = _number_and_unit(low)
    if unit and not (vocabulary.amount_words.has(unit) or ENGLISH_MONEY.match(unit)):
        return ""  # no amount (`phase 4 bayonet bis 500`, `661 pattern bis 500`)
    if _ends_with_name(f"{match.string[: match.start()]}{number}", vocabulary):
        return ""
    return f" between {low} - "


def _each_numbered(match: re.Match[str], vocabulary: Vocabulary) -> str:
    """The names with these numbers where all are known (`phase 1-4`, `phase 1, 2`), as alternatives."""
    numbers = [*range(int(match["first"]), int(match["last"] or 0) + 1)]
    numbers = numbers or [*map(int, _NUMBER.findall(match.group()))]
    names = [letters_of([match["word"].strip(), str(number)]) for number in numbers]
    if not all(name in vocabulary.entries for name in names):
        return match.group()
    return "/".join(f"{match['word']}{number}" for number in numbers) or match.group()


def _ends_with_name(text: str, vocabulary: Vocabulary) -> bool:
    """Whether it ends with a name with a number (`ak 47 bis 100`)."""
    number = _NUMBER_LAST.search(text)
    before = _WORD_BEFORE.search(text[: number.start()]) if number is not None else None
    return number is not None and before is not None and vocabulary.is_known(letters_of([before[1], number.group()]))


def _is_word(word: str, vocabulary: Vocabulary) -> bool:
    letters = letters_of_text(word)
    return letters in vocabulary.entries or letters in vocabulary.ignored


def _number_and_unit(amount: str) -> tuple[str, str]:
    """The digits of an amount, and what stands behind them but for signs and `k`."""
    end = max((match.end() for match in _NUMBER.finditer(amount)), default=0)
    return amount[:end].strip(), amount[end:].lower().removeprefix("k").strip(" \t$€£")


def _is_of_nickname(text: str, words: AmountMatch, vocabulary: Vocabulary) -> bool:
    """Whether what may be a currency is of a name with a digit in it: `z4kr`, `gr1ks`, but not `do5zl` (up to 5 zł)."""
    if not (words.before or words.after).startswith(OTHER_CURRENCY):
        return False
    start, end = _LETTERS_LAST.search(text, 0, words.start), _LETTERS_NEXT.match(text, words.start)
    nickname = _NICKNAME.fullmatch((start[0] if start else "") + (end[0] if end else ""))
    return nickname is not None and (bool(words.before) or not vocabulary.amount_words.has(nickname["before"]))


def _english(text: str, words: AmountMatch, vocabulary: Vocabulary) -> str:
    if _is_of_nickname(text, words, vocabulary):
        return text[words.start : words.end]
    if words.before:
        follows = text[: words.start][-1:].isalnum()
        return f"{' ' if follows else ''}{words.before} "
    if words.is_of_next:
        return f" {words.after}, {_LEADING.get(words.bound, words.bound)} "
    if words.after.startswith(OTHER_CURRENCY) and _YEAR_BEFORE.search(text[: words.start]):
        return text[words.start : words.end]  # a year, and a team with such a name (`cologne 2015 tl`)
    phrase = f"{words.after} {words.bound}" if words.bound else words.after
    is_bound = phrase.endswith(("max", "min")) and _NUMBER_NEXT.match(text, words.end)
    return f" {phrase}, " if is_bound else f" {phrase} "  # `100 min, 200 max`, not `min 200`
