"""Words of a text as those of the item's set: mere words, slang, and what names a case or a set. Pure."""

import re
from collections.abc import Collection
from dataclasses import replace
from itertools import pairwise

from api.search.parsing.parse import ParsedQuery, PlatformParse, Relaxation
from api.search.parsing.words import Term, Word
from api.search.relaxation.changes import relaxation_of, with_terms
from mappings.vocabulary.entries import Meaning, values_of
from mappings.vocabulary.words import words_of

_SET = "set"
_YEAR = re.compile(r"20\d\d")


def words_of_sets(parsed: ParsedQuery) -> list[ParsedQuery]:
    """Words may be those of the item's set, which may be said by its case (`covert from the fever case`)."""
    vocabularies = [parse.platform.merged_vocabulary for parse in parsed.parses]
    last_words = {word for vocabulary in vocabularies for word in vocabulary.last_words}
    opened = {kind for vocabulary in vocabularies for kind in vocabulary.opened}
    sets = [name for vocabulary in vocabularies for name in vocabulary.fields.get(_SET, ())]
    has_year = any(term.is_mere and _YEAR.fullmatch(term.typed) for term in parsed.options)

    def changed(term: Term) -> Term:
        if has_year and term.fields == {_SET}:
            return _named(term)
        slang = [] if term.fields else [meaning.words for meaning in term.meanings]
        is_of_set = any(f" {words} " in f" {name.lower()} " for words in slang for name in sets)
        return replace(term, in_set=True) if is_of_set else _of_set(term, last_words, opened)

    relaxed = with_terms(parsed, changed, relaxation_of(parsed, Relaxation.SETS))
    if not any(term.in_set for term in relaxed.options):
        return []
    parses = tuple(_without_containers(parse) for parse in relaxed.parses)
    return [relaxed] if parses == relaxed.parses else [relaxed, replace(relaxed, parses=parses)]


def _named(term: Term) -> Term:
    """The term as words of names of sets: with a year beside it another one may be meant (`train collection 2021`)."""
    names = sorted(values_of(term.meanings, _SET))
    return replace(term, meanings=tuple(Meaning(words=name) for name in names), in_set=True, only_in_set=True)


def _of_set(term: Term, last_words: Collection[str], opened: Collection[str]) -> Term:
    """The term as words of a set: a mere one, or what names a case, without its last word (`mag7 riptide case`)."""
    if not term.meanings:
        return replace(term, in_set=True)
    if not _is_container(term, opened):
        return term
    words = [word for meaning in term.meanings for word in words_of(meaning.words) if word not in last_words]
    return Term(tuple(Word(word, (word,)) for word in words), in_set=True) if words else term


def _without_containers(parse: PlatformParse) -> PlatformParse:
    """Without the words for a container beside the words of a set, where the text says of what is in it, too.

    The word right before them is of the set then: what is in the fever case is no Fever Dream.
    """
    opened = parse.platform.merged_vocabulary.opened
    before = [term for term, following in pairwise(parse.terms) if term.in_set and _is_container(following, opened)]
    others = [
        replace(term, only_in_set=term.only_in_set or term in before)
        for term in parse.terms
        if not _is_container(term, opened)
    ]
    return replace(parse, terms=tuple(others)) if any(term.fields for term in others) else parse


def _is_container(term: Term, opened: Collection[str]) -> bool:
    return bool(term.words) and term.fields == {"type"} and values_of(term.meanings, "type").issubset(opened)
