"""Typed text: what somebody has typed so far in, the words that a suggestion must have out. Pure.

Words are compared folded, alone and written as one with their neighbours (`ak47`, `ak 47` and `AK-47` meet); the last
word may be the beginning of one. The index does the same with its field's words and joins. What the platforms'
vocabularies know is met by the words of what it means too (`bfk` by Butterfly Knife).
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from mappings.vocabulary import Vocabulary, letters_of, words_of

LONGEST_JOIN = 3  # words, as `max_shingle_size` of the filter `joined` in gear.json
# One edit from 4 letters, two from 8; swapped neighbours are one; the first letter is never wrong.
ONE_EDIT_FROM, TWO_EDITS_FROM = 4, 8

# Letters without accents to take off that the engine's `asciifolding` writes in ASCII.
_LETTERS = str.maketrans(
    {"ø": "o", "æ": "ae", "œ": "oe", "ß": "ss", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "ı": "i", "ŋ": "n"}
)


@dataclass(frozen=True)
class TypedWord:
    """One word as it was typed, the ways to write it that must be whole words, and those that may begin one.

    `meant` are names that the vocabulary knows for it, all of whose words stand for it.
    """

    text: str
    whole: tuple[str, ...]
    begun: tuple[str, ...]
    meant: tuple[str, ...] = ()

    @property
    def edits(self) -> int:
        """How many edits away a similar word may be: none for what has a digit or is known."""
        if self.meant or any(one.isnumeric() for one in self.text) or len(self.text) < ONE_EDIT_FROM:
            return 0
        return 1 if len(self.text) < TWO_EDITS_FROM else 2


@dataclass(frozen=True)
class Typed:
    """A text as far as it was typed, and the vocabularies that know its words; without words it suggests nothing."""

    text: str
    vocabularies: tuple[Vocabulary, ...] = ()

    @cached_property
    def words(self) -> tuple[TypedWord, ...]:
        """Its words in their order."""
        found = words_of(self.text)
        meant = _meant(found, self.vocabularies)
        return tuple(_typed_word(found, place, tuple(meant[place])) for place in range(len(found)))

    @cached_property
    def folded(self) -> str:
        """The whole text as folded values are compared."""
        return fold(self.text)

    @cached_property
    def _letters(self) -> tuple[tuple[str, ...], ...]:
        return tuple((fold(word.text), *(_letters(name) for name in word.meant)) for word in self.words)

    def meets(self, value: str, loosely: bool) -> bool:
        """Whether a value has all words; `loosely`: or similar ones."""
        letters = _letters(value)
        # nearly all values fail here, and there are thousands; a similar word need not be in them as it is
        if not loosely and not all(any(one in letters for one in ways) for ways in self._letters):
            return False
        held = set(_joins(fold(value)))
        return all(_meets(word, held, loosely) for word in self.words)


def fold(text: str) -> str:
    """A text without case, accents, ★ and ™, outer and double blanks."""
    apart = unicodedata.normalize("NFKD", text.replace("™", "").replace("★", ""))
    bare = "".join(one for one in apart if unicodedata.category(one) != "Mn")
    return " ".join(bare.lower().translate(_LETTERS).split())


@lru_cache(maxsize=50_000)  # the stickers of a game several times over, some megabytes
def _letters(value: str) -> str:
    """All words of a value written as one."""
    return "".join(words_of(fold(value)))


def _meant(words: list[str], vocabularies: tuple[Vocabulary, ...]) -> list[dict[str, None]]:
    """For each word the names that a vocabulary has for it, or for the spelling that it is a part of."""
    found: list[dict[str, None]] = [{} for _ in words]
    letters = [letters_of([word]) for word in words]
    for vocabulary in vocabularies:
        for at, length, entry in vocabulary.cut(letters):
            names = [name for meaning in (entry.meanings if entry else ()) for name in meaning.names]
            for held in found[at : at + length]:
                held.update(dict.fromkeys(" ".join(words_of(name)) for name in names))
    return found


def _typed_word(words: list[str], place: int, meant: tuple[str, ...]) -> TypedWord:
    spellings: dict[str, bool] = {}
    for length in range(1, LONGEST_JOIN + 1):
        for start in range(max(0, place - length + 1), min(place, len(words) - length) + 1):
            spellings["".join(words[start : start + length])] = start + length == len(words)
    whole = tuple(one for one, last in spellings.items() if not last)
    return TypedWord(words[place], whole, tuple(one for one, last in spellings.items() if last), meant)


def _joins(folded: str) -> Iterator[str]:
    words = words_of(folded)
    for start in range(len(words)):
        for length in range(1, min(LONGEST_JOIN, len(words) - start) + 1):
            yield "".join(words[start : start + length])


def _meets(word: TypedWord, held: set[str], loosely: bool) -> bool:
    if any(fold(one) in held for one in word.whole):
        return True
    if any(all(part in held for part in fold(name).split()) for name in word.meant):
        return True
    begun = tuple(fold(one) for one in word.begun)
    if begun and any(one.startswith(begun) for one in held):
        return True
    return loosely and word.edits > 0 and any(_similar(fold(word.text), one, word.edits) for one in held)


def _similar(one: str, other: str, most: int) -> bool:
    """Whether so many edits (a letter more, less, other, or two neighbours swapped) lead from one to the other."""
    if one[:1] != other[:1] or abs(len(one) - len(other)) > most:
        return False
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        now = [row]
        for column, another in enumerate(other, 1):
            cost = min(last[column] + 1, now[-1] + 1, last[column - 1] + (letter != another))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == another:
                cost = min(cost, before[column - 2] + 1)
            now.append(cost)
        before, last = last, now
    return last[-1] <= most
