"""Names by ear in another alphabet (`хайпер бист`) or in syllables (`ゴールデンコイル`), found by consonants. Pure.

Names in Chinese characters are found by the syllables that they are typed as.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import product

from mappings.vocabulary.words import letters_of, words_of

MIN_NAME = 2  # consonants of a whole name
MIN_WORD = 3  # consonants of a single word of one
MIN_BEGINNING = 5  # consonants of the beginning of a name
MIN_LIKENESS = 0.62  # of what is written to what is heard, vowels included
MAX_REMEMBERED = 4096  # words in syllables
MIN_BORROWED = 2  # consonants of a name in syllables
MIN_BORROWED_LIKENESS = 0.78
MIN_SHORT_LIKENESS = 0.9  # of a single word of two consonants
MIN_CHARACTERS = 2  # of a name that is typed as syllables
MIN_TYPED = 7  # letters of one that stands as it was typed; most words of other languages have fewer
MAX_AMBIGUOUS = 5  # places of a name where more than one sound is tried
# How English writes sounds; where several may be heard, all of them. What is longer comes first.
_SPELLINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("tion", ("shn",)), ("sion", ("shn", "sn")), ("tch", ("ch",)), ("dge", ("j",)), ("que", ("k",)), ("sch", ("sh",)),
    ("ph", ("f",)), ("gh", ("", "g")), ("ck", ("k",)), ("sh", ("sh",)), ("ch", ("ch", "k")), ("th", ("t", "s")),
    ("kn", ("n", "kn")), ("wr", ("r",)), ("wh", ("v", "")), ("qu", ("kv", "k")), ("au", ("", "v")), ("ow", ("", "v")),
    ("aw", ("",)), ("ew", ("",)), ("ce", ("s",)), ("ci", ("s",)), ("cy", ("s",)), ("ge", ("j", "g")),
    ("gi", ("j", "g")), ("c", ("k",)), ("x", ("ks",)), ("w", ("v", "")), ("z", ("s", "ts")), ("h", ("h", "g", "")),
)  # fmt: skip
_WRITTEN = re.compile("|".join((*(spelling for spelling, _ in _SPELLINGS), "[a-z]")))
_HEARD = dict(_SPELLINGS)
# How the rest is heard.
_SAID = {
    r"a(?=[b-df-hj-np-tvz]e\b)|ai|ay": "ei", r"i(?=[b-df-hj-np-tvz]e\b)|igh|y(?=[a-z])": "ai", r"ee|ea|y\b": "i",
    r"oo": "u", r"ow": "au", r"e\b|[^a-z]": "", r"c(?![eiy])|ck": "k", r"ph": "f", r"x": "ks", r"w": "v",
}  # fmt: skip
_SAYING = re.compile("|".join(f"({each})" for each in _SAID))
_SAID_AS = tuple(_SAID.values())
# Consonants that scripts of syllables write alike.
_MERGED_AS = {
    "ts": "t", "sh": "s", "ch": "s", "b": "p", "v": "p", "f": "p", "d": "t", "g": "k", "c": "k", "q": "k", "l": "r",
    "m": "n", "z": "s", "j": "s", "h": "", "w": "",
}  # fmt: skip
_MERGED = re.compile("|".join(_MERGED_AS))
# Those that they write alike though the rest differs; each weighs as much as the letters that it is compared with.
_ALIKE = str.maketrans({"l": "r", "v": "b", "c": "k", "q": "k", "z": "j", "h": "", "w": "u", "y": "i"})
_SOFT_AS = {"ch": "t", "ts": "t", "dge": "j", "dg": "j", "c": "s", "ph": "f"}
_SOFT = re.compile("ch|ts|dge?|c(?=[eiy])|ph")
_SMALL_KANA = re.compile("iy(?=[aou])")  # `ジャ` is written as `ji` and `ya`
_R_UNHEARD = re.compile(r"r(?![aeiouyr]|$)|r(?=e\b|r*$|r*\s)")
_NO_CONSONANT = re.compile(r"[aeiouy]")
_REPEATED = re.compile(r"(.)\1+")


class Sounds:
    """Names by how they sound; `letters` are those of the other alphabet with the sounds that they stand for."""

    def __init__(self, names: Iterable[str], letters: Mapping[str, str]) -> None:
        self._letters = letters
        self._names: dict[str, list[str]] = {}
        full_names = dict.fromkeys(filter(None, map(_spoken, names)))
        parts = dict.fromkeys(word for name in full_names for word in name.split() if word not in full_names)
        for shortest, group in ((MIN_NAME, full_names), (MIN_WORD, parts)):
            earlier_sounds = frozenset(self._names)
            for name in group:
                for sound in _sounds_of(name):
                    if len(sound) >= shortest and sound not in earlier_sounds:
                        self._names.setdefault(sound, []).append(name)
        self._sorted = sorted(self._names)

    def name_of(self, word: str) -> str:
        """The name that sounds most like a word in the other alphabet; none: empty."""
        written = "".join(self._letters.get(letter, letter) for letter in letters_of([word]))
        sound = _consonants(written)
        names = self._names.get(sound, ()) or self._unfinished(sound)
        likeness, name = max(((_likeness(written, name), name) for name in names), default=(0.0, ""))
        return name if likeness >= MIN_LIKENESS else ""

    def _unfinished(self, sound: str) -> list[str]:
        """The names that begin so, if it is long enough to tell."""
        if len(sound) < MIN_BEGINNING:
            return []
        start = bisect_left(self._sorted, sound)
        end = bisect_left(self._sorted, f"{sound}~", start)
        return [name for each in self._sorted[start:end] for name in self._names[each]]


class Loanwords:
    """Names by how scripts of syllables (kana, Hangul) write them; `letters` are theirs with their sounds.

    Such scripts have few consonants: `l` is `r` in them, `v` is `b`, and nothing is an `r` that ends a syllable.
    """

    def __init__(self, names: Iterable[str], letters: Mapping[str, str], max_remembered: int = MAX_REMEMBERED) -> None:
        self._letters = letters
        self._names: dict[str, list[str]] = {}
        self.name_of = lru_cache(max_remembered)(self._nearest)
        full_names = dict.fromkeys(name for name in map(_spoken, names) if name.replace(" ", "").isalpha())
        parts = dict.fromkeys(word for name in full_names for word in name.split())
        for name in dict.fromkeys((*full_names, *parts)):
            for sound in {_borrowed(each) for each in _sounds_of(_R_UNHEARD.sub("", name))}:
                if len(sound) >= MIN_BORROWED:
                    self._names.setdefault(sound, []).append(name)

    def _nearest(self, word: str) -> str:
        """The name that a word in syllables sounds like; none: empty."""
        written = "".join(self._sound_of(letter) for letter in word)
        sound = _borrowed(_consonants(written))
        names = self._names.get(sound, ())
        likeness, name = max(((_borrowed_likeness(written, name), name) for name in names), default=(0.0, ""))
        is_short = len(sound) == MIN_BORROWED and " " not in name
        return name if likeness >= (MIN_SHORT_LIKENESS if is_short else MIN_BORROWED_LIKENESS) else ""

    def _sound_of(self, letter: str) -> str:
        sound = self._letters.get(letter)
        if sound is not None:
            return sound
        return "".join(self._letters.get(part, "") for part in unicodedata.normalize("NFD", letter))


class Homophones:
    """Names by how they are typed; `syllables` are {syllable: the characters that are typed so}."""

    def __init__(self, names: Iterable[str], syllables: Mapping[str, str]) -> None:
        self._syllables = {
            character: syllable for syllable, characters in syllables.items() for character in characters
        }
        self._names: dict[str, list[str]] = {}
        for name in names:
            if typed := self._typed(name):
                self._names.setdefault(typed, []).append(name)

    def name_of(self, word: str) -> str:
        """The name that is typed as a word of characters and has one of them, or as letters that stand so; else empty.

        Too many everyday words are typed as names that they have no character of (`其实` as `骑士`).
        """
        if typed := self._typed(word):
            return next((name for name in self._names.get(typed, ()) if not set(name).isdisjoint(word)), "")
        return self._names.get(word, [""])[0] if len(word) >= MIN_TYPED else ""

    def _typed(self, word: str) -> str:
        """The syllables of a word of several characters; another word: empty."""
        if len(word) < MIN_CHARACTERS or any(character not in self._syllables for character in word):
            return ""
        return "".join(self._syllables[character] for character in word)


def _spoken(name: str) -> str:
    """The words of a name in the letters of English."""
    return " ".join(word for word in words_of(name.lower()) if word.isascii())


def _borrowed(consonants: str) -> str:
    """Consonants as scripts of syllables tell them apart."""
    return _REPEATED.sub(r"\1", _MERGED.sub(lambda match: _MERGED_AS[match.group()], consonants))


def _borrowed_likeness(written: str, name: str) -> float:
    heard = _SAYING.sub(lambda match: _SAID_AS[(match.lastindex or 1) - 1], _R_UNHEARD.sub("", name))
    spoken = _as_syllables(_SMALL_KANA.sub("", written))
    return max(SequenceMatcher(None, spoken, _as_syllables(each)).ratio() for each in (heard, name.replace(" ", "")))


def _as_syllables(text: str) -> str:
    soft = _SOFT.sub(lambda match: _SOFT_AS[match.group()], text)
    return _REPEATED.sub(r"\1", soft.translate(_ALIKE))


def _sounds_of(name: str) -> set[str]:
    """The consonants that are heard in an English name, in each way that it may be said."""
    ways = [_HEARD.get(part, (part,)) for part in _WRITTEN.findall(name)]
    ambiguous = [place for place, way in enumerate(ways) if len(way) > 1]
    for place in ambiguous[MAX_AMBIGUOUS:]:
        ways[place] = ways[place][:1]
    return {_consonants("".join(way)) for way in product(*ways)}


def _consonants(written: str) -> str:
    return _REPEATED.sub(r"\1", _NO_CONSONANT.sub("", written).replace("z", "s"))


def _likeness(written: str, name: str) -> float:
    heard = _SAYING.sub(lambda match: _SAID_AS[(match.lastindex or 1) - 1], name)
    return max(SequenceMatcher(None, written, each).ratio() for each in (heard, name.replace(" ", "")))
