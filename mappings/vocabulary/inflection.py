"""Spellings of several words, each word with another ending (`красной линии` of `красная линия`), or linked otherwise.

Pure.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from sys import intern

from mappings.vocabulary.entries import Entry
from mappings.vocabulary.numerals import UNSPACED

MIN_STEM = 3  # letters before an ending, at least
MIN_WORD_STEM = 4  # of a spelling of one word
MIN_LATIN_STEM = 4  # in letters that names have: words of names are short


class Inflections:
    """Spellings of several words by the stems of their words, without those that are `linking`."""

    def __init__(self, entries: Iterable[Entry], endings: Iterable[str], linking: frozenset[str]) -> None:
        self._linking = linking
        by_length: dict[int, set[str]] = {}
        for ending in endings:
            by_length.setdefault(len(ending), set()).add(ending)
        self._endings = sorted(by_length.items(), reverse=True)
        self._by_stems: dict[tuple[str, ...], tuple[tuple[str, ...], Entry]] = {}  # with its words
        self._longest: dict[str, int] = {}  # the most words of a spelling, by its first stem
        self._beginnings: set[tuple[str, str]] = set()  # the first letters of two stems
        self._first: set[str] = set()  # those of the first one
        if not (self._endings or linking):
            return
        for entry in entries:
            if entry.meanings:
                for words in entry.listed:
                    self._add(words, entry)

    def _add(self, words: tuple[str, ...], entry: Entry) -> None:
        # equal words and stems are stored once: there are tens of thousands of spellings
        spoken = words if self._linking.isdisjoint(words) else tuple([w for w in words if w not in self._linking])
        if len(spoken) < 2:
            return
        stems = tuple([intern(self._stem(word)) for word in spoken])
        first, other = self._by_stems.setdefault(stems, (spoken, entry))
        if other is not entry and first == spoken:  # but for what links them, two names are the same
            self._by_stems[stems] = spoken, other.joined(entry)
        self._beginnings.add((stems[0][:MIN_STEM], stems[1][:MIN_STEM]))
        self._first.add(stems[0][:MIN_STEM])
        self._longest[stems[0]] = max(len(stems), self._longest.get(stems[0], 0))

    def longest_at(self, letters: Sequence[str], at: int, more_than: int) -> tuple[int, Entry] | None:
        """The longest spelling that begins there, of more words than this, and what it means."""
        if letters[at][:MIN_STEM] not in self._first:
            return None  # as most words
        second, end = at + 1, len(letters)
        while second < end and letters[second] in self._linking:
            second += 1
        if second == end or (letters[at][:MIN_STEM], letters[second][:MIN_STEM]) not in self._beginnings:
            return None
        spoken = [place for place in range(second, end) if letters[place] not in self._linking]
        places = [at, *spoken[: self._longest.get(self._stem(letters[at]), 1) - 1]]
        stems = tuple([self._stem(letters[place]) for place in places])
        for length in range(len(places), 1, -1):
            words = places[length - 1] + 1 - at
            if words <= more_than:
                break
            if stems[:length] in self._by_stems:
                return words, self._by_stems[stems[:length]][1]
        return None

    def _stem(self, word: str) -> str:
        """A word without all of its endings (`линия`, `линии`: `лин`); short words have none."""
        shortest = MIN_LATIN_STEM if word.isascii() else MIN_STEM
        if len(word) <= shortest:
            return word
        for length, endings in self._endings:
            if len(word) - length >= shortest and word[-length:] in endings:
                return self._stem(word[:-length])
        return word


def by_last_letter(endings: Iterable[str]) -> dict[str, list[str]]:
    """The endings by their last letters, the longest first."""
    grouped: dict[str, list[str]] = {}
    for ending in sorted(endings, key=len, reverse=True):
        grouped.setdefault(ending[-1:], []).append(ending)
    return grouped


def stems_of(
    entries: Mapping[str, Entry], endings: Collection[str], may_inflect: Callable[[str], bool]
) -> dict[str, Entry]:
    """Spellings of one word without their endings."""
    stems: dict[str, Entry] = {}
    longest = max(map(len, endings), default=0)
    for letters, entry in entries.items():
        for length in range(1, min(longest, len(letters) - MIN_WORD_STEM) + 1 if may_inflect(letters) else 0):
            if letters[-length:] in endings:
                stems.setdefault(letters[:-length], entry)
    return stems


def has_endings(entry: Entry, stem: str) -> bool:
    """Whether a spelling has endings at all: a short word beside values has none (`ней` is no `не`)."""
    return bool(entry.meanings) or len(stem) >= MIN_STEM or bool(UNSPACED.match(stem))


def may_end(entry: Entry, stem: str, ending: str) -> bool:
    """Whether a spelling in letters that names have may have this ending: a value of a field."""
    return any(meaning.filters for meaning in entry.meanings) and (ending == "s" or len(stem) > MIN_WORD_STEM)
