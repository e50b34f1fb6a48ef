"""How the terms of a text are meant beside each other. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from api.search.parsing.spellings import ONE_VALUE, YEAR
from api.search.parsing.words import MAX_JOIN, Term, mere_runs
from mappings.vocabulary.entries import Meaning, values_of
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of, letters_of_text

# Fields of which a text may name several alternatives: names of items contain no other words of these fields.
ALTERNATIVE_FIELDS = ONE_VALUE | {"rarity"}


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


def without_opened(terms: list[Term], vocabulary: Vocabulary) -> list[Term]:
    """The terms, those of a type that others open as mere words of names: in `chroma case key` a key is meant."""
    types = [values_of(term.meanings, "type") for term in terms]
    opened = frozenset(each for kinds in types for kind in kinds for each in vocabulary.opens.get(kind, ()))
    return [_as_name(term) if kinds & opened else term for term, kinds in zip(terms, types, strict=True)]


def merged_alternatives(terms: Sequence[Term]) -> list[Term]:
    """The terms, other values of the same field (`ww bs`) merged into one: an item has only one of them."""
    merged: list[Term] = []
    mergeable: list[tuple[int, str, frozenset[str]]] = []  # places in `merged`, with what stands there
    for term in terms:
        field_name, values = _only_value_of(term)
        place = next((at for at, other, earlier in mergeable if other == field_name and not values & earlier), None)
        if place is not None:
            options = [replace(option, alternatives=()) for option in term.options]  # `ft ww/bs` is any of three
            merged[place] = replace(merged[place], alternatives=(*merged[place].alternatives, *options))
            continue
        if field_name in ALTERNATIVE_FIELDS:
            mergeable.append((len(merged), field_name, values))
        merged.append(term)
    return merged


def as_things(terms: list[Term], vocabulary: Vocabulary) -> list[Term]:
    """The terms; a lone weapon or type that is a name, too, is the thing itself under an order (`cheapest agent`)."""
    named = [term for term in terms if term.meanings]
    things = tuple(meaning for meaning in named[0].meanings if vocabulary.narrows([meaning])) if len(named) == 1 else ()
    return [replace(term, meanings=things) if things and term.meanings else term for term in terms]


def with_whole_names(terms: list[Term], vocabulary: Vocabulary) -> list[Term]:
    """The terms, a case with its whole name before it as the one of just that name (`cheapest gamma case`).

    The name of a Gamma 2 Case has these words, too. The index has up to `MAX_JOIN` words of a name written together.
    """
    named, name = list[Term](), list[str]()
    for term in terms:
        words = [meaning.words for meaning in term.meanings]
        joined = letters_of([*name, *words])
        is_named = vocabulary.last_words.keys() >= set(words) and joined in vocabulary.phrases
        if is_named and 0 < len(name) < MAX_JOIN and len(words) == 1:
            named.append(replace(term, meanings=(replace(term.meanings[0], words=joined),)))
        else:
            named.append(term)
        name = [*name, term.typed] if term.is_mere and not term.is_filler else []
    return named


def _only_value_of(term: Term) -> tuple[str, frozenset[str]]:
    """The field and its values, if a term means nothing else."""
    if len(term.meanings) == 1 and len(term.meanings[0].filters) == 1 and not term.meanings[0].words:
        ((field_name, values),) = term.meanings[0].filters
        return field_name, frozenset(values)
    return "", frozenset()


def _as_name(term: Term) -> Term:
    meanings = tuple(Meaning(words=meaning.words) for meaning in term.meanings if meaning.words)
    return replace(term, meanings=meanings, is_filler=not meanings)


def finishes_of(terms: Sequence[Term], vocabulary: Vocabulary, *, is_ordered: bool) -> tuple[str, ...]:
    """The words that together are a finish: beside a weapon, its kind or an order, the one of just that name is meant.

    So `karambit doppler`, `doppler knife` and `cheapest doppler` are no Gamma Doppler.
    """
    if not (is_ordered or any(_has_finish(term, vocabulary) for term in terms)):
        return ()
    named = [term for term in terms if not term.is_filler]
    both = (terms, named) if len(named) < len(terms) else (terms,)
    if either := _either_finish(terms, vocabulary):
        return either
    runs = [" ".join(run) for some in both for run in mere_runs(some)]
    runs += [
        meaning.words for term in terms if not term.alternatives for meaning in term.meanings if not meaning.filters
    ]
    finishes = vocabulary.finishes.intersection(map(letters_of_text, runs))
    if len(finishes) != 1:  # an item has one
        return ()
    (letters,) = finishes
    return vocabulary.folded_finishes[letters]


def _either_finish(terms: Sequence[Term], vocabulary: Vocabulary) -> tuple[str, ...]:
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


def _has_finish(term: Term, vocabulary: Vocabulary) -> bool:
    """Whether it is a weapon, or a type whose items have finishes: those that have floats."""
    return "weapon" in term.fields or bool(values_of(term.meanings, "type") - vocabulary.without_float)


def narrowed(term: Term, vocabulary: Vocabulary) -> Term:
    """The term as it matches beside others: a weapon or a type by its meanings alone."""
    narrows = bool(term.meanings) and vocabulary.narrows(term.meanings)
    if narrows == term.narrows and not term.alternatives:
        return term
    alternatives = tuple(narrowed(option, vocabulary) for option in term.alternatives)
    return replace(term, narrows=narrows, alternatives=alternatives)


def is_plain_skin(terms: Sequence[Term]) -> bool:
    fields = {name for term in terms for name in term.fields}
    return "exterior" in fields and "quality" not in fields
