"""How other languages write a range of amounts: `zwischen 50 und 100`, `50 ile 100 dolar arası`. Pure."""

import re
from collections.abc import Sequence
from functools import cached_property

from mappings.vocabulary.numerals import UNSPACED, pattern_of_words, small_letters, spelling_of, spellings_of

_YEAR_BEFORE_LESS = re.compile(r"20[12]\d\s*\W*\d{1,3}(?!\d)")  # `у 2026 до $20`
UNIT = r"[^\W\d_]{1,12}"  # of an amount, in whatever language


class Ranges:
    """Ranges as a vocabulary writes them: an amount stands at each `…`, and behind the words (`von … bis`).

    `sign` is a pattern of what may stand right before an amount.
    """

    def __init__(self, spellings: Sequence[str], sign: str) -> None:
        spelt = {other for each in spellings for other in spellings_of(f"{each}…")}
        self._words = {tuple(part.strip() for part in each.split("…")[:3]) for each in spelt}
        self._sign = sign
        self.beginnings = frozenset(small_letters(first) for first, *_ in self._words if first)
        self.middles = frozenset(small_letters(middle) for _, middle, _ in self._words if middle)
        self.unspaced_middles = frozenset(filter(UNSPACED.match, self.middles))

    @cached_property
    def pattern(self) -> re.Pattern[str] | None:
        """What finds the first amount of a range with the words beside it, and whatever looks like one (`is_range`)."""
        if not self._words:
            return None
        first, middle, last = (pattern_of_words(filter(None, words)) for words in zip(*self._words, strict=True))
        number, unit = rf"{self._sign}?\s*\d[\d.,]*k?\s*", rf"(?:(?:{UNIT}?)??|[$€£])"
        after = rf"{unit}\s*(?P<last>{last})" if last else "(?P<last>)"
        # nothing but a blank may stand between where the last word tells a range (`50 100 dolar arası`)
        between = rf"(?P<middle>{middle}|(?<=\s)(?={number}{unit}\s*(?:{last})))" if last else rf"(?P<middle>{middle})"
        before = rf"(?:(?P<first>{first})\s*)?(?<![\d.,a-zа-яё])(?P<low>{number}{unit})\s*{between}"
        return re.compile(rf"{before}(?=\s*{number}(?:{after})?)", re.IGNORECASE)

    def is_range(self, match: re.Match[str]) -> bool:
        """Whether the words that `pattern` found beside an amount belong together, and it is no year before a bound."""
        if _YEAR_BEFORE_LESS.match(f"{match['low']}{match.string[match.end() :]}"):
            return False
        first, middle, last = (spelling_of(match[name] or "") for name in ("first", "middle", "last"))
        afters = {last, last.partition(" ")[2], ""}  # `dolar arası` is `arası` behind a unit
        return any((before, middle, after) in self._words for before in {first, ""} for after in afters)
