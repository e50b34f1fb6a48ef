"""What a text says is on an item. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile

from api.search.parsing.words import Term, names_in
from mappings.vocabulary.entries import Meaning
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of

MAX_NAME_ON_ITEM = 4  # words, or what stands for some
_MAX_WORDS = 6  # of what is not wanted on an item
_YEAR = re.compile(r"\b20\d\d$")


def may_be_on_item(term: Term) -> bool:
    """Whether it is a mere word, or stands for words of names: what is on an item is named so."""
    return not (term.fields or term.alternatives or term.is_filler or term.is_attached)


def names_thing(term: Term, vocabulary: Vocabulary) -> bool:
    """Whether it says what kind of thing is wanted, or names a finish."""
    is_finish = any(letters_of(name) in vocabulary.finishes for name in names_in(term))
    return bool(term.fields & vocabulary.narrowing) or is_finish


def ends_with_year(term: Term) -> bool:
    """Whether it is the name of an event, or one with it."""
    return bool(_YEAR.search(" ".join(names_in(term)[0])))


def is_on_items(term: Term, vocabulary: Vocabulary) -> bool:
    """Whether what is not wanted is on items, too: `no crown foil`. Words of finishes (`no gold`) are of the item."""
    if not may_be_on_item(term):
        return False
    letters = [letters_of([word]) for name in names_in(term) for word in name]
    return not all(each.isnumeric() or each in vocabulary.words_of_finishes for each in letters)


def as_one_name(terms: Sequence[Term]) -> Term:
    """The name that terms are together, what stands for words written out: `ibp holo kato 14`."""
    words = tuple(word for term in terms for word in term.words)
    return Term(words, (Meaning(words=" ".join(word for term in terms for word in names_in(term)[0])),))


def attached_named(terms: Iterable[tuple[Term, int]], vocabulary: Vocabulary) -> tuple[Term, int] | None:
    """What is on an item, where its type follows its name, or a known name its type, and where it ends; else None.

    So it is in `navi holo stickers`, and in `adesivo navi`. `terms`: each with where it ends.
    """
    names: list[Term] = []
    dated: tuple[Term, int] | None = None
    follows_type = False
    for term, end in terms:
        if follows_type:
            return (replace(term, on_item=True), end) if term.meanings and is_on_items(term, vocabulary) else None
        if vocabulary.is_attached(term.meanings):
            if names:
                return _on_item(names), end
            follows_type = True
        elif dated is not None or len(names) == _MAX_WORDS or not may_be_on_item(term):
            break
        else:
            names.append(term)
            if len(names) > 1 and ends_with_year(term):
                dated = _on_item(names), end
    return dated


def with_names_before(kind: Term, terms: list[Term], vocabulary: Vocabulary) -> Term:
    """A type of things on items, or what the known names before it say that these are: `navi 스티커`.

    The names are taken from `terms`, which say besides what the things are on.
    """
    names = [*takewhile(lambda term: term.meanings and is_on_items(term, vocabulary), reversed(terms))][::-1]
    others = terms[: len(terms) - len(names)]
    if not (names and vocabulary.is_attached(kind.meanings) and any(names_thing(each, vocabulary) for each in others)):
        return kind
    terms[:] = others
    return _on_item(names)


def _on_item(names: Sequence[Term]) -> Term:
    return replace(names[0] if len(names) == 1 else as_one_name(names), on_item=True)
