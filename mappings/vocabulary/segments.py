"""Words of scripts that part no words by blanks, cut into the longest spellings that are in them. Pure."""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import groupby

from mappings.vocabulary.entries import Entry
from mappings.vocabulary.numerals import UNSPACED, UNSPACED_LETTERS
from mappings.vocabulary.words import letters_of

# runs of one script, those in which words follow each other without blanks apart
_SCRIPTS = re.compile(rf"[{UNSPACED_LETTERS}]+|[^{UNSPACED_LETTERS}]+")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_BEGINNING = re.compile(rf"{UNSPACED.pattern}|[\u1100-\u11ff]")  # letters of Hangul are decomposed
_KATAKANA = re.compile(r"[\u30a1-\u30fa\u30fc]+")
MIN_UNKNOWN, MIN_KNOWN = 3, 4  # letters of words of katakana that are written together
MAX_UNSPACED = 60  # letters of a word that is parted: nobody writes longer ones
# within a syllable of katakana: `デザ` is no part of `デザート`
_CONTINUES = frozenset(letters_of([letter]) for letter in "ーァィゥェォャュョッ")


class Segments:
    """Spellings in scripts without blanks, by their beginnings, and the endings that may follow them.

    Korean has blanks between words, so a word of it is parted only where all of it is known, a name or value first.
    """

    def __init__(self, entries: Mapping[str, Entry], ignored: frozenset[str], endings: frozenset[str]) -> None:
        self._entries = entries
        self._endings = endings
        self._spellings = frozenset(letters for letters in (*entries, *ignored) if _BEGINNING.match(letters))
        self._sorted = sorted(self._spellings)

    def of(self, word: str) -> list[str]:
        """A word in the spellings that are in it; else the word alone."""
        if len(word) > MAX_UNSPACED or not UNSPACED.search(word):
            return [word]
        letters = [letters_of([letter]) for letter in word]
        parts: list[str] = []
        unknown = ""
        at = 0
        while at < len(word):
            ending = "".join(letters[at:]) if parts and not unknown else ""
            if ending in self._endings and ending not in self._spellings:
                return [*parts[:-1], parts[-1] + word[at:]]
            length = self._next_length(letters, at)
            if length:
                parts += [*_SCRIPTS.findall(unknown), word[at : at + length]]
                unknown = ""
            else:
                unknown += word[at]
            at += length or 1
            if _HANGUL.search(unknown) or (_HANGUL.match(word) and not self._is_named(parts[0])):
                return _SCRIPTS.findall(word)
        parts += _SCRIPTS.findall(unknown)
        return self._without_scraps(parts) if len(parts) > 1 and _KATAKANA.search(word) else parts

    def _without_scraps(self, parts: list[str]) -> list[str]:
        """The parts, a run of katakana as one where it is a word: `ピンク` is no `ピン`, `スカーレット` no `スカー`."""
        joined: list[str] = []
        for is_katakana, run in groupby(parts, key=lambda part: bool(_KATAKANA.fullmatch(part))):
            pieces = list(run)
            joined += ["".join(pieces)] if is_katakana and self._is_one_word(pieces) else pieces
        return joined

    def _is_one_word(self, pieces: Sequence[str]) -> bool:
        """Whether the pieces are one word: one of them is unknown, and it or the known piece before it is too short."""
        for at, piece in enumerate(pieces):
            if letters_of([piece]) not in self._spellings:
                is_scrap = len(piece) < MIN_UNKNOWN and len(pieces) > 1
                if is_scrap or (at and len(pieces[at - 1]) < MIN_KNOWN):
                    return True
        return False

    def _is_named(self, part: str) -> bool:
        entry = self._entries.get(letters_of([part]))
        return entry is not None and bool(entry.meanings)

    def _next_length(self, letters: Sequence[str], at: int) -> int:
        """The length of the longest spelling that begins there, or of a shorter one before one that ends behind it.

        So `全息贴纸` is `全息 贴纸`, though there is `全息贴`, too: nothing begins with what that leaves.
        """
        *shorter, longest = self._lengths_at(letters, at) or [0]
        if shorter and at + longest < len(letters) and not self._lengths_at(letters, at + longest):
            for length in reversed(shorter):
                following = self._lengths_at(letters, at + length)
                if following and length + following[-1] > longest:
                    return length
        return longest

    def _lengths_at(self, letters: Sequence[str], at: int) -> list[int]:
        """The lengths of the spellings that begin there."""
        joined = ""
        lengths: list[int] = []
        for length, letter in enumerate(letters[at:], 1):
            joined += letter
            at_least = bisect_left(self._sorted, joined)
            if not "".join(self._sorted[at_least : at_least + 1]).startswith(joined):
                break  # no spelling begins so
            is_open = "".join(letters[at + length : at + length + 1]) in _CONTINUES
            if joined in self._spellings and not is_open:
                lengths.append(length)
        return lengths
