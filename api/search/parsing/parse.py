"""Understanding of the text: what a buyer typed in; words, vocabulary and amounts that an item must meet out. Pure.

Words are asked for as they were typed and joined with their neighbours, because the index holds every name's words
and the joins of two and three of them: `ak 47`, `ak-47` and `ak47` meet at `AK-47`, `m4 a1s` meets `M4A1-S`. What the
platform's vocabulary knows is met by what it means or by the typed words, so no item is lost by being named so; but a
word that narrows (a weapon, a type) is met by what it means alone where the text says more than that.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from api.search.parsing.quantities import Amount, amounts_of, around, with_bare_seeds
from mappings.platforms import Platform
from mappings.vocabulary import Meaning, Vocabulary, letters_of, words_of

LONGEST_JOIN = 3  # words, as `max_shingle_size` of the filter `joined` in gear.json
MOST_JOINED = 20  # words: no name has more, and the engine takes 1,024 clauses (indices.query.bool.max_clause_count)
# Fields of which a text may name several values, any of which is meant: names of items have no other's words.
ALTERNATIVES = frozenset({"exterior", "phase", "quality", "rarity"})
LEAST_BEGUN = 2  # letters: what shorter words may be the beginning of is nearly everything


@dataclass(frozen=True)
class Word:
    """A typed word, met by one of its spellings or by a word that begins with one of `begun`.

    `endings` are the spellings with which the text ends, so that they may be unfinished; where the word is `mistyped`,
    similar words meet it too.
    """

    typed: str
    spellings: tuple[str, ...]
    endings: tuple[str, ...] = ()
    begun: tuple[str, ...] = ()
    mistyped: bool = False

    @property
    def may_be_mistyped(self) -> bool:
        """Numbers, model names and years mean themselves: what has a digit is never taken for something else."""
        return not any(one.isnumeric() for one in self.typed)

    @property
    def is_last(self) -> bool:
        """Whether the text ends with this very word, so that it may be unfinished."""
        return self.typed in self.endings


@dataclass(frozen=True)
class Term:
    """Words that are met as they are, or by one of the meanings, or as `either` of other terms.

    `narrow`: by the meanings alone; `named`: also by the meanings' values as words; `ignored`: says nothing of an item.
    """

    words: tuple[Word, ...]
    meanings: tuple[Meaning, ...] = ()
    narrow: bool = False
    named: bool = False
    ignored: bool = False
    either: tuple["Term", ...] = ()

    @property
    def typed(self) -> str:
        """The words as they were typed."""
        return " ".join(word.typed for word in self.words)

    @property
    def all(self) -> tuple["Term", ...]:
        """The term and those that may be met in its place."""
        return (self, *self.either)


@dataclass(frozen=True)
class Reading:
    """How a text is read for one platform: an item must meet all terms and amounts; without words, all `marks`."""

    platform: int
    minor_digits: int
    currency: str
    terms: tuple[Term, ...] = ()
    amounts: tuple[Amount, ...] = ()
    marks: str = ""


@dataclass(frozen=True)
class Understood:
    """A text and its reading for each platform that is searched; `how` names the readings' kind."""

    text: str
    readings: tuple[Reading, ...]
    how: str = "strict"

    @property
    def everything(self) -> bool:
        """Whether the text asks for nothing in particular."""
        return not self.text.strip()


def understand(text: str, platforms: Sequence[Platform]) -> Understood:
    """Reads a text of any characters strictly; control characters count as blanks."""
    visible = text
    if not text.isprintable():
        visible = "".join(" " if unicodedata.category(one) == "Cc" else one for one in text)
    return Understood(visible, tuple(read(visible, platform) for platform in platforms))


def read(text: str, platform: Platform, *, sure_only: bool = False, with_seeds: bool = False) -> Reading:
    """One platform's strict reading; `sure_only`: numbers that may be words are words; `with_seeds`: or seeds."""
    language = platform.language
    found = amounts_of(text, lambda bare: language.parts(words_of(bare)))
    found = [one for one in found if one.sure or not sure_only]
    if with_seeds:
        found = with_bare_seeds(text, found)
    terms: list[Term] = []
    rest = list(around(text, found))
    for piece in rest:
        ended = piece is not rest[-1] or text[-1:].isspace()
        terms += _terms(words_of(piece), language, open_ended=not ended)
    terms = _either(terms)
    if len(terms) + len(found) > 1:
        terms = [replace(term, narrow=language.narrows(term.meanings)) for term in terms]
    marks = "" if terms else _marks(" ".join(rest), with_punctuation=not found)
    return Reading(platform.id, platform.minor_digits, platform.currency, tuple(terms), tuple(found), marks)


def _terms(words: list[str], language: Vocabulary, *, open_ended: bool) -> list[Term]:
    """The terms of neighbouring words: the longest spellings of the vocabulary, other words one by one."""
    typed = [_word(words, place, open_ended=open_ended) for place in range(len(words))]
    letters = [letters_of([word]) for word in words]
    terms: list[Term] = []
    for at, length, entry in language.cut(letters):
        held = tuple(typed[at : at + length])
        if entry is None:
            terms.append(Term(held, ignored=letters[at] in language.ignored))
        else:
            terms.append(Term(_finished(held), entry.meanings))
    if terms and terms[-1].meanings:  # a word that is known is finished, and with it what is joined with it
        return [replace(term, words=_finished(term.words)) for term in terms]
    return terms


def _either(terms: list[Term]) -> list[Term]:
    """The terms, those that are other values of the same field (`ww bs`) as one: an item has one of them only."""
    found: list[Term] = []
    for term in terms:
        field, values = _value_of(term)
        for place, other in enumerate(found):
            if field in ALTERNATIVES and _value_of(other)[0] == field and not values & _value_of(other)[1]:
                found[place] = replace(other, either=(*other.either, term))
                break
        else:
            found.append(term)
    return found


def _value_of(term: Term) -> tuple[str, frozenset[str]]:
    """The field and its values, if a term means nothing else."""
    if len(term.meanings) == 1 and len(term.meanings[0].filters) == 1 and not term.meanings[0].words:
        ((field, values),) = term.meanings[0].filters
        return field, frozenset(values)
    return "", frozenset()


def _finished(words: tuple[Word, ...]) -> tuple[Word, ...]:
    return tuple(replace(word, begun=()) for word in words)


def _word(words: list[str], place: int, *, open_ended: bool) -> Word:
    """The word at this place alone and in every join of neighbours that holds it, without repeats."""
    last = len(words) - 1
    found, endings = [words[place]], []
    for length in range(1, (LONGEST_JOIN if len(words) <= MOST_JOINED else 1) + 1):
        starts = range(max(0, place - length + 1), min(place, len(words) - length) + 1)
        found += ["".join(words[start : start + length]) for start in starts]
        if open_ended and starts and starts[-1] + length - 1 == last:
            endings.append("".join(words[starts[-1] :]))
    begun = [one for one in endings if len(one) >= LEAST_BEGUN and not one.isnumeric()]
    return Word(words[place], tuple(dict.fromkeys(found)), tuple(endings), tuple(begun))


def _marks(text: str, *, with_punctuation: bool) -> str:
    """The marks of a text without words; what is left beside amounts (`,`, `-`) asks for nothing."""
    kept = text if with_punctuation else "".join(one for one in text if not one.isascii())
    return kept.strip()
