"""Spellings that a word with a typo may stand for. Pure.

A typo is one of optimal string alignment: a letter too many, too few or another one, or two neighbours swapped. Korean
syllables count by their letters. Chinese is typed by ear, so its typos are names that are typed alike. Names with more
typos are told by what is left of them.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import ceil

from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from mappings.vocabulary.entries import Entry
from mappings.vocabulary.sounds import Homophones
from mappings.vocabulary.words import letters_of, words_of

MIN_LETTERS = 5  # of a word that may have a typo
TWO_TYPOS = 9  # letters of a word that may have two
MIN_SIMILAR_LETTERS = 3  # of what is much like a name
# Of 347 names with two or three typos each, a weapon beside them, 342 are found at 66, 333 at 70, 316 at 74 (and 255
# without); at 60, words that are no names are taken for one.
MIN_SIMILARITY = 66
MIN_TRANSLATED = 80  # of a name in one of many languages: one typo in five letters
MAX_SIMILAR = 4  # spellings
MAX_CACHED = 4096  # words with what they stand for: the readings of a text have most words in common
_BITS = 61  # of a set of letters; Latin ones have one each, and so have Cyrillic ones


class Misspellings:
    """Spellings, each by its letters, looked up by their first letter and their length."""

    def __init__(self, spellings: Iterable[str], homophones: Homophones) -> None:
        self._homophones = homophones
        self._by_shape: dict[tuple[str, int], tuple[list[str], array[int]]] = defaultdict(lambda: ([], array("Q")))
        for letters in spellings:
            if len(letters) >= MIN_LETTERS - 1:
                of_shape, sets = self._by_shape[letters[0], len(letters)]
                of_shape.append(letters)
                sets.append(_set_of(letters))
        self.nearest = lru_cache(MAX_CACHED)(self._nearest)

    def _nearest(self, letters: str) -> str:
        """The spelling of the same first letter with the fewest typos, else the name that is typed so; else empty."""
        return self._with_typos(letters) or self._homophones.name_of(letters)

    def _with_typos(self, letters: str) -> str:
        if len(letters) < MIN_LETTERS:
            return ""
        swapped = letters[1] + letters[0] + letters[2:]
        if swapped in self._by_shape.get((swapped[0], len(swapped)), ((), ()))[0]:
            return swapped
        for typos in range(1, 3 if len(letters) >= TWO_TYPOS else 2):
            spelling = next((each for each in self._candidates(letters, typos) if is_typo(letters, each, typos)), "")
            if spelling:
                return spelling
        return ""

    def _candidates(self, letters: str, typos: int) -> Iterator[str]:
        """Those that have at most so many letters that the word lacks, and lack so many: a typo is of one."""
        typed = _set_of(letters)
        nearest_first = (0, *(sign * more for more in range(1, typos + 1) for sign in (-1, 1)))
        for more in nearest_first:
            for spelling, its in zip(*self._by_shape.get((letters[0], len(letters) + more), ((), ())), strict=True):
                if (its & ~typed).bit_count() <= typos and (typed & ~its).bit_count() <= typos:
                    yield spelling


class MisspeltWords:
    """Words, each with how often it stands in a list, looked up by what a typo makes of them."""

    def __init__(self, words: Iterable[str]) -> None:
        self._counts = Counter(letters for word in words if len(letters := letters_of([word])) >= MIN_LETTERS - 1)
        self._words = list(self._counts)

    def nearest(self, letters: str) -> str:
        """The most frequent word that differs in one typo, one of the same letters first; else empty."""
        if len(letters) < MIN_LETTERS - 1:
            return ""
        similar = process.extract(letters, self._words, scorer=OSA.distance, score_cutoff=1, limit=None)
        words = [word for word, _, _ in similar if _is_sure(letters, word)]
        return max(words, key=lambda word: (sorted(word) == sorted(letters), self._counts[word]), default="")


def _is_sure(letters: str, word: str) -> bool:
    """Whether letters are swapped, or the first one is the same and, of a short word, one is missing."""
    if sorted(word) == sorted(letters):
        return True
    return word[0] == letters[0] and (len(letters) >= MIN_LETTERS or len(word) > len(letters))


class SimilarNames:
    """Names in English and in translation, looked up by the letters that they have in common with what is typed."""

    def __init__(self, names: Iterable[str], glossary: Mapping[str, Entry], spellings: Mapping[str, Entry]) -> None:
        """The glossary: {letters of a spelling: what it translates}; `spellings`, of whole names, are many more."""
        english = {letters_of(words_of(name)): name for name in names}
        few = _translated(glossary, english) | english
        self._spellings = list(few)
        self._names = _translated(spellings, english) | few
        self._by_length = defaultdict[int, list[str]](list)
        for letters in self._names:  # in their order: all workers read a text the same
            if letters not in few:
                self._by_length[len(letters)].append(letters)

    def nearest(self, letters: str) -> dict[str, float]:
        """The most similar names with their similarity, of 100, the most similar first.

        It is twice the length of the longest common subsequence by the sum of both lengths.
        """
        if len(letters) < MIN_SIMILAR_LETTERS:
            return {}
        spellings = _nearest(letters, self._spellings, MIN_SIMILARITY)
        if len(letters) >= MIN_LETTERS:
            share = MIN_TRANSLATED / (200 - MIN_TRANSLATED)  # a name of fewer letters is less similar
            lengths = range(ceil(len(letters) * share), int(len(letters) / share) + 1)
            of_length = [spelling for length in lengths for spelling in self._by_length.get(length, ())]
            spellings = sorted([*spellings, *_nearest(letters, of_length, MIN_TRANSLATED)], key=lambda each: -each[1])
        nearest: dict[str, float] = {}
        for spelling, similarity in spellings:
            nearest.setdefault(self._names[spelling], similarity)
        return nearest


def _translated(entries: Mapping[str, Entry], english: Mapping[str, str]) -> dict[str, str]:
    """The names that are translated, by the letters of their translations."""
    return {
        letters: english[name]
        for letters, entry in entries.items()
        for meaning in entry.meanings
        if (name := letters_of(words_of(meaning.words))) in english
    }


def _nearest(letters: str, spellings: Sequence[str], least: float) -> list[tuple[str, float]]:
    similar = process.extract(letters, spellings, scorer=fuzz.ratio, score_cutoff=least, limit=MAX_SIMILAR)
    return [(spelling, similarity) for spelling, similarity, _ in similar]


def _set_of(letters: str) -> int:
    """The set of the letters, a bit for each."""
    bits = 0
    for letter in letters:
        bits |= 1 << ord(letter) % _BITS
    return bits


def is_typo(typed: str, spelling: str, typos: int) -> bool:
    """Whether at most so many typos are between the two."""
    return OSA.distance(typed, spelling, score_cutoff=typos) <= typos
