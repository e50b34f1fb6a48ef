"""The oracle of texts: which items have a text without amounts, by plain Python over a list."""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Collection
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

VOCABULARY = Path(__file__).parents[3] / "mappings" / "platforms"

Item = dict[str, Any]
Test = Callable[[Item], bool]

# What the texts of the tests have of the vocabulary: the words of a spelling, then the field and its values.
_MEANT: dict[tuple[str, ...], tuple[str, tuple[str, ...]]] = {
    ("ak",): ("weapon", ("AK-47",)),
    ("ak47",): ("weapon", ("AK-47",)),
    ("ak", "47"): ("weapon", ("AK-47",)),
    ("awp",): ("weapon", ("AWP",)),
    ("m4a1s",): ("weapon", ("M4A1-S",)),
    ("m4a1", "s"): ("weapon", ("M4A1-S",)),
    ("m4", "a1", "s"): ("weapon", ("M4A1-S",)),
    ("m4",): ("weapon", ("M4A1-S", "M4A4")),
    ("fiveseven",): ("weapon", ("Five-SeveN",)),
    ("five", "seven"): ("weapon", ("Five-SeveN",)),
    ("5", "7"): ("weapon", ("Five-SeveN",)),
    ("usps",): ("weapon", ("USP-S",)),
    ("usp", "s"): ("weapon", ("USP-S",)),
    ("p250",): ("weapon", ("P250",)),
    ("p90",): ("weapon", ("P90",)),
    ("ssg", "08"): ("weapon", ("SSG 08",)),
    ("karambit",): ("weapon", ("Karambit",)),
    ("bayonet",): ("weapon", ("Bayonet",)),
    ("bayo",): ("weapon", ("Bayonet",)),
    ("hand", "wraps"): ("weapon", ("Hand Wraps",)),
    ("st",): ("quality", ("StatTrak™", "★ StatTrak™")),
    ("stattrak",): ("quality", ("StatTrak™", "★ StatTrak™")),
    ("stat", "trak"): ("quality", ("StatTrak™", "★ StatTrak™")),
    ("souvenir",): ("quality", ("Souvenir",)),
    ("ft",): ("exterior", ("Field-Tested",)),
    ("field", "tested"): ("exterior", ("Field-Tested",)),
    ("fn",): ("exterior", ("Factory New",)),
    ("p2",): ("phase", ("Phase 2",)),
    ("phase", "2"): ("phase", ("Phase 2",)),
    ("ruby",): ("phase", ("Ruby",)),
    ("bp",): ("phase", ("Black Pearl",)),
    ("gloves",): ("type", ("Gloves",)),
    ("knife",): ("type", ("Knife",)),
    ("sticker",): ("type", ("Sticker",)),
    ("covert",): ("rarity", ("Covert",)),
}


def words(text: str) -> list[str]:
    """The words of a text without case, accents and marks."""
    apart = unicodedata.normalize("NFKD", text.replace("™", "").replace("★", ""))
    return re.findall(r"[^\W_]+", "".join(each for each in apart if not unicodedata.combining(each)).lower())


def spellings(text: str) -> set[str]:
    """A text's words, and two and three neighbours written as one."""
    words_there = words(text)
    return {
        "".join(words_there[start : start + length])
        for length in (1, 2, 3)
        for start in range(len(words_there) - length + 1)
    }


def words_of_item(item: Item) -> frozenset[str]:
    """All that a word can meet at an item."""
    details = item["details"]
    return _words_of((item["name"], details["type"], details["weapon"], details["phase"]))


@cache
def _words_of(texts: tuple[str | None, ...]) -> frozenset[str]:
    return frozenset().union(*(spellings(text) for text in texts if text))


@cache
def names() -> frozenset[tuple[str, ...]]:
    """The names that the vocabulary's files list, each by its words."""
    files = [tomllib.loads(file.read_text(encoding="utf-8")) for file in VOCABULARY.rglob("730*/*.toml")]
    files.append(tomllib.loads((VOCABULARY / "730.toml").read_text(encoding="utf-8"))["vocabulary"])
    listed = [name for file in files for key in ("words", "finish_names") for name in file.get(key, ())]
    return frozenset(tuple(words(name)) for name in listed)


@cache
def edits(each: str, other: str) -> int:
    """The fewest letters to insert, drop, change or swap with their neighbour, each letter at most once."""
    rows = [list(range(len(other) + 1))]
    for at, letter in enumerate(each, 1):
        row = [at]
        for to, wanted in enumerate(other, 1):
            row.append(min(rows[-1][to] + 1, row[-1] + 1, rows[-1][to - 1] + (letter != wanted)))
            if at > 1 and to > 1 and (each[at - 2], letter) == (wanted, other[to - 2]):
                row[-1] = min(row[-1], rows[-2][to - 2] + 1)
        rows.append(row)
    return rows[-1][-1]


class Text:
    """A text without amounts, and which items have it in the strictest reading in which any has."""

    def __init__(self, text: str, items: list[Item]) -> None:
        self._words = words(text)
        self._finished = text[-1:].isspace()
        self._terms = self._cut()
        self._alone = len(self._words) == 1
        self._words_of = {id(item): words_of_item(item) for item in items}
        self.test = next((test for test in self._readings(items) if any(map(test, items))), self._test(frozenset()))

    def _cut(self) -> list[tuple[int, int]]:
        """Each term's first word and the one after its last: known spellings as long as possible, else single words."""
        terms, at = [], 0
        while at < len(self._words):
            length = next((n for n in (3, 2, 1) if tuple(self._words[at : at + n]) in _MEANT), 1)
            terms.append((at, min(at + length, len(self._words))))
            at += length
        return terms

    def _has_meaning(self, term: tuple[int, int]) -> bool:
        return self._at(term) in _MEANT

    def _narrow(self) -> list[int]:
        """The terms that narrow: a weapon or a type, where the text says more than that."""
        fields = {at: _MEANT[words_at] for at, term in enumerate(self._terms) if (words_at := self._at(term)) in _MEANT}
        return [at for at, (field, _) in fields.items() if field in ("weapon", "type") and len(self._terms) > 1]

    def _at(self, term: tuple[int, int]) -> tuple[str, ...]:
        return tuple(self._words[slice(*term)])

    def _readings(self, items: list[Item]) -> list[Test]:
        unmatched = {
            self._words[start] for start, end in self._terms if not self._has_meaning((start, end)) and end - start == 1
        }
        unmatched = {word for word in unmatched if not any(each.isdigit() for each in word)}
        places = {word: self._words.index(word) for word in unmatched}
        unknown = {
            word
            for word in unmatched
            if not any(self._word(places[word], self._words_of[id(item)], "names", frozenset()) for item in items)
        }
        narrow = self._narrow()
        fewer = [frozenset(narrow), frozenset(narrow[-1:]), frozenset[int]()]
        loose = [self._test(frozenset(unknown), "names", narrowing) for narrowing in fewer] if unknown else []
        return [
            *(self._test(frozenset(), "strict", narrowing) for narrowing in fewer),
            self._test(frozenset(), "sets", fewer[0]),
            self._test(frozenset(), "names"),
            *(self._test(frozenset(), "prefixes", narrowing) for narrowing in fewer),
            *self._any_sticker(),
            *loose,
            *(self._test(frozenset(unmatched), "names", narrowing) for narrowing in fewer),
            self._test(frozenset(word for word in unknown if len(word) > (6 if self._alone else 4)), "first", fewer[0]),
            *self._partial(unknown, items, fewer),
            *self._names_alone(unmatched, unknown, fewer),
        ]

    def _any_sticker(self) -> list[Test]:
        """Beside a weapon the word `sticker` says that the item has one."""
        fields = {at: _MEANT[self._at(term)] for at, term in enumerate(self._terms) if self._has_meaning(term)}
        stickers = {at for at, values in fields.items() if values == ("type", ("Sticker",))}
        if not stickers or not any(field == "weapon" for field, _ in fields.values()):
            return []
        others = [(at, term) for at, term in enumerate(self._terms) if at not in stickers]
        return [
            lambda item: (
                bool(item["attachments"])
                and all(self._term(term, item, "strict", frozenset(), at in fields) for at, term in others)
            )
        ]

    def _partial(self, unknown: set[str], items: list[Item], fewer: list[frozenset[int]]) -> list[Test]:
        """Without words that nothing has: first those that are not even similar to one, then all."""
        if not unknown or not any(
            self._has_meaning(term) and not "".join(self._at(term)).isdigit() for term in self._terms
        ):
            return []
        similar = {
            word
            for word in unknown
            if any(_similar(word, each) for words_of_item in self._words_of.values() for each in words_of_item)
        }
        ways = ((frozenset(similar), "names", frozenset(unknown - similar)), (frozenset[str](), "strict", unknown))
        return [
            self._test(mistyped, how, narrowing, frozenset(out))
            for mistyped, how, out in ways
            if self._says_enough(out)
            for narrowing in fewer
        ]

    def _names_alone(self, unmatched: set[str], unknown: set[str], fewer: list[frozenset[int]]) -> list[Test]:
        """Without words of no name: of five or fewer that something has one, then two of them, at last all."""
        of_names = {word for at in range(len(self._words)) for word in self._name_at(at)}
        if not of_names and not any(self._has_meaning(term) for term in self._terms):
            return []
        elsewhere = sorted(unmatched - unknown - of_names)
        some = [set(out) for count in (1, 2) for out in combinations(elsewhere, count)] if len(elsewhere) <= 5 else []
        missing = unknown - of_names
        choices = [missing | out for out in some if len(out) < len(elsewhere)] + [missing | set(elsewhere)]
        enough = [out for out in choices if out and self._says_enough(out)]
        return [self._test(frozenset(), "strict", narrowing, frozenset(out)) for out in enough for narrowing in fewer]

    def _says_enough(self, ignored: Collection[str]) -> bool:
        """Whether more is left than a detail, or than one word of a name beside two others that are ignored."""
        out = [term for term in self._terms if not self._has_meaning(term) and set(self._at(term)) & set(ignored)]
        left = [term for term in self._terms if term not in out]
        fields = [_MEANT[self._at(term)][0] if self._has_meaning(term) else None for term in left]
        if {"weapon", "type"} & set(fields):
            return True
        if all(fields):
            return len(out) < len(left)
        return len(left) > 1 or len(out) < 2

    def _name_at(self, at: int) -> list[str]:
        """The words of the longest name that begins there, mere words of the text."""
        mere = {
            place for start, end in self._terms if not self._has_meaning((start, end)) for place in range(start, end)
        }
        longest = next((end for end in range(len(self._words), at, -1) if tuple(self._words[at:end]) in names()), at)
        words_there = self._words[at:longest]
        return (
            words_there
            if mere.issuperset(range(at, longest)) and not any(each.isdigit() for each in words_there)
            else []
        )

    def _test(
        self,
        mistyped: frozenset[str],
        how: str = "strict",
        narrow: frozenset[int] = frozenset(),
        ignored: frozenset[str] = frozenset(),
    ) -> Test:
        return lambda item: all(
            self._term(term, item, how, mistyped, at in narrow)
            for at, term in enumerate(self._terms)
            if self._has_meaning(term) or not set(self._at(term)) & ignored
        )

    def _term(self, term: tuple[int, int], item: Item, how: str, mistyped: frozenset[str], narrow: bool) -> bool:
        has = self._words_of[id(item)]
        if how == "sets" and not self._has_meaning(term):
            has |= spellings(item["details"]["set"] or "")
        if how == "prefixes" and not self._has_meaning(term) and self._is_beginning(term, has):
            return True
        if not narrow and all(self._word(place, has, how, mistyped) for place in range(*term)):
            return True
        if not self._has_meaning(term):
            return False
        field, values = _MEANT[self._at(term)]
        if item["details"][field] is not None and words(item["details"][field]) in [words(value) for value in values]:
            return True
        return how == "names" and not narrow and any(set(words(value)) <= has for value in values)

    def _is_beginning(self, term: tuple[int, int], has: frozenset[str]) -> bool:
        (word,) = self._at(term)
        mere = len(word) > 2 and not any(each.isdigit() for each in word)
        return mere and any(each.startswith(word) for each in has)

    def _word(self, place: int, has: frozenset[str], how: str, mistyped: frozenset[str]) -> bool:
        typed_words, last = self._words, len(self._words)
        joins = {
            (start, start + length)
            for length in (1, 2, 3)
            for start in range(max(0, place - length + 1), place + 1)
            if start + length <= last
        }
        if any("".join(typed_words[start:end]) in has for start, end in joins):
            return True
        endings = [] if self._finished else ["".join(typed_words[start:end]) for start, end in joins if end == last]
        if how not in ("names", "first"):
            open_ended = not self._has_meaning(self._terms[-1])
            endings = [each for each in endings if open_ended and len(each) > 1 and not each.isdigit()]
        if any(each.startswith(ending) for ending in endings for each in has):
            return True
        return typed_words[place] in mistyped and any(
            _similar(typed_words[place], each, how != "first", two_from=10 if self._alone else 8) for each in has
        )


def _similar(typed_words: str, each: str, same_first: bool = True, two_from: int = 8) -> bool:
    allowed = 0 if len(typed_words) < 4 else 1 if len(typed_words) < two_from else 2
    return (
        (typed_words[0] == each[0] or not same_first)
        and abs(len(typed_words) - len(each)) <= allowed
        and edits(typed_words, each) <= allowed
    )


def test_of(text: str, items: list[Item]) -> Test:
    """Whether an item has the text, in the reading that is in force with these items."""
    if words(text):
        return Text(text, items).test
    marks = [each for each in text if not each.isspace() and unicodedata.category(each) not in ("Cc", "Mn")]
    return lambda item: all(mark in item["name"] for mark in marks)
