"""The words of a text with all that the index may hold of each, and the terms that they are read as. Pure.

The index holds every name's words and the joins of two and three of them: `ak 47`, `ak-47` and `ak47` match `AK-47`,
`m4 a1s` matches `M4A1-S`.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import groupby, takewhile
from operator import attrgetter

from api.search.parsing.quantities import Quantity
from mappings.vocabulary.entries import Entry, Meaning, Role, values_of
from mappings.vocabulary.numerals import UNSPACED, Numerals
from mappings.vocabulary.phrases import Phrases
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of, letters_of_text, words_of

MAX_JOIN = 3  # words, as `max_shingle_size` of the filter `joined` in products.json
MAX_JOINED_WORDS = 20  # no name has more, and the engine takes 1,024 clauses (indices.query.bool.max_clause_count)
MAX_NAME = 3  # words of a case's name between how many of it are wanted and its type (`20 broken fang cases`)
MIN_PREFIX_CHARACTERS = 2  # shorter prefixes match nearly everything
_LETTERS_OF_DIGITS = str.maketrans("013457", "oieast")
_YEAR_JOINED = re.compile(r"^(20[12]\d)(?=[A-Za-z]{2})")  # `上海2024donk`
_COUNTED = re.compile(r"(\d{1,2}x)([^\W\d_]{3,})", re.IGNORECASE)
_MEASURED = re.compile(r"(\d{1,4})([^\W\d_]{2,4})")
_MIN_NICKNAME = 4  # letters: models have fewer (`g3sg1`)
_COUNT = re.compile(r"(\d{1,4})x|x(\d{1,4})")
_ORDINAL = re.compile(r"\d{1,3}(?:st|nd|rd|th|[dh])")  # of a birthday; days and hours of a trade lock
MAX_FEW = 5  # as many things as an item carries
_FEW = frozenset(map(Decimal, range(1, MAX_FEW + 1)))
_MAX_ATTACHED_NAME = 2  # words between how many and `stickers`: `3 holo stickers`
_NUMBER = re.compile(r"\d{1,3}")


@dataclass(frozen=True)
class Word:
    """A typed word; it matches by one of its spellings, or any word that begins with one of `prefixes`.

    `endings` are the spellings that the text ends with, so they may be unfinished. A `fuzzy` word also matches similar
    words; their first letter may be another where it is `fuzzy_first`. One that `is_alone` in its text has nothing
    beside it to tell chance by: words like it are more similar.
    """

    typed: str
    spellings: tuple[str, ...]
    endings: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    fuzzy: bool = False
    fuzzy_first: bool = False
    is_alone: bool = False

    @property
    def is_correctable(self) -> bool:
        """Numbers, model names and years mean themselves: a word with a digit is never corrected."""
        return not any(character.isnumeric() for character in self.typed)

    @property
    def is_nickname(self) -> bool:
        """Whether it is a name with one digit in a letter's place, as players have them: `s1mple`, `m0nesy`."""
        letters = sum(character.isalpha() for character in self.typed)
        is_read = self.typed[-1:].isalpha() and self.typed.translate(_LETTERS_OF_DIGITS).isalpha()
        return is_read and letters == len(self.typed) - 1 >= _MIN_NICKNAME

    @property
    def is_last(self) -> bool:
        """Whether the text ends with this very word, so that it may be unfinished."""
        return self.typed in self.endings


@dataclass(frozen=True)
class Term:
    """Words that match as they are, or by one of the meanings, or by one of the alternative terms."""

    words: tuple[Word, ...]
    meanings: tuple[Meaning, ...] = ()
    otherwise: tuple[Meaning, ...] = ()  # what it means where its meanings find nothing
    alternatives: tuple["Term", ...] = ()

    # How it matches.
    narrows: bool = False  # by the meanings alone
    by_name: bool = False  # by the meanings' values as words too
    in_set: bool = False  # its words may be of the item's set
    only_in_set: bool = False  # and of nothing else
    is_attached: bool = False  # what such a thing is on, too
    on_item: bool = False  # what is on the item; of what is excluded: or the item itself

    # What it says of an item, or of the words beside it.
    is_filler: bool = False  # nothing of an item
    is_negation: bool = False  # others are not wanted
    count: int = 0  # how many; 0: it does not say
    carries: bool = False  # what follows is on the item
    is_foreign: bool = False  # goods that are sold elsewhere

    @property
    def typed(self) -> str:
        """The words as they were typed."""
        return " ".join(word.typed for word in self.words)

    @property
    def options(self) -> tuple["Term", ...]:
        """The term and its alternatives."""
        return (self, *self.alternatives)

    @property
    def is_mere(self) -> bool:
        """Whether it is nothing but words."""
        return not (self.meanings or self.alternatives)

    @property
    def is_known(self) -> bool:
        """Whether the vocabulary knows what it means, and it is no mere number (a year)."""
        return bool(self.meanings) and not self.typed.isnumeric()

    @property
    def fields(self) -> frozenset[str]:
        """The fields whose values it means; empty for mere words."""
        return frozenset(name for meaning in self.meanings for name, _ in meaning.filters)

    @property
    def is_color(self) -> bool:
        """Whether it is a word of names that is a rarity in its second meaning, or in both (`purple`)."""
        fields = {name for each in self.otherwise for name, _ in each.filters}
        return fields == {"rarity"} and self.fields <= fields

    def is_within(self, other: "Term") -> bool:
        """Whether it means what the other one means, or some of its values: battle-scarred of what is scratched."""
        if self.meanings == other.meanings:
            return bool(self.meanings)
        values, others = (
            {(name, value) for meaning in term.meanings for name, values in meaning.filters for value in values}
            for term in (self, other)
        )
        return bool(values) and values <= others and not any(meaning.words for meaning in self.meanings)


@dataclass
class ParsedWords:
    """The words of a piece of a text, parsed: terms, what is not wanted, and the orders asked for.

    `excludes_next`: it ends with a word of exclusion, so the quantity behind it is not wanted; `excludes_before`: it
    begins with one that is of what stands before it.
    """

    terms: list[Term] = field(default_factory=list)
    excluded: list[Term] = field(default_factory=list)
    sorts: list[tuple[str, ...]] = field(default_factory=list)
    excludes_next: bool = False
    excludes_before: bool = False

    def finish_last(self) -> None:
        """No word of the last terms, as many as are joined, is unfinished any more."""
        last = [(term, finished(term.words)) for term in self.terms[-MAX_JOIN:]]
        self.terms[-MAX_JOIN:] = [term if words == term.words else replace(term, words=words) for term, words in last]


def words_in(words: list[str], *, open_ended: bool) -> list[Word]:
    """The words, each alone and in every join of neighbours that contains it, without repeats."""
    longest = MAX_JOIN if len(words) <= MAX_JOINED_WORDS else 1
    joins = [
        ["".join(words[start : start + length]) for start in range(len(words) - length + 1)]
        for length in range(1, longest + 1)
    ]
    read = []
    for at, typed in enumerate(words):
        spellings = [
            spelling for length, joined in enumerate(joins, 1) for spelling in joined[max(0, at - length + 1) : at + 1]
        ]
        reach = len(words) - at  # a join ends the text if it is as long, or longer
        endings = tuple([joined[-1] for joined in joins[reach - 1 :] if joined]) if open_ended else ()
        prefixes = [each for each in endings if len(each) >= MIN_PREFIX_CHARACTERS and not each.isnumeric()]
        read.append(Word(typed, tuple(dict.fromkeys(spellings)), endings, tuple(prefixes)))
    return read


def mere_runs(terms: Sequence[Term]) -> list[list[str]]:
    """The typed words of terms beside each other that are nothing but words."""
    groups = groupby(terms, key=attrgetter("is_mere"))
    return [[word.typed for term in group for word in term.words] for is_mere, group in groups if is_mere]


def finished(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words, none of them unfinished."""
    return tuple(replace(word, prefixes=()) if word.prefixes else word for word in words)


def words_of_last_name(terms: Sequence[Term], letters_by_word: Mapping[str, str], names: Phrases) -> int:
    """How many of the last terms are the words of one known name; 0: the last one stands for itself."""
    letters: list[str] = []
    for term in reversed(terms[-names.longest :]):
        if not term.is_mere:
            break
        letters[:0] = [letters_by_word[word.typed] for word in term.words]
    return names.last_length(letters)


def names_in(term: Term) -> list[list[str]]:
    """The words that it stands for, each as a list; else its own."""
    return [words_of(meaning.words) for meaning in term.meanings] or [[word.typed for word in term.words]]


def is_name(term: Term) -> bool:
    """Whether it may be an alternative to other mere words: a filler or a number is none."""
    return not term.is_filler and not all(word.typed.isnumeric() for word in term.words)


def is_named(term: Term) -> bool:
    """Whether it names an item, with its weapon or without (`howl`, `dragon lore awp` in one spelling)."""
    return all(meaning.words for meaning in term.meanings) if term.fields else is_name(term)


def is_word(term: Term) -> bool:
    """Whether it may be left out: numbers, model names and what says that others are not wanted never are.

    A name with a digit in it is no number.
    """
    is_doubted = term.is_mere and not (term.is_attached or term.is_negation or term.is_foreign)
    return is_doubted and all(word.is_correctable or word.is_nickname for word in term.words)


def segmented(words: list[str], gaps: list[str], vocabulary: Vocabulary) -> tuple[list[str], list[str]]:
    """The words, those without blanks between them parted where they are not a known name with the ones beside them."""
    if not any(UNSPACED.search(word) for word in words):
        return words, gaps
    parts: list[str] = []
    parted_gaps: list[str] = []
    for at, length, _ in vocabulary.longest_spellings([letters_of([word]) for word in words]):
        segments = words[at : at + length] if length > 1 else vocabulary.segments(words[at])
        segments = [part for segment in segments for part in _YEAR_JOINED.sub(r"\1 ", segment).split(" ")]
        parts += segments
        parted_gaps += [*gaps[at : at + length], *[""] * (len(segments) - length)]
    return parts, [*parted_gaps, gaps[-1]]


def with_counts_apart(words: list[str], gaps: list[str], fillers: Collection[str]) -> tuple[list[str], list[str]]:
    """The words, a number of things apart from what they are: `4xtitan` is `4x titan`, `100шт` is `100 шт`."""
    for at in range(len(words) - 1, -1, -1):
        if not words[at][0].isdecimal():
            continue
        measured = _MEASURED.fullmatch(words[at])
        is_measured = measured is not None and letters_of([measured[2]]) in fillers
        if counted := measured if is_measured else _COUNTED.fullmatch(words[at]):
            words = [*words[:at], *counted.groups(), *words[at + 1 :]]
            gaps = [*gaps[: at + 1], "", *gaps[at + 1 :]]
    return words, gaps


def count_at(letters: Sequence[str], at: int) -> int:
    """How many the word there says: `10x`, `x10`, `10 x`; 0: it says no number of things."""
    if not (letters[at][:1].isdecimal() or letters[at][-1:].isdecimal()):
        return 0
    if count := _COUNT.fullmatch(letters[at]):
        return int(count[1] or count[2])
    is_times = "x" in (*letters[max(0, at - 1) : at], *letters[at + 1 : at + 2])
    return int(letters[at]) if is_times and _NUMBER.fullmatch(letters[at]) else 0


def few_in(word: str, numerals: Numerals) -> int:
    """How many things on an item a number in digits or words says; 0: it says none, or more than an item carries."""
    count = int(word) if word.isdecimal() else numerals.value_of(word)
    return count if count <= MAX_FEW else 0


def is_counted(text: str, vocabulary: Vocabulary) -> bool:
    """Whether a text begins with what the number before it counts: hours, stickers, (winter offensive) cases."""
    letters = [letters_of_text(word) for word in text.split()]
    if attached_follows(letters, 0, vocabulary) or vocabulary.begins_with_measure(letters):
        return True
    name = [*takewhile(lambda word: word not in vocabulary.ignored, letters[: MAX_NAME + 1])]
    plurals = (at for at, word in enumerate(name) if not at or word.endswith("s"))
    return any(is_opened(vocabulary.spelling_at(letters, at)[1], vocabulary) for at in plurals)


def is_opened(entry: Entry | None, vocabulary: Vocabulary) -> bool:
    """Whether it is what can be opened, or what opens it: a case, a capsule, a key."""
    types = values_of(entry.meanings, "type") if entry is not None else set()
    return bool(types) and (vocabulary.opened | vocabulary.opens.keys()).issuperset(types)


def attached_follows(letters: Sequence[str], at: int, vocabulary: Vocabulary) -> bool:
    """Whether what is put on items follows, or what says so: behind a few words of its name, or a filler or measure."""
    if at < len(letters) and letters[at] in vocabulary.ignored and letters[at] not in vocabulary.carriers:
        at += 1
    for _ in range(1 + _MAX_ATTACHED_NAME):
        length, entry = vocabulary.spelling_at(letters, at) if at < len(letters) else (1, None)
        if _is_attached(entry, vocabulary):
            return True
        is_name = entry is None or entry.is_name
        if at >= len(letters) or not is_name or letters[at] in vocabulary.ignored or not letters[at].isalpha():
            return False
        at += length
    return False


def attached_at(word: str, letters: Sequence[str], at: int, vocabulary: Vocabulary) -> int:
    """How many things on an item the word there says: `with 4 foils`, `4 stickers`, `스티커 4개`; 0: none."""
    count = few_in(word, vocabulary.amount_words.numerals)
    if not count:
        return 0
    beside = (*letters[max(0, at - 1) : at], *letters[at + 1 : at + 2])
    is_carried = any(each in vocabulary.carriers for each in beside)
    is_measured = at > 0 and vocabulary.begins_with_measure(letters[at + 1 :])
    follows_attached = is_measured and _is_attached(vocabulary.spelling_at(letters, at - 1)[1], vocabulary)
    return count if is_carried or follows_attached or attached_follows(letters, at + 1, vocabulary) else 0


def _is_attached(entry: Entry | None, vocabulary: Vocabulary) -> bool:
    """Whether it is what is put on items, or says so."""
    return entry is not None and (vocabulary.is_attached(entry.meanings) or entry.role is Role.ATTACHED_AFTER)


def with_numbers_attached(
    text: str, quantities: list[Quantity], vocabulary: Vocabulary, names_weapon: Callable[[str], bool]
) -> list[Quantity]:
    """The quantities, a bound of a price as one of how many things a weapon has on it: `awp up to 2 stickers`."""
    for at, each in enumerate(quantities):
        has_one_bound = (each.low is None) != (each.high is None)
        if each.field == "price" and not each.currency and has_one_bound and (each.low or each.high) in _FEW:
            quantities[at] = _number_attached(text, each, vocabulary, names_weapon) or each
    return quantities


def _number_attached(
    text: str, quantity: Quantity, vocabulary: Vocabulary, names_weapon: Callable[[str], bool]
) -> Quantity | None:
    """So it is before what is put on items, and between `with` and a name: `with at least 2 crown foils`."""
    word = next(iter(words_of(text[quantity.end :])), "")
    if not word or not names_weapon(f"{text[: quantity.start]} {text[quantity.end :]}"):
        return None
    end = quantity.end
    if _is_attached(vocabulary.spelling_at([letters_of([word])], 0)[1], vocabulary):
        end = text.index(word, end) + len(word)
    elif quantity.low is None or letters_of(words_of(text[: quantity.start])[-1:]) not in vocabulary.carriers:
        return None
    low = None if quantity.low is None else quantity.low + quantity.is_strict
    high = None if quantity.high is None else quantity.high - quantity.is_strict
    typed = text[quantity.start : end]
    return replace(quantity, typed=typed, end=end, field="attachments", low=low, high=high, is_strict=False)


def is_count(letters: Sequence[str], gaps: Sequence[str], at: int, fillers: Collection[str]) -> bool:
    """Whether the word there only says how many, or which share; with a filler behind it, too: `2把`."""
    if letters[at] == "x":
        return any(map(_NUMBER.fullmatch, (*letters[max(0, at - 1) : at], *letters[at + 1 : at + 2])))
    if not letters[at].isdecimal():
        return bool(count_at(letters, at) or _ORDINAL.fullmatch(letters[at]))
    if count_at(letters, at):
        return True
    is_joined = not gaps[at + 1] and any(each in fillers for each in letters[at + 1 : at + 2])
    return is_joined or is_share(letters, gaps, at)


def is_pasted(gaps: Sequence[str], at: int) -> bool:
    """Whether the word there is all that stands between two marks of a market name: `Graffiti | Sorry (Red)`."""
    return "|" in gaps[at] and gaps[at + 1].lstrip()[:1] in ("(", "|")


def is_share(letters: Sequence[str], gaps: Sequence[str], at: int) -> bool:
    """Whether the word there is a share, or the first of two: `20%`, `95-100%`."""
    if not letters[at].isdecimal():
        return False
    gap = gaps[at + 1].strip()
    return gap.startswith("%") or (gap in ("-", "–") and at + 1 < len(letters) and is_share(letters, gaps, at + 1))
