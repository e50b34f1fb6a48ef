"""How other languages write the words beside an amount. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

from mappings.vocabulary.numerals import UNSPACED_LETTERS, Numerals, any_of, spelling_of
from mappings.vocabulary.words import words_of

UNSPACED = re.compile(rf"[{UNSPACED_LETTERS}]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_UNIT = r"[^\W\d_]{1,12}"  # of an amount, in whatever language
_AMOUNT = re.compile(rf"\d\s*(?:{_UNIT})?\s*$")
_BOUNDS = ("under", "over", "max", "min")
MAX_WORDS = 60  # letters of the words before an amount
_BEFORE = ("under", "over", "float", "pattern")  # what stands before amounts alone
_ENGLISH_BOUND = (
    r"(?:under|below|sub|over|above|than|max|maximum|budget|within|up\s*to|most|least|between|from|and|to|min|of)(?!\w)"
)
_ENGLISH_MONEY = r"(?:dollars?|bucks|usd|euros?|eur|pounds|gbp|cents?)(?!\w)"


class AmountWords:
    """What a vocabulary's words beside amounts are in English, and what finds them.

    `ranges` are written as `zwischen … und`, or `… ile … arası`: an amount stands at each `…`, and behind the words.
    `numerals` are the words of amounts themselves.
    """

    def __init__(
        self,
        amounts: Mapping[str, Sequence[str]],
        ranges: Sequence[str],
        numerals: Mapping[int, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        self.numerals = Numerals(numerals)
        pairs = [(spelling.lower(), word) for word, spellings in amounts.items() for spelling in spellings]
        self.words = dict(sorted(pairs, key=lambda pair: -len(pair[0])))
        self._ranges = {tuple(spelling_of(part) for part in f"{each}…".split("…")[:3]) for each in ranges}

    @cached_property
    def pattern(self) -> re.Pattern[str] | None:
        """What finds these words before and behind an amount, the longest that fits.

        Bounds and `pattern` may follow the name at once in a script without blanks (`刀低于500`). Its units of one
        letter stand behind amounts alone (`刀 100` is a knife).
        """
        if not self.words:
            return None
        spelt = _any_of(self.words)
        following = [each for each, word in self.words.items() if word in (*_BOUNDS, *_BEFORE)]
        unspaced = [each for each in following if len(each) > 1 and _may_follow(each)]
        start = rf"(?:(?<![^\W\d_])|(?={_any_of(unspaced)}))" if unspaced else r"(?<![^\W\d_])"
        trailing_bounds = [each for each, word in self.words.items() if word in ("max", "min")]
        bound_after = _any_of(trailing_bounds or ["\0"])
        bound_at_once = _any_of([each for each in trailing_bounds if UNSPACED.match(each)] or ["\0"])
        preceding = _any_of([each for each in self.words if len(each) > 1 or not UNSPACED.match(each)])
        before = rf"(?!(?<=\d){bound_at_once}){start}(?P<before>{preceding})\s*(?=(?:between\s+)?{self._sign}?\s*\d)"
        amount = r"(?:(?<=\d)|(?<=\d[k$€£])|(?<=\d\s[$€£]))"
        after = rf"{amount}\s*(?P<after>{spelt})(?:\s*(?P<bound>{bound_after}))?(?![a-z])"
        return re.compile(f"{before}|{after}", re.IGNORECASE)

    def in_digits(self, text: str) -> str:
        """The text with amounts in words in digits: behind a bound, or in front of a unit."""
        return self.numerals.in_digits(text, self._is_amount)

    def make_tables(self) -> None:
        """Makes every table that reading a text needs."""
        _ = (self.pattern, self.ranges, self.numerals.pattern, self._bound, self._amount_unit)

    def _is_amount(self, before: str, rest: str) -> bool:
        words = before[-MAX_WORDS:]
        bound = self._bound.search(words)
        is_bound = bound is not None and not self._ends_amount(words[: bound.start()], bound.group())
        return is_bound or bool(self._amount_unit.match(rest))

    def _ends_amount(self, before: str, bound: str) -> bool:
        """Whether the bound is of the amount before it, so that what follows is no amount (`20刀以下 二西莫夫`)."""
        return self.words.get(spelling_of(bound), "") in ("max", "min") and bool(_AMOUNT.search(before))

    @cached_property
    def _bound(self) -> re.Pattern[str]:
        """What ends with a bound."""
        first = [words[0] for words in self._ranges if words[0]]
        bounds = [*(each for each, word in self.words.items() if word in _BOUNDS), *first]
        return re.compile(
            rf"(?<![^\W\d_{UNSPACED_LETTERS}])(?:{'|'.join([_ENGLISH_BOUND, *_patterns(bounds)])})\s*$", re.IGNORECASE
        )

    @cached_property
    def _amount_unit(self) -> re.Pattern[str]:
        """What begins with a unit, or a bound that stands behind an amount."""
        units = [each for each, word in self.words.items() if not word.startswith(_BEFORE)]
        return re.compile(rf"\s*(?:{'|'.join([_ENGLISH_MONEY, *_patterns(units)])})", re.IGNORECASE)

    def is_range(self, match: re.Match[str]) -> bool:
        """Whether the words that `ranges` found beside an amount belong together."""
        first, middle, last = (spelling_of(match[name] or "") for name in ("first", "middle", "last"))
        return any((before, middle, after) in self._ranges for before in {first, ""} for after in {last, ""})

    @cached_property
    def ranges(self) -> re.Pattern[str] | None:
        """What finds the first amount of a range with the words beside it."""
        if not self._ranges:
            return None
        first, middle, last = (_words(filter(None, words)) for words in zip(*self._ranges, strict=True))
        number, unit = rf"{self._sign}?\s*\d[\d.,]*k?\s*", rf"(?:[$€£]|{_UNIT})?"
        before = rf"(?:(?P<first>{first})\s*)?(?<![\d.,a-zа-яё])(?P<low>{number}{unit}?)\s*(?P<middle>{middle})"
        return re.compile(rf"{before}(?=\s*{number}{unit}\s*(?P<last>{last})?)", re.IGNORECASE)

    @cached_property
    def _sign(self) -> str:
        signs = "|".join(re.escape(each) for each in self.words if not words_of(each))
        return rf"(?:R?\$|[€£]{'|' if signs else ''}{signs})"


def _words(spellings: Iterable[str]) -> str:
    """A pattern of whole words; a script that has no blanks between words may go on with one."""
    spelt = list(spellings)
    unspaced = [each for each in spelt if UNSPACED.match(each)]
    spaced = [each for each in spelt if each not in unspaced]
    return "|".join(rf"{start}{_any_of(each)}" for start, each in ((r"(?<![^\W\d_])", spaced), ("", unspaced)) if each)


def _may_follow(spelling: str) -> bool:
    return bool(UNSPACED.match(spelling)) and not _HANGUL.match(spelling)


def _patterns(spellings: Sequence[str]) -> list[str]:
    return [_any_of(spellings)] if spellings else []


def _any_of(spellings: Iterable[str]) -> str:
    return any_of(spellings, _end_of)


def _end_of(spelling: str) -> str:
    """What ends the spelling: its script parts words by blanks, or may go on at once.

    Korean words have blanks between them, so behind one a single letter that goes on is of another (`553 불도저`).
    """
    if not UNSPACED.search(spelling):
        return r"(?![^\W\d_])"
    is_letter = len(spelling) == 1 and _HANGUL.search(spelling)
    return rf"(?!(?<=\s{spelling}){_HANGUL.pattern})" if is_letter else ""
