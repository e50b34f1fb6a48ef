"""Amounts that are written in words: `two hundred dollars`, `до двухсот`, `zweihundertfünfzig Euro`. Pure."""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import zip_longest
from typing import Any

UNSPACED_LETTERS = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # of scripts whose words follow without blanks
UNSPACED = re.compile(rf"[{UNSPACED_LETTERS}]")
HUNDRED, THOUSAND, TEN_THOUSAND, MILLION = 100, 1000, 10_000, 1_000_000  # they multiply what stands before them
_SCALES = (HUNDRED, THOUSAND, TEN_THOUSAND, MILLION)
_LETTER = re.compile(rf"[^\W\d_{UNSPACED_LETTERS}]")  # of a script that has blanks between words
_DIGITS = re.compile(r"(?<![\d.,])\d{1,4}(?:[.,]\d{1,2})?\s*$")
MAX_WORD = 8  # letters of a word that begins with a numeral
_NUMBER_NEXT = re.compile(r"\s+[$€£]?\d")
_GAP = re.compile(r"\s+|-")
_RANGE = re.compile(r"\s*(?:to|[-\u2013])\s*", re.IGNORECASE)
_SCALE_LETTERS = dict(zip("百백千천万萬만", (100, 100, 1000, 1000, 10_000, 10_000, 10_000), strict=True))
_PART = rf"(\d+(?:\.\d+)?)([{''.join(_SCALE_LETTERS)}])"
# `1万5千`, `2万5`, `1만 5천`; one scale alone is read as the words are
_PARTS = re.compile(
    rf"(?<![\d.,])(?:{_PART}\s?(?={_PART}))*{_PART}(?:\d+(?:\.\d+)?)?(?![\d{''.join(_SCALE_LETTERS)}]|[.,]\d)"
)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff円]")
# how ten thousands are typed in Chinese: `2w`, `2w5`
_W = re.compile(r"(?<![a-z\d.,])(\d+(?:\.\d+)?)w(\d?)(?=\W|[\u4e00-\u9fff]|$)", re.IGNORECASE)
_COUNTER = re.compile(r"[把个個件张張双雙]")  # `五百一把`: 500 for one


@dataclass(frozen=True)
class _Word:
    """A word for a number, and where it stands."""

    start: int
    end: int
    value: Decimal


class Numerals:
    """The words for numbers: {value: spellings}; words of the value 0 (`and`) only join others.

    The values of words that follow each other are added, written together or not; hundreds, thousands and ten thousands
    multiply what stands before them.
    """

    def __init__(self, spellings: Mapping[int, Sequence[str]]) -> None:
        self._values = {
            each: value for value, words in spellings.items() for word in words for each in spellings_of(word)
        }

    def in_digits(
        self,
        text: str,
        is_amount: Callable[[str, str, str], bool],
        is_name: Callable[[str], bool],
        is_word: Callable[[str], bool],
        middles: Collection[str],
    ) -> str:
        """The text with numbers in words in digits.

        `is_amount` is asked with what stands before them, themselves, and what stands behind. `is_name` tells whether a
        text ends with a name with a number (`m9`), whose digits no scale behind them multiplies. `is_word` tells words
        that begin with a numeral (`九头蛇`) or are several (`five seven`). `middles` stand between the ends of a range.
        """
        if ("w" in text or "W" in text) and _HAN.search(text):
            text = _W.sub(lambda match: f"{Decimal(f'{match[1]}e4') + Decimal(f'0{match[2]}e3'):f}", text)
        if not self._values or not self.beginning.search(text):
            return text
        text = _PARTS.sub(lambda match: match.group() if is_name(_first_digits(match)) else _sum(match), text)
        digits, end, runs = "", 0, list(self._runs(text, is_name))
        ends = [(run[0].start, run[-1].end) for run in runs]
        for at, (start, run_end) in enumerate(ends):
            if runs[at][-1].value not in _SCALES and _NUMBER_NEXT.match(text, run_end):
                continue  # `acima dos 50`
            if len(runs[at]) > 1 and is_word(text[start:run_end]):
                continue  # `skins under five seven`
            if not _LETTER.match(text, start) and _begins_longer(text[start:], run_end - start, is_word):
                continue
            next_start, next_end = ends[at + 1] if at + 1 < len(ends) else (run_end, run_end)
            between = text[run_end:next_start]
            is_range = _RANGE.fullmatch(between) is not None or spelling_of(between) in middles
            numeral, rest = text[start:run_end], text[run_end:]
            if is_amount(text[end:start], numeral, rest) or (is_range and is_amount("", "", text[next_end:])):
                digits += text[end:start] + _read(text, runs[at])
                end = run_end
        return digits + text[end:]

    def value_of(self, word: str) -> int:
        """What one word is worth; 0: it is no number."""
        return self._values.get(word.lower(), 0)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What finds each word, within others too."""
        return re.compile(pattern_of(self._values), re.IGNORECASE)

    @cached_property
    def beginning(self) -> re.Pattern[str]:
        """What finds a word that another one does not run into."""
        return re.compile(rf"(?<!{_LETTER.pattern}){self.pattern.pattern}", re.IGNORECASE)

    def _runs(self, text: str, is_name: Callable[[str], bool]) -> Iterator[list[_Word]]:
        """Words for numbers that stand beside each other, none of them part of another word, no joiner at an end."""
        run: list[_Word] = []
        for words in _together(text, list(self._words(text)), is_name):
            if run and not _GAP.fullmatch(text[run[-1].end : words[0].start]):
                yield from _trimmed(text, run, is_name)
                run = []
            run += words
        yield from _trimmed(text, run, is_name)

    def _words(self, text: str) -> Iterator[_Word]:
        for match in self.pattern.finditer(text):
            value = self._values.get(spelling_of(match.group()))
            if value is not None:  # cases of `ı` and `i` match each other
                yield _Word(match.start(), match.end(), Decimal(value))


def _begins_longer(text: str, letters: int, is_word: Callable[[str], bool]) -> bool:
    """Whether a text begins with a word of more than so many letters."""
    longest = min(MAX_WORD, len(text))
    return any(is_word(text[:length].lower()) for length in range(letters + 1, longest + 1))


def _first_digits(parts: re.Match[str]) -> str:
    """The text up to the end of the digits that the match begins with."""
    end = parts.start()
    while parts.string[end].isdecimal():
        end += 1
    return parts.string[:end]


def _sum(parts: re.Match[str]) -> str:
    """Digits with scales in digits alone: 15000 for `1万5千`, and 25000 for `2万5` where no kana tell of Japanese."""
    value, scale, end = Decimal(0), 0, 0
    matches = list(re.finditer(_PART, parts.group()))
    for part in matches:
        scale, end = _SCALE_LETTERS[part[2]], part.end()
        value += Decimal(part[1]) * scale
    rest = parts.group()[end:]
    if not rest and len(matches) == 1:
        return parts.group()
    if rest:
        value += Decimal(rest) * (scale // 10 if len(rest) == 1 and not _KANA.search(parts.string) else 1)
    return f"{' ' if _LETTER.match(parts.string[parts.start() - 1 : parts.start()]) else ''}{value.normalize():f}"


def _together(text: str, words: Sequence[_Word], is_name: Callable[[str], bool]) -> Iterator[list[_Word]]:
    """The words for numbers that are written together, where they are whole words."""
    together: list[_Word] = []
    for at, word in enumerate(words):
        together.append(word)
        if at + 1 < len(words) and words[at + 1].start == word.end:
            continue
        before, after = text[max(0, together[0].start - 1) : together[0].start], text[word.end : word.end + 1]
        is_part = before.isdigit() and _digits_before(text, together[0], is_name) is None
        if not (_LETTER.match(before) or _LETTER.match(after) or is_part or after.isdigit()):
            yield together
        together = []


def _digits_before(text: str, word: _Word, is_name: Callable[[str], bool]) -> re.Match[str] | None:
    """The digits that it multiplies: `2 тыс`, `3百`. A hundred of Latin letters has none (`50 cent`), and none are
    across a blank in scripts without blanks (`phase 2 千刀`).
    """
    is_unspaced = text[word.start] in _SCALE_LETTERS
    if not is_unspaced and word.value not in _SCALES[1:]:
        return None
    digits = _DIGITS.search(text[: word.start])
    if digits is None or (is_unspaced and text[word.start - 1].isspace()) or is_name(text[: digits.end()].rstrip()):
        return None
    return digits


def _trimmed(text: str, run: list[_Word], is_name: Callable[[str], bool]) -> Iterator[list[_Word]]:
    """The run without joiners at its ends, digits before a scale included; nothing where none is left."""
    numbers = [at for at, word in enumerate(run) if word.value]
    if numbers:
        trimmed = run[numbers[0] : numbers[-1] + 1]
        if _is_shortened(text, trimmed) and _COUNTER.match(text, trimmed[-1].end):
            trimmed.pop()
        if digits := _digits_before(text, trimmed[0], is_name):
            trimmed = [_Word(digits.start(), digits.end(), Decimal(digits.group().strip().replace(",", "."))), *trimmed]
        yield trimmed


def _is_shortened(text: str, run: Sequence[_Word]) -> bool:
    """Whether the last digit of a Chinese number is of the scale below the one before it: `两万五`, `百五`."""
    return (
        len(run) > 1
        and run[-1].value < 10
        and run[-2].end == run[-1].start
        and text[run[-2].start : run[-2].end] in ("百", "千", "万", "萬")
        and not _KANA.search(text)
    )


def _read(text: str, run: Sequence[_Word]) -> str:
    """The numbers of a run in digits: `ten and twenty-five` are two, `hundred and five` is one."""
    digits, number, between, end = "", _Number(), "", run[0].start
    if _is_shortened(text, run):
        last = run[-1]
        run = [*run[:-1], _Word(last.start, last.end, run[-2].value / 10 * last.value)]
    scale, is_joined = Decimal(0), False  # the last one of the number; whether a joiner is before the word
    for word, following in zip_longest(run, run[1:]):
        between += text[end : word.start]
        end = word.end
        if not word.value:
            between += text[word.start : word.end]
            is_joined = True
            continue
        is_scaled = following is not None and following.value in _SCALES
        # `two hundred and three hundred`, `fifty and one hundred`, `fünfzig und hundert`
        is_next = is_scaled and (following.value == scale if scale else is_joined and word.value < 10)
        is_next = is_next or (is_joined and word.value in _SCALES)
        if is_next or not number.takes(word.value, is_together=" " not in between):
            digits, number, scale = f"{digits}{number}{between}", _Number(), Decimal(0)
        scale = word.value if word.value in _SCALES else scale
        number.add(word.value)
        between, is_joined = "", False
    return f"{digits}{number}"


class _Number:
    """A number as its words are read."""

    def __init__(self) -> None:
        self._thousands = self._rest = self._last = Decimal(0)

    def takes(self, value: Decimal, *, is_together: bool) -> bool:
        """Whether the next word's value belongs to it: in `five and twenty` not, in `fünfundzwanzig` it does."""
        last = self._last
        if not last or value in _SCALES:
            return value != HUNDRED or self._rest < 10 or bool(self._rest % 10)  # `fifty, hundred`
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


def pattern_of(spellings: Iterable[str], end_of: Callable[[str], str] = lambda _: "") -> str:
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


def spelling_of(text: str) -> str:
    """A text as spellings are looked up: in small letters, with single blanks."""
    return " ".join(text.lower().split())


def spellings_of(text: str) -> frozenset[str]:
    """A text and, unless that is another word, the same without accents, as spellings are looked up."""
    spelling = spelling_of(text)
    plain = spelling.translate(_WITHOUT_ACCENTS)
    return frozenset([spelling] if plain in _OTHER_WORDS else [spelling, plain])


# letters as people write them who have not the key
_WITHOUT_ACCENTS = {
    code: base for code in range(0xC0, 0x250) if (base := unicodedata.normalize("NFD", chr(code))[0]).isascii()
} | str.maketrans("ıſłøđё", "islodе")
_OTHER_WORDS = {"max", "min", "stuck", "des", "kc", "oro", "modele"}  # what other languages mean by them


def small_letters(text: str) -> str:
    """The text in small letters, each in its place, `ı` as `i`."""
    small = text.lower()
    if len(small) != len(text):
        small = "".join(each if len(each := letter.lower()) == 1 else letter for letter in text)
    return small if small.isascii() else small.translate(_SMALL)


_SMALL = str.maketrans("ıİſ", "iis")


def pattern_of_words(spellings: Iterable[str]) -> str:
    """A pattern of whole words; a script that has no blanks between words may go on with one."""
    spelt = list(spellings)
    unspaced = [each for each in spelt if UNSPACED.match(each)]
    spaced = [each for each in spelt if each not in unspaced]
    return "|".join(
        rf"{start}{pattern_of(each, _end_of)}" for start, each in ((r"(?<![^\W\d_])", spaced), ("", unspaced)) if each
    )


def _end_of(spelling: str) -> str:
    return "" if UNSPACED.search(spelling) else r"(?![^\W\d_])"
