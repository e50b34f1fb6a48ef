"""A text without typos: its unknown words as the words that they are but for a typo. Pure."""

from collections.abc import Sequence
from itertools import chain, zip_longest

from api.search.parsing.words import segmented
from mappings.vocabulary.entries import Role, values_of
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of, words_and_gaps

MAX_RESPELT = 12  # unknown words of a text that are looked through for typos; what buyers write has fewer
MAX_IN_VALUES = 4  # and that may be in a value of several words
SHORT_WORD = 5  # letters of a Latin word that is an exterior but for swapped neighbours alone: `anime` is no `abîmé`
MAX_TO_AMOUNT = 3  # words from a word of a bound to its amount: `nicht mehr als 50`
MAX_VALUE = 4  # words of a value
VALUES = ("exterior", "quality", "weapon", "phase")


def without_typos(text: str, vocabulary: Vocabulary, fields: Sequence[str] = ()) -> str:
    """The text, a few unknown words as the spellings that they are but for a typo: any, or values of these `fields`.

    Words beside amounts, and values of several words, are looked for in any case: `niht mehr als 50€`, `minmale
    gebrauchsspuren`.
    """
    words, gaps = segmented(*words_and_gaps(text), vocabulary)
    letters = [letters_of([word]) for word in words]
    spellings = list(vocabulary.longest_spellings(letters))
    unknown = [
        at
        for at, _, entry in spellings
        if entry is None and letters[at].isalpha() and not _is_known_word(letters[at], vocabulary)
    ]
    numbers = [at for at, length, _ in spellings if length == 1 and letters[at].isdecimal()]
    if len(unknown) > MAX_RESPELT:
        return text
    for at in unknown:
        if not words[at]:  # of a value
            continue
        is_beside = any(abs(number - at) <= MAX_TO_AMOUNT for number in numbers)
        if beside := vocabulary.amount_words.misspelt.nearest(letters[at]) if is_beside else "":
            words[at] = beside
        elif len(unknown) <= MAX_IN_VALUES and (value := _value_at(at, letters, vocabulary)) is not None:
            start, end, spelling = value
            words[start:end] = [f" {spelling} ", *[""] * (end - start - 1)]
        elif spelling := _spelling_at(at, letters, vocabulary, fields):
            words[at] = f" {spelling} "
    return "".join(chain.from_iterable(zip_longest(gaps, words, fillvalue="")))


def is_value_of(field: str, letters: str, vocabulary: Vocabulary) -> bool:
    """Whether the spelling of these letters means a value of the field."""
    entry = vocabulary.entries.get(letters)
    return entry is not None and bool(values_of(entry.meanings, field))


def _value_at(at: int, letters: Sequence[str], vocabulary: Vocabulary) -> tuple[int, int, str] | None:
    """The value of several words that those around the unknown one are but for a typo: where it starts and ends.

    A word that is a value by itself is no part of another one: `stattrrak mw`.
    """
    if _is_value(vocabulary.misspellings.nearest(letters[at]), vocabulary):
        return None
    for length in range(MAX_VALUE, 1, -1):
        for start in range(max(0, at - length + 1), min(at, len(letters) - length) + 1):
            run = letters[start : start + length]
            spelling = vocabulary.misspellings.nearest("".join(run)) if all(map(str.isalpha, run)) else ""
            listed = vocabulary.entries[spelling].listed if _is_value(spelling, vocabulary) else ()
            if named := next((each for each in listed if len(each) == length), ()):
                return start, start + length, " ".join(named)
    return None


def _is_value(spelling: str, vocabulary: Vocabulary) -> bool:
    return bool(spelling) and any(is_value_of(field, spelling, vocabulary) for field in VALUES)


def _spelling_at(at: int, letters: Sequence[str], vocabulary: Vocabulary, fields: Sequence[str]) -> str:
    """The spelling that the word there is but for a typo, with `fields` a value of one of them; else empty."""
    spelling = _without_quality(letters[at], vocabulary) or vocabulary.misspellings.nearest(letters[at])
    is_meant = not fields or any(is_value_of(each, spelling, vocabulary) for each in fields)
    is_by_chance = _is_by_chance(letters[at], spelling, vocabulary)
    is_wrong = is_by_chance or _excludes_nothing(at, spelling, letters, vocabulary)
    return spelling if is_meant and not is_wrong else ""


def _without_quality(letters: str, vocabulary: Vocabulary) -> str:
    """The word, its quality without a typo, where it ends with what excludes that: `stattrrraksız`; else empty."""
    for ending in filter(letters.endswith, vocabulary.joined_exclusions.endings):
        quality = vocabulary.misspellings.nearest(letters.removesuffix(ending))
        if quality and is_value_of("quality", quality, vocabulary):
            return quality + ending
    return ""


def _is_by_chance(letters: str, spelling: str, vocabulary: Vocabulary) -> bool:
    """Whether a short word may well be one of no name rather than this exterior with a typo."""
    is_short = letters.isascii() and len(letters) <= SHORT_WORD and sorted(letters) != sorted(spelling)
    return is_short and is_value_of("exterior", spelling, vocabulary)


def _excludes_nothing(at: int, spelling: str, letters: Sequence[str], vocabulary: Vocabulary) -> bool:
    """Whether it would exclude what says nothing of an item: in `znder max 5$` it is no `zonder`."""
    entry = vocabulary.entries.get(spelling)
    if entry is None or entry.role is not Role.EXCLUSION:
        return False
    following = letters[at + 1 :]
    _, excluded = vocabulary.spelling_at(following, 0) if following else (1, None)
    is_value = excluded is not None and bool(excluded.meanings)
    return not is_value and vocabulary.words_of_finishes.isdisjoint(following[:1])


def _is_known_word(letters: str, vocabulary: Vocabulary) -> bool:
    tables = (vocabulary.ignored, vocabulary.words_of_finishes, vocabulary.foreign_goods)
    return any(letters in each for each in tables) or vocabulary.joined_exclusions.excluded_by(letters) is not None
