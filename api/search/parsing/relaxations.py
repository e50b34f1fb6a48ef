"""Readings: a strictly read text in, its looser readings out. Pure.

A text is read strictly first. Only where no offered item of the platforms asked has its terms, whatever else the body
filters, is it read more loosely, in this order, and the first reading that finds something is in force:

1. `numbers`: what may be an amount or a word (`20-50`, `0.01`, `#661`) is a word.
2. `strict` after all, where its terms alone find something: then it is the amounts that nothing meets.
3. `words`: words that narrow (a weapon, a type), first all but the last, may be words of the name instead.
4. `names`: what the vocabulary means may stand in the name instead, and everything may be the beginning of a word.
5. `fillers`: words that say nothing of an item (`cheap`, `skin`) are left out, in these three ways again.
6. `seeds`: a number of three digits between blanks is a seed.
7. `typos`: each word that no offered item has stands for similar words too, a filler for nothing.
8. `all_typos`: each word that may be mistyped does.

Each of the last three as it narrows first, then with words that may be of the name. Amounts that can be nothing else
stay in force in every reading. So filters, pages, sorts and facets of one text always speak of the same reading. Where
none finds anything the strict one is in force.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from enum import StrEnum

from api.search.parsing.parse import Reading, Term, Understood, Word, read
from mappings.platforms import Platform


class How(StrEnum):
    """The kinds of readings, from strict to loose."""

    STRICT = "strict"
    NUMBERS = "numbers"
    WORDS = "words"
    NAMES = "names"
    FILLERS = "fillers"
    SEEDS = "seeds"
    TYPOS = "typos"
    ALL_TYPOS = "all_typos"


def candidates(strict: Understood, platforms: Sequence[Platform]) -> list[Understood]:
    """The readings without typos in their order, the strict one among them."""
    as_words = numbers(strict, platforms)
    found = [] if as_words is None else [as_words, *words(as_words)]
    found += [strict, *words(strict, How.WORDS), names(strict)]
    meant = without_fillers(strict)
    if meant is not None:
        found += [meant, *words(meant), names(meant, How.FILLERS)]
    with_seeds = seeds(strict, platforms)
    if with_seeds is not None:
        found += [with_seeds, *words(with_seeds)]
    return found


def mistyped(strict: Understood, known: Collection[str]) -> list[Understood]:
    """The readings with typos in their order; `known` are words that an offered item has."""
    base = without_fillers(strict, known) or strict
    found = (typos(base, known, How.TYPOS), typos(base, (), How.ALL_TYPOS))
    return [one for loose in found if loose is not None for one in (loose, *words(loose))]


def numbers(strict: Understood, platforms: Sequence[Platform]) -> Understood | None:
    """What may be an amount or a word is a word; None where nothing may be both."""
    if all(amount.sure for reading in strict.readings for amount in reading.amounts):
        return None
    readings = (read(strict.text, platform, sure_only=True) for platform in platforms)
    return replace(strict, readings=tuple(readings), how=How.NUMBERS)


def words(understood: Understood, how: How | None = None) -> list[Understood]:
    """What narrows may be a word of the name: all but the last that narrows (`glove case` is a case), then that too."""

    def but_the_last(reading: Reading) -> Reading:
        last = max((place for place, term in enumerate(reading.terms) if term.narrow), default=None)
        terms = (replace(term, narrow=term.narrow and at == last) for at, term in enumerate(reading.terms))
        return replace(reading, terms=tuple(terms))

    some = tuple(but_the_last(reading) for reading in understood.readings)
    none = _with_terms(understood, lambda term: replace(term, narrow=False), How.WORDS).readings
    others = dict.fromkeys(readings for readings in (some, none) if readings != understood.readings)
    return [replace(understood, readings=readings, how=how or How(understood.how)) for readings in others]


def names(strict: Understood, how: How = How.NAMES) -> Understood:
    """Meanings may stand in the name, and everything may be the beginning of a word."""

    def widened(term: Term) -> Term:
        begun = tuple(replace(word, begun=word.endings) for word in term.words)
        return replace(term, words=begun, narrow=False, named=any(one.filters for one in term.meanings))

    return _with_terms(strict, widened, how)


def without_fillers(strict: Understood, known: Collection[str] = ()) -> Understood | None:
    """Without the words that say nothing of an item, but those that are known; None where that changes nothing."""

    def kept(reading: Reading) -> Reading:
        terms = tuple(term for term in reading.terms if not term.ignored or term.typed in known)
        return replace(reading, terms=terms) if terms or reading.amounts else reading

    readings = tuple(kept(reading) for reading in strict.readings)
    return None if readings == strict.readings else replace(strict, readings=readings, how=How.FILLERS)


def seeds(strict: Understood, platforms: Sequence[Platform]) -> Understood | None:
    """Bare numbers of three digits are seeds; None where there is none, or nothing else."""
    readings = tuple(read(strict.text, platform, with_seeds=True) for platform in platforms)
    if readings == strict.readings or not all(reading.terms for reading in readings):
        return None
    return replace(strict, readings=readings, how=How.SEEDS)


def typos(strict: Understood, known: Collection[str], how: How) -> Understood | None:
    """Words that are not known may be mistyped, and everything may be a beginning; None where no word may be."""

    def loose(term: Term) -> Term:
        held = tuple(replace(word, mistyped=_doubtful(term, word, known), begun=word.endings) for word in term.words)
        return replace(term, words=held, named=not term.narrow and any(one.filters for one in term.meanings))

    found = _with_terms(strict, loose, how)
    return found if any(word.mistyped for term in _terms(found) for word in term.words) else None


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
    return [one for reading in understood.readings for term in reading.terms for one in term.all]


def _with_terms(understood: Understood, change: Callable[[Term], Term], how: How) -> Understood:
    def whole(term: Term) -> Term:
        return replace(change(term), either=tuple(change(one) for one in term.either))

    def changed(reading: Reading) -> Reading:
        return replace(reading, terms=tuple(whole(term) for term in reading.terms))

    return replace(understood, readings=tuple(changed(one) for one in understood.readings), how=how)
