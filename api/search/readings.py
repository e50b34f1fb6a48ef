"""Readings: a strictly read text in, its looser readings out. Pure.

A text is read strictly first. Only where no offered item of the platforms asked has its terms, whatever else the body
filters, is it read more loosely, in this order, and the first reading that finds something is in force:

1. `numbers`: what may be an amount or a word (`20-50`, `0.01`, `#661`) is a word.
2. `strict` after all, where its terms alone find something: then it is the amounts that nothing meets.
3. `names`: what the vocabulary means may stand in the name instead, and everything may be the beginning of a word.
4. `typos`: each word that no offered item has stands for similar words too.
5. `all_typos`: each word that may be mistyped does.

Amounts that can be nothing else stay in force in every reading. So filters, pages, sorts and facets of one text always
speak of the same reading. Where none finds anything the strict one is in force.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from enum import StrEnum

from api.search.understand import Reading, Term, Understood, Word, read
from mappings.platforms import Platform


class How(StrEnum):
    """The kinds of readings, from strict to loose."""

    STRICT = "strict"
    NUMBERS = "numbers"
    NAMES = "names"
    TYPOS = "typos"
    ALL_TYPOS = "all_typos"


def numbers(strict: Understood, platforms: Sequence[Platform]) -> Understood | None:
    """What may be an amount or a word is a word; None where nothing may be both."""
    if all(amount.sure for reading in strict.readings for amount in reading.amounts):
        return None
    readings = (read(strict.text, platform, sure_only=True) for platform in platforms)
    return replace(strict, readings=tuple(readings), how=How.NUMBERS)


def names(strict: Understood) -> Understood:
    """Meanings may stand in the name, and everything may be the beginning of a word."""

    def widened(term: Term) -> Term:
        words = tuple(replace(word, begun=word.endings) for word in term.words)
        return replace(term, words=words, named=any(one.filters for one in term.meanings))

    return _with_terms(strict, widened, How.NAMES)


def typos(strict: Understood, known: Collection[str], how: How) -> Understood | None:
    """As `names`, and words that are not known may be mistyped; None where no word may be."""

    def mistyped(term: Term) -> Term:
        return replace(term, words=tuple(replace(word, mistyped=_doubtful(term, word, known)) for word in term.words))

    loose = _with_terms(names(strict), mistyped, how)
    return loose if any(word.mistyped for term in _terms(loose) for word in term.words) else None


def doubtful_words(strict: Understood) -> list[Word]:
    """The words that may be mistyped, as `names` reads them, each once."""
    found = {word.typed: word for term in _terms(names(strict)) for word in term.words if _doubtful(term, word, ())}
    return list(found.values())


def alone(strict: Understood, word: Word) -> Understood:
    """One word of a text for itself, on all its platforms."""
    readings = (replace(one, terms=(Term((word,)),), amounts=()) for one in strict.readings)
    return Understood(word.typed, tuple(readings))


def without_amounts(understood: Understood) -> Understood:
    """The terms alone."""
    return replace(understood, readings=tuple(replace(one, amounts=()) for one in understood.readings))


def has_terms(understood: Understood) -> bool:
    """Whether there is a word that could be read in another way."""
    return any(reading.terms for reading in understood.readings)


def _doubtful(term: Term, word: Word, known: Collection[str]) -> bool:
    return not term.meanings and word.may_be_mistyped and word.typed not in known


def _terms(understood: Understood) -> list[Term]:
    return [term for reading in understood.readings for term in reading.terms]


def _with_terms(understood: Understood, change: Callable[[Term], Term], how: How) -> Understood:
    def changed(reading: Reading) -> Reading:
        return replace(reading, terms=tuple(change(term) for term in reading.terms))

    return replace(understood, readings=tuple(changed(one) for one in understood.readings), how=how)
