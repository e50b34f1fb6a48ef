"""Query parsing: splits a buyer's text into words, vocabulary terms and quantities that an item must match. Pure.

Words match as they were typed and joined with their neighbours, because the index holds every name's words and the
joins of two and three of them: `ak 47`, `ak-47` and `ak47` match `AK-47`, `m4 a1s` matches `M4A1-S`. A term of the
platform's vocabulary matches by its meaning or by the typed words, so no item is lost by its name; but a term that
narrows (a weapon, a type) matches by its meaning alone if the text says more than that.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from api.search.parsing.quantities import Quantity, quantities_of, text_between, with_bare_seeds
from mappings.platforms import Platform
from mappings.vocabulary import Meaning, Vocabulary, letters_of, words_of

MAX_JOIN = 3  # words, as `max_shingle_size` of the filter `joined` in gear.json
MAX_JOINED_WORDS = 20  # no name has more, and the engine takes 1,024 clauses (indices.query.bool.max_clause_count)
# Fields of which a text may name several alternatives: names of items contain no other words of these fields.
ALTERNATIVE_FIELDS = frozenset({"exterior", "phase", "quality", "rarity"})
MIN_PREFIX_CHARACTERS = 2  # shorter prefixes match nearly everything


class Relaxation(StrEnum):
    """How loosely a text is parsed, from strict to loose (see api.search.relaxation)."""

    STRICT = "strict"
    NUMBERS = "numbers"
    WORDS = "words"
    NAMES = "names"
    FILLERS = "fillers"
    SEEDS = "seeds"
    TYPOS = "typos"
    ALL_TYPOS = "all_typos"


@dataclass(frozen=True)
class Word:
    """A typed word; it matches by one of its spellings, or any word that begins with one of `prefixes`.

    `endings` are the spellings that the text ends with, so they may be unfinished. A `fuzzy` word also matches similar
    words.
    """

    typed: str
    spellings: tuple[str, ...]
    endings: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    fuzzy: bool = False

    @property
    def is_correctable(self) -> bool:
        """Numbers, model names and years mean themselves: a word with a digit is never corrected."""
        return not any(character.isnumeric() for character in self.typed)

    @property
    def is_last(self) -> bool:
        """Whether the text ends with this very word, so that it may be unfinished."""
        return self.typed in self.endings


@dataclass(frozen=True)
class Term:
    """Words that match as they are, or by one of the meanings, or by one of the alternative terms.

    `narrows`: it matches by the meanings alone. `by_name`: the meanings' values match as words too. `is_filler`: it
    says nothing about an item.
    """

    words: tuple[Word, ...]
    meanings: tuple[Meaning, ...] = ()
    narrows: bool = False
    by_name: bool = False
    is_filler: bool = False
    alternatives: tuple["Term", ...] = ()

    @property
    def typed(self) -> str:
        """The words as they were typed."""
        return " ".join(word.typed for word in self.words)

    @property
    def options(self) -> tuple["Term", ...]:
        """The term and its alternatives."""
        return (self, *self.alternatives)


@dataclass(frozen=True)
class PlatformParse:
    """A text parsed for one platform: an item must match all terms and quantities; without words, all `marks`."""

    platform: int
    minor_digits: int
    currency: str
    terms: tuple[Term, ...] = ()
    quantities: tuple[Quantity, ...] = ()
    marks: str = ""

    @property
    def options(self) -> list[Term]:
        """All terms, alternatives included."""
        return [option for term in self.terms for option in term.options]


@dataclass(frozen=True)
class ParsedQuery:
    """A text parsed for each platform that is searched."""

    text: str
    parses: tuple[PlatformParse, ...]
    relaxation: Relaxation = Relaxation.STRICT

    @property
    def matches_all(self) -> bool:
        """Whether the text is blank, so that it matches every item."""
        return not self.text.strip()


def parse_query(text: str, platforms: Sequence[Platform]) -> ParsedQuery:
    """Parses any text strictly; control characters count as blanks."""
    visible = text
    if not text.isprintable():
        visible = "".join(" " if unicodedata.category(letter) == "Cc" else letter for letter in text)
    return ParsedQuery(visible, tuple(parse_text(visible, platform) for platform in platforms))


def parse_text(text: str, platform: Platform, *, certain_only: bool = False, with_seeds: bool = False) -> PlatformParse:
    """Parses for one platform; `certain_only`: numbers that may be words are words; `with_seeds`: or seeds."""
    vocabulary = platform.language
    quantities = quantities_of(text, lambda number: vocabulary.parts(words_of(number)))
    quantities = [quantity for quantity in quantities if quantity.certain or not certain_only]
    if with_seeds:
        quantities = with_bare_seeds(text, quantities)
    terms: list[Term] = []
    pieces = list(text_between(text, quantities))
    for piece in pieces:
        ended = piece is not pieces[-1] or text[-1:].isspace()
        terms += _terms(words_of(piece), vocabulary, open_ended=not ended)
    terms = _with_alternatives(terms)
    if len(terms) + len(quantities) > 1:
        terms = [replace(term, narrows=vocabulary.narrows(term.meanings)) for term in terms]
    marks = "" if terms else _marks(" ".join(pieces), with_punctuation=not quantities)
    return PlatformParse(platform.id, platform.minor_digits, platform.currency, tuple(terms), tuple(quantities), marks)


def _terms(words: list[str], vocabulary: Vocabulary, *, open_ended: bool) -> list[Term]:
    """The terms of neighbouring words: the vocabulary's longest spellings, other words one by one."""
    typed = [_word(words, place, open_ended=open_ended) for place in range(len(words))]
    letters = [letters_of([word]) for word in words]
    terms: list[Term] = []
    for start, length, entry in vocabulary.cut(letters):
        part = tuple(typed[start : start + length])
        if entry is None:
            terms.append(Term(part, is_filler=letters[start] in vocabulary.ignored))
        else:
            terms.append(Term(_finished(part), entry.meanings))
    if terms and terms[-1].meanings:  # a known word is finished, and with it what is joined with it
        return [replace(term, words=_finished(term.words)) for term in terms]
    return terms


def _with_alternatives(terms: list[Term]) -> list[Term]:
    """The terms, other values of the same field (`ww bs`) merged into one: an item has only one of them."""
    merged: list[Term] = []
    for term in terms:
        field, values = _only_value_of(term)
        for place, other in enumerate(merged):
            other_field, other_values = _only_value_of(other)
            if field in ALTERNATIVE_FIELDS and other_field == field and not values & other_values:
                merged[place] = replace(other, alternatives=(*other.alternatives, term))
                break
        else:
            merged.append(term)
    return merged


def _only_value_of(term: Term) -> tuple[str, frozenset[str]]:
    """The field and its values, if a term means nothing else."""
    if len(term.meanings) == 1 and len(term.meanings[0].filters) == 1 and not term.meanings[0].words:
        ((field, values),) = term.meanings[0].filters
        return field, frozenset(values)
    return "", frozenset()


def _finished(words: tuple[Word, ...]) -> tuple[Word, ...]:
    return tuple(replace(word, prefixes=()) for word in words)


def _word(words: list[str], place: int, *, open_ended: bool) -> Word:
    """The word at this place, alone and in every join of neighbours that contains it, without repeats."""
    last = len(words) - 1
    spellings, endings = [words[place]], []
    for length in range(1, (MAX_JOIN if len(words) <= MAX_JOINED_WORDS else 1) + 1):
        starts = range(max(0, place - length + 1), min(place, len(words) - length) + 1)
        spellings += ["".join(words[start : start + length]) for start in starts]
        if open_ended and starts and starts[-1] + length - 1 == last:
            endings.append("".join(words[starts[-1] :]))
    prefixes = [ending for ending in endings if len(ending) >= MIN_PREFIX_CHARACTERS and not ending.isnumeric()]
    return Word(words[place], tuple(dict.fromkeys(spellings)), tuple(endings), tuple(prefixes))


def _marks(text: str, *, with_punctuation: bool) -> str:
    """The symbols of a text without words; punctuation left beside quantities (`,`, `-`) asks for nothing."""
    symbols = text if with_punctuation else "".join(letter for letter in text if not letter.isascii())
    return symbols.strip()
