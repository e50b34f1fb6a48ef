"""How other languages write the words beside an amount. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from mappings.vocabulary.misspellings import MisspeltWords
from mappings.vocabulary.numerals import (
    UNSPACED,
    UNSPACED_LETTERS,
    Numerals,
    pattern_of_words,
    small_letters,
    spelling_of,
    spellings_of,
)
from mappings.vocabulary.ranges import UNIT, Ranges
from mappings.vocabulary.words import words_of

_HANGUL = re.compile(r"[\uac00-\ud7af]")
_AMOUNT = re.compile(rf"\d\s*(?:{UNIT})?\s*$")
TRAILING_BOUNDS = ("max", "min", "<max", ">min")  # behind an amount; the latter two exclude it
_LEADING_BOUNDS = ("under", "over", "at most", "at least", "max", "min")
_OR = "or"  # between two numbers (`seed 387 oder 179`)
_ABOUT = "about"  # on either side of an amount
_AFTER_UNIT = "unit "  # before a bound that stands behind a unit alone (`dolardan ucuz`)
_BOUNDS_AFTER = (*TRAILING_BOUNDS, "or less", "or more", _ABOUT)
_BOUNDS = (*_LEADING_BOUNDS, "<max", ">min")
MAX_WORDS = 60  # letters of the words before an amount
_BEFORE = (*_LEADING_BOUNDS[:4], "float", "pattern")  # what stands before amounts alone
_ENGLISH_BOUND = re.compile(
    rf"(?<![^\W\d_{UNSPACED_LETTERS}])(?:under|below|sub|over|above|than|max|maximum|budget|within|up\s*to|most|least|between|from|and|to|min"
    r"|around|about|roughly|approximately"
    r"|(?:limit|cap|ceiling|budget|max|maximum|most)\s+of)\s*$",
    re.IGNORECASE,
)
# English words of currencies, which a text may have beside an amount in any language
CURRENCIES = {
    "USD": ("usd", "dollar", "dollars", "buck", "bucks"),
    "EUR": ("eur", "euro", "euros"),
    "GBP": ("gbp", "pound", "pounds"),
}
CURRENCY_WORDS = "|".join(word for words in CURRENCIES.values() for word in words)
ENGLISH_UNITS = (*CURRENCY_WORDS.split("|"), "cents", "cent")
_ENGLISH_WORDS = "under below over above maximum minimum more less than most least between"
ENGLISH_MONEY = re.compile(rf"\s*(?:{'|'.join(ENGLISH_UNITS)})(?!\w)", re.IGNORECASE)
_SPACED_LETTER = re.compile(rf"[^\W\d_{UNSPACED_LETTERS}]")
_ENDS_AMOUNT = frozenset("k$€£")
_BEFORE_ALONE = _LEADING_BOUNDS[:4]  # bounds that no amount has behind it
_BOUND_BEFORE = re.compile(r"(?<!\w)(?:under|below|over|above|max|maximum|min|minimum|most|least)\s*$", re.IGNORECASE)
_ENGLISH_BOUND_AFTER = re.compile(
    rf"(?:(?:{'|'.join(CURRENCIES).lower()})\s+)?(?:max|min)(?!\w)"
)  # as amounts are written here
_BOUND_OF_NUMERAL = re.compile(
    r"\s*(?:max(?:imum)?|tops|at\s+(?:the\s+)?most|or\s+(?:less|under|cheaper))(?![^\W_])(?!\s*[$€£]?\s*\d)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[$€£]?\s*\d[\d.,]*k?", re.IGNORECASE)
_LAST_NUMBER = re.compile(r"(?P<letter>[^\W\d_](?=\d))?(?:[$€£]\s*)?\d[\d.,]*k?\s*[$€£]?$", re.IGNORECASE)
# where an amount ends, with what may stand between its digits and a word
_AMOUNT_END = re.compile(r"(?<=\d)|(?<=\d[k$€£])|(?<=\d\s[$€£])", re.IGNORECASE)


@dataclass(frozen=True)
class AmountMatch:
    """Words beside an amount in English: those before it, or those behind it with a bound.

    `is_of_next`: the bound is of the next amount.
    """

    start: int
    end: int
    before: str = ""
    after: str = ""
    bound: str = ""
    is_of_next: bool = False


class _Spelling(NamedTuple):
    """A spelling: its word in English, and what may stand beside it."""

    word: str
    is_name: bool  # of one letter in a script without blanks, so it stands behind amounts alone
    is_after: bool  # a unit with a bound, which stand behind amounts alone (`円以上`)
    may_follow: bool  # a name at once (`刀低于500`)
    is_at_once: bool  # a bound right behind digits
    ends_word: bool  # no letter goes on
    ends_syllable: bool  # no syllable of Hangul goes on where a blank stands before


class AmountWords:
    """What a vocabulary's words beside amounts are in English, and what finds them.

    `prices` are amounts with their unit in words, which stand beside a bound: `under доллара`.
    `numerals` are the words of amounts themselves.
    """

    def __init__(
        self,
        amounts: Mapping[str, Sequence[str]],
        prices: Mapping[str, Sequence[str]],
        ranges: Sequence[str],
        numerals: Mapping[int, Sequence[str]],
    ) -> None:
        self.numerals = Numerals(numerals)
        self._words = {each: each for each in ENGLISH_UNITS}
        self._words |= _spelt(amounts)
        self._prices = _spelt(prices)
        self.ranges = Ranges(ranges, self._sign)

    def in_english(
        self, text: str, english_of: Callable[[str, AmountMatch], str], is_name: Callable[[str], bool]
    ) -> str:
        """The text with the words before and behind its amounts, the longest that fit, as `english_of` writes them.

        `is_name` tells whether a text ends with a name with a number (`ak 47`), which has no bound behind it.

        Bounds and `pattern` may follow the name at once in a script without blanks (`刀低于500`). Its units of one
        letter stand behind amounts alone (`刀 100` is a knife).
        """
        english, end, at = "", 0, 0
        bound_at = -1  # where the last amount begins that has a bound before it

        def is_taken(at: int) -> bool:
            return _has_bound(text, at, bound_at, end) or is_name(text[max(0, at - MAX_WORDS) : at])

        letters = small_letters(text)
        while at < len(text):
            is_inside = at and letters[at].isascii() and letters[at - 1].isalpha()  # of a word
            match = None if is_inside or letters[at] not in self._beginnings else self._before(text, letters, at)
            if match is None and at and (letters[at - 1] in _ENDS_AMOUNT or letters[at - 1].isdecimal()):
                match = self._after(text, letters, at, is_taken, is_name)
            if match is None:
                at += 1
                continue
            english += text[end : match.start] + english_of(text, match)
            at = end = match.end
            has_bound = match.is_of_next or match.before.endswith(_LEADING_BOUNDS)
            bound_at = _end_of_blanks(text, end) if has_bound else bound_at
        return english + text[end:]

    def in_digits(self, text: str, is_name: Callable[[str], bool], is_word: Callable[[str], bool]) -> str:
        """The text with amounts in words in digits: behind a bound, or in front of a unit; see `Numerals.in_digits`."""
        if self._prices and self._price.search(text):
            text = self._price.sub(self._price_in_digits, text)
        return self.numerals.in_digits(text, self._is_amount, is_name, is_word, self.ranges.middles)

    def _price_in_digits(self, match: re.Match[str]) -> str:
        before, rest = match.string[: match.start()], match.string[match.end() :]
        amount = self._prices[spelling_of(match.group())]
        if amount.startswith("1 ") and not self._is_alone(before, match.group()):
            is_price = self._is_bound(before[-MAX_WORDS:])
        else:
            is_price = self._is_amount(before, "", rest)
        return f" {amount} " if is_price else match.group()

    def _is_alone(self, before: str, words: str) -> bool:
        """Whether words for one of a unit say the one (`한 달러`), with no numeral before it (`스물한 달러`)."""
        if UNSPACED.match(before[-1:]) or self.numerals.value_of("".join(before.split()[-1:])):
            return False
        return " " in words or bool(UNSPACED.match(words))

    def has(self, word: str) -> bool:
        return spelling_of(word) in self._words

    def make_tables(self) -> None:
        _ = (self._beginnings, self._bound_letters, self._amount_next, self._price, self.misspelt)
        _ = (self.ranges.pattern, self.numerals.pattern, self.numerals.beginning)

    def _before(self, text: str, letters: str, at: int) -> AmountMatch | None:
        """The words there that stand before an amount."""
        spellings = self._spellings_at(letters, at)
        if not spellings:
            return None
        if at and _is_letter(text[at - 1]) and not any(spelling.may_follow for _, spelling in spellings):
            return None
        if at and text[at - 1].isdecimal() and any(spelling.is_at_once for _, spelling in spellings):
            return None
        for end, spelling in spellings:
            amount = None if spelling.is_name or spelling.is_after else self._amount_at(text, letters, end)
            if amount is not None and not (
                spelling.is_at_once and self._has_trailing_bound(text, letters, amount.end())
            ):
                return AmountMatch(at, amount.end(), before=spelling.word)
        return self._float_bound(text, letters, at, spellings)

    def _amount_at(self, text: str, letters: str, at: int) -> re.Match[str] | None:
        """The beginning of the amount there, also behind a word such as `about` (`unter etwa 50`)."""
        ends = (end for end, each in self._spellings_at(letters, _end_of_blanks(text, at)) if each.word == _ABOUT)
        return next(filter(None, (self._amount_next.match(text, end) for end in (at, *ends))), None)

    def _has_trailing_bound(self, text: str, letters: str, at: int) -> bool:
        """Whether the amount there has a bound of its own: in `FT以上で300ドル以内` the first is of FT."""
        number = _NUMBER.match(text, at)
        start = at if number is None else _end_of_blanks(text, number.end())
        return bool(_ENGLISH_BOUND_AFTER.match(text, start)) or any(
            spelling.is_after
            or spelling.is_at_once
            or any(bound.is_at_once for _, bound in self._spellings_at(letters, _end_of_blanks(text, end)))
            for end, spelling in self._spellings_at(letters, start)
        )

    def _float_bound(
        self, text: str, letters: str, at: int, spellings: Sequence[tuple[int, _Spelling]]
    ) -> AmountMatch | None:
        """The word for a float there with a bound behind it, before an amount (`磨损小于0.07`)."""
        for end in [end for end, spelling in spellings if spelling.word == "float"]:
            for bound_end, bound in self._spellings_at(letters, _end_of_blanks(text, end)):
                amount = self._amount_next.match(text, bound_end) if bound.word in _LEADING_BOUNDS else None
                if amount is not None:
                    return AmountMatch(at, amount.end(), before=f"float {bound.word}")
        return None

    def _after(
        self, text: str, letters: str, at: int, is_taken: Callable[[int], bool], is_name: Callable[[str], bool]
    ) -> AmountMatch | None:
        """The words behind the amount which ends there; `is_taken` tells whether it can have no bound behind it."""
        if not _AMOUNT_END.match(text, at):
            return None
        start = _end_of_blanks(text, at)
        for end, spelling in self._spellings_at(letters, start):
            if spelling.word.startswith(_BEFORE_ALONE):
                continue  # of no amount (`MP9 最便宜`), or of the next one
            if spelling.word == _OR and not self._amount_next.match(text, end):
                continue
            is_of_word = _is_letter(text[end : end + 1])
            if is_of_word and spelling.word in TRAILING_BOUNDS and is_taken(at):
                continue  # the beginning of another word (`P250 超新星`)
            may_be_amount = spelling.word in (_OR, *ENGLISH_UNITS) and not is_of_word  # `ump 45 dollars`
            is_of_next = spelling.word != _ABOUT and self._amount_next.match(text, end)
            if not (may_be_amount or is_of_next) and is_name(text[max(0, at - MAX_WORDS) : at]):
                continue  # `ak 47 or so`, `P90 美杜莎`, `ump-45 złoty bizmut`
            bounds = self._spellings_at(letters, _end_of_blanks(text, end), after_unit=spelling.word not in _BOUNDS)
            words = ((to, each.word.removeprefix(_AFTER_UNIT)) for to, each in bounds)
            bound_end, bound = next(((to, word) for to, word in words if word in _BOUNDS_AFTER), (end, ""))
            unit, _, last = spelling.word.rpartition(" ") if spelling.is_after else (spelling.word, "", bound)
            if spelling.word in TRAILING_BOUNDS:
                unit, last = "", spelling.word
            if last and self._may_be_of_next(text, at, bound_end) and is_taken(at):
                return AmountMatch(at, bound_end, after=unit, bound=last, is_of_next=True)
            return AmountMatch(at, bound_end, after=spelling.word, bound=bound)
        return None

    def _may_be_of_next(self, text: str, at: int, end: int) -> bool:
        """Whether a bound between two amounts may be of the next; scripts without blanks have them behind amounts."""
        return self._amount_next.match(text, end) is not None and not UNSPACED.search(text, at, end)

    def _spellings_at(self, letters: str, at: int, *, after_unit: bool = False) -> Sequence[tuple[int, _Spelling]]:
        """The spellings that begin there with their ends, the longest first."""
        spellings: list[tuple[int, _Spelling]] = []
        beginning, end, last = "", at, len(letters)
        while end < last:
            letter = letters[end]
            is_blank = letter.isspace()
            beginning += " " if is_blank else letter
            if beginning not in self._beginnings:
                break
            end += 1
            if is_blank:
                end = _end_of_blanks(letters, end)
                continue
            spelling = self._beginnings[beginning]
            if spelling is None or (spelling.word.startswith(_AFTER_UNIT) and not after_unit):
                continue
            if _ends(spelling, letters, at, end):
                spellings.append((end, spelling))
        spellings.reverse()
        return spellings

    @cached_property
    def _beginnings(self) -> dict[str, _Spelling | None]:
        """All that spellings begin with, and the spellings."""
        beginnings: dict[str, _Spelling | None] = {}
        for spelling, word in self._words.items():
            letters = small_letters(spelling)
            for length in range(1, len(letters)):
                beginnings.setdefault(letters[:length], None)
            beginnings[letters] = _spelling(spelling, word)
        return beginnings

    @cached_property
    def _price(self) -> re.Pattern[str]:
        """What finds amounts with their unit in words, no other number beside them."""
        return re.compile(rf"(?<!\d)(?<!\d\s)(?:{pattern_of_words(self._prices)})(?!\s*[.,]?\d)", re.IGNORECASE)

    @cached_property
    def _amount_next(self) -> re.Pattern[str]:
        """What stands between a word and its amount, which is no `1st` or `5%`."""
        return re.compile(rf"\s*(?=(?:between\s+)?{self._sign}?\s*\d)(?!\s*\d+(?:st|nd|rd|th|%)(?!\w))", re.IGNORECASE)

    @cached_property
    def _sign_last(self) -> re.Pattern[str]:
        """A currency sign that an amount stands behind (`$2 thousand`)."""
        return re.compile(rf"(?<!\w){self._sign}\s*$", re.IGNORECASE)

    def _is_amount(self, before: str, numeral: str, rest: str) -> bool:
        """Whether a numeral is an amount: it stands behind a bound, or in front of a unit or of a bound of its own."""
        spellings = self._spellings_at(small_letters(f"{numeral}{rest}"), 0) if numeral else ()
        if any(end > len(numeral) and self._amount_next.match(f"{numeral}{rest}", end) for end, _ in spellings):
            return False  # `um die 100`
        following = self._spellings_at(small_letters(rest), _end_of_blanks(rest, 0))
        if any(each.word in (*_BOUNDS, _ABOUT) and self._amount_next.match(rest, end) for end, each in following):
            return False  # `un massimo di 50$`
        has_sign = numeral[:1].isdecimal() and self._sign_last.search(before)
        if has_sign or self._is_bound(before[-MAX_WORDS:]) or ENGLISH_MONEY.match(rest):
            return True
        if _BOUND_OF_NUMERAL.match(rest) and not _AMOUNT.search(before[-MAX_WORDS:]):
            return True  # `two hundred max`, but not `20 dollars grand max`
        return any(not each.word.startswith(_BEFORE) for _, each in following)

    def _is_bound(self, words: str) -> bool:
        """Whether the words end with a bound that is not one of the amount before it (`20刀以下 二西莫夫`)."""
        letters, last = small_letters(words), len(words.rstrip())
        english = _ENGLISH_BOUND.search(words)
        for at in range(last if english is None else english.start() + 1):
            is_english = english is not None and at == english.start()
            if not is_english and (
                letters[at] not in self._bound_letters or (at and _SPACED_LETTER.match(words[at - 1]))
            ):
                continue
            ending = (each.word for end, each in self._spellings_at(letters, at) if end == last)
            word = next((word for word in ending if word in (*_BOUNDS, _ABOUT)), "")
            beside = spelling_of(letters[at:last])
            if beside in self.ranges.unspaced_middles and _AMOUNT.search(words[:at]):
                return True  # `3000到1万`
            if is_english or word or beside in self.ranges.beginnings:
                return not (word in TRAILING_BOUNDS and _AMOUNT.search(words[:at]))
        return False

    @cached_property
    def misspelt(self) -> MisspeltWords:
        return MisspeltWords(words_of(" ".join((*self._words, _ENGLISH_WORDS))))

    @cached_property
    def _bound_letters(self) -> frozenset[str]:
        """The letters that bounds, and the words before a range, begin with."""
        words = (*self._words, *self.ranges.beginnings, *self.ranges.unspaced_middles)
        return frozenset(small_letters(each)[0] for each in words)

    @cached_property
    def _sign(self) -> str:
        signs = "|".join(re.escape(each) for each in self._words if not words_of(each))
        return rf"(?:R?\$|[€£]|(?:usd|eur|gbp)(?!\w){'|' if signs else ''}{signs})"


def _spelt(words: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The word of each spelling; one with accents goes before another that only lacks them."""
    pairs = [(spelling_of(each), each, word) for word, spellings in words.items() for each in spellings]
    plain = {other: word for _, each, word in pairs for other in spellings_of(each)}
    return plain | {spelling: word for spelling, _, word in pairs}


def _spelling(spelling: str, word: str) -> _Spelling:
    is_unspaced = bool(UNSPACED.match(spelling))
    may_follow = is_unspaced and len(spelling) > 1 and word in (*_BOUNDS, *_BEFORE) and not _HANGUL.match(spelling)
    has_unspaced = bool(UNSPACED.search(spelling))
    return _Spelling(
        word,
        is_name=is_unspaced and len(spelling) == 1,
        is_after=word.endswith(TRAILING_BOUNDS) and word not in _BOUNDS and not word.startswith("float"),
        may_follow=may_follow,
        is_at_once=is_unspaced and word in TRAILING_BOUNDS,
        ends_word=not has_unspaced,
        ends_syllable=len(spelling) == 1 and bool(_HANGUL.match(spelling)),
    )


def _has_bound(text: str, at: int, bound_at: int, word_end: int) -> bool:
    """Whether the number that ends there is one of a word (`m9`), or has a bound: it begins at `bound_at`.

    Digits at once behind the words of an amount, which end at `word_end`, are of no word (`フロート0.20未満`).
    """
    since = max(0, at - MAX_WORDS)
    number = _LAST_NUMBER.search(text, since, at)
    start = at if number is None else number.start()
    has_letter = number is not None and number["letter"] is not None and number.end("letter") != word_end
    return has_letter or start == bound_at or _BOUND_BEFORE.search(text, since, start) is not None


def _ends(spelling: _Spelling, letters: str, start: int, end: int) -> bool:
    """Whether what goes on is no part of the word: its script parts words by blanks, or may go on at once.

    Korean words have blanks between them, so behind one a single letter that goes on is of another (`553 불도저`).
    """
    if spelling.ends_word:
        return not _SPACED_LETTER.match(letters, end)
    return not (spelling.ends_syllable and letters[:start][-1:].isspace() and _HANGUL.match(letters, end))


def _is_letter(letter: str) -> bool:
    return letter.isalnum() and not letter.isdecimal()


def _end_of_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
