"""Names written by ear in another alphabet (`хайпер бист`), found by their consonants. Pure."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from itertools import product

from mappings.vocabulary.words import letters_of, words_of

MIN_NAME = 2  # consonants of a whole name
MIN_WORD = 3  # consonants of a single word of one
MIN_BEGINNING = 5  # consonants of the beginning of a name
MIN_LIKENESS = 0.62  # of what is written to what is heard, vowels included
MAX_DOUBTS = 5  # places of a name where more than one sound is tried
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
_NO_CONSONANT = re.compile(r"[aeiouy]")
_REPEATED = re.compile(r"(.)\1+")


class Sounds:
    """Names by how they sound; `letters` are those of the other alphabet with the sounds that they stand for."""

    def __init__(self, names: Iterable[str], letters: Mapping[str, str]) -> None:
        self._letters = letters
        self._names: dict[str, list[str]] = {}
        spoken = (" ".join(word for word in words_of(name.lower()) if word.isascii()) for name in names)
        full_names = dict.fromkeys(name for name in spoken if name)
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


def _sounds_of(name: str) -> set[str]:
    """The consonants that are heard in an English name, in each way that it may be said."""
    ways = [_HEARD.get(part, (part,)) for part in _WRITTEN.findall(name)]
    doubtful = [place for place, way in enumerate(ways) if len(way) > 1]
    for place in doubtful[MAX_DOUBTS:]:
        ways[place] = ways[place][:1]
    return {_consonants("".join(way)) for way in product(*ways)}


def _consonants(written: str) -> str:
    return _REPEATED.sub(r"\1", _NO_CONSONANT.sub("", written).replace("z", "s"))


def _likeness(written: str, name: str) -> float:
    heard = _SAYING.sub(lambda match: _SAID_AS[(match.lastindex or 1) - 1], name)
    return max(SequenceMatcher(None, written, each).ratio() for each in (heard, name.replace(" ", "")))
