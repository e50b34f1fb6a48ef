"""How the terms of a text are meant beside words for skins, alternatives or a price that is asked. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from api.search.parsing.spellings import YEAR
from api.search.parsing.words import Term
from mappings.vocabulary.entries import Meaning, Role, values_of
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of, letters_of_text


def with_skins(terms: list[Term], vocabulary: Vocabulary) -> list[Term]:
    """The terms, the first word for skins with that meaning where they say no weapon and no type: `cheapest skins`."""
    letters = [letters_of([term.typed]) for term in terms]
    at = next((at for at, each in enumerate(letters) if each in vocabulary.skins), None)
    if at is None:
        return terms
    terms = _without_dates(terms, vocabulary)
    if any(term.fields & vocabulary.narrowing for term in terms):
        return terms
    return [*terms[:at], replace(terms[at], meanings=(_skin(vocabulary),)), *terms[at + 1 :]]


def without_article(terms: list[Term], vocabulary: Vocabulary) -> list[Term]:
    """The terms, without a letter before a thing that is all that they say: no word of a name (`a awp mais cara`)."""
    named = [at for at, term in enumerate(terms) if not term.is_filler]
    if len(named) != 1 or not named[0] or not vocabulary.narrows(terms[named[0]].meanings):
        return terms
    article = terms[named[0] - 1]
    is_letter = len(article.typed) == 1 and article.typed.isalpha() and not (article.count or article.carries)
    return [term for term in terms if term is not article] if is_letter else terms


def without_opened(
    text: str, terms: list[Term], excluded: list[Term], vocabulary: Vocabulary
) -> tuple[list[Term], list[Term]]:
    """The terms and what is not wanted, those of a type that others open as mere words of names.

    In `chroma case key` a key is meant, and `no capsule keys` are keys of something else.
    """
    types = [values_of(term.meanings, "type") for term in terms]
    opened = frozenset(each for kinds in types for kind in kinds for each in vocabulary.opens.get(kind, ()))
    if not opened:
        return terms, excluded

    def is_before_opener(term: Term) -> bool:
        is_opened = bool(values_of(term.meanings, "type") & opened)
        return is_opened and any(f"{term.typed} {each.typed}" in text for each in terms)

    return (
        [_as_name(term) if kinds & opened else term for term, kinds in zip(terms, types, strict=True)],
        [_as_name(term) if is_before_opener(term) else term for term in excluded],
    )


def _as_name(term: Term) -> Term:
    meanings = tuple(Meaning(words=meaning.words) for meaning in term.meanings if meaning.words)
    return replace(term, meanings=meanings, is_filler=not meanings)


def _without_dates(terms: Sequence[Term], vocabulary: Vocabulary) -> list[Term]:
    """The terms, years as fillers: a title says when it was written; but Katowice 2014 is a name."""

    def is_date(at: int) -> bool:
        name = letters_of([term.typed for term in terms[max(0, at - 1) : at + 1]])
        return terms[at].is_mere and bool(YEAR.fullmatch(terms[at].typed)) and not vocabulary.is_known(name)

    return [replace(term, is_filler=True) if is_date(at) else term for at, term in enumerate(terms)]


def _skin(vocabulary: Vocabulary) -> Meaning:
    """Things of the types whose items have a float."""
    types = vocabulary.fields.get("type", {})
    return Meaning((("type", tuple(each for each in types if each not in vocabulary.without_float)),))


def may_mean_float(meanings: Sequence[Meaning], vocabulary: Vocabulary) -> bool:
    """Whether things that are meant so may have a float: not a sticker, unless a weapon is beside it."""
    types = values_of(meanings, "type")
    return not types or not types <= vocabulary.without_float or bool(values_of(meanings, "weapon"))


def either_finish(terms: Sequence[Term], vocabulary: Vocabulary) -> tuple[str, ...]:
    """The names of the finishes of which a text names any (`karambit fade/slaughter`); empty: it does not."""
    names = [
        letters_of_text(option.meanings[0].words if option.meanings else " ".join(word.typed for word in option.words))
        for term in terms
        if term.alternatives and not any(option.fields for option in term.options)
        for option in term.options
    ]
    if not names or not vocabulary.finishes.issuperset(names):
        return ()
    return tuple(name for letters in dict.fromkeys(names) for name in vocabulary.folded_finishes[letters])


def says_nothing_of_items(terms: Sequence[Term], vocabulary: Vocabulary, *, is_sorted: bool) -> bool:
    """Whether the terms only join what is said beside them, or are fillers beside an order.

    `float < 0.02 and price < 12`, `low float only`.
    """
    if is_sorted and all(term.is_filler and not term.meanings for term in terms):
        return True
    entries = [vocabulary.entries.get(letters_of([term.typed])) for term in terms]
    joins = [entry is not None and entry.role in (Role.ALTERNATIVE, Role.CONJUNCTION) for entry in entries]
    return bool(terms) and terms[0].is_filler and all(joins)


def is_pasted_name(text: str, terms: Sequence[Term], vocabulary: Vocabulary) -> bool:
    """Whether the terms are a weapon or a type with a name, and nothing that somebody says who asks for it.

    Of a text without `|` all words of the name are those of finishes.
    """
    of_finishes = vocabulary.words_of_finishes
    others = [term for term in terms if not term.fields and not term.typed[:1].isdecimal()]
    unnamed = [term for term in others if not term.meanings and letters_of([term.typed]) not in of_finishes]
    if not any(term.fields & vocabulary.narrowing for term in terms) or len(unnamed) == len(others):
        return False
    return not any(term.is_filler for term in unnamed) if "|" in text else not unnamed
