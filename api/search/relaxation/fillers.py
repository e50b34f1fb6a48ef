"""A text without what says nothing of an item: fillers, what a thing is wanted for, the rest of a trade post. Pure."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from api.search.parsing.combination import may_mean_float
from api.search.parsing.parse import ParsedQuery, PlatformParse, Relaxation, parsed_again, with_quantities
from api.search.parsing.words import Term
from api.search.relaxation.lists import may_be_list
from api.search.relaxation.trade_posts import items_in
from mappings.vocabulary.entries import Role
from mappings.vocabulary.phrases import Phrases
from mappings.vocabulary.words import letters_of

_NEXT_CLAUSE = re.compile(r"[;:]\s*\w")


def without_fillers(strict: ParsedQuery, matching_words: Collection[str] = ()) -> ParsedQuery | None:
    """Without the fillers that are no `matching_words` and in no name; None if that changes nothing."""

    def stripped(parse: PlatformParse) -> PlatformParse:
        terms = _terms_but_fillers(parse.terms, parse.platform.merged_vocabulary.phrases, matching_words)
        terms = terms or tuple(term for term in parse.terms if term.fields)  # `any skins for cs go`
        is_said = bool(terms or parse.quantities or parse.sort) or any(term.meanings for term in parse.excluded)
        return replace(parse, terms=terms) if is_said else parse

    parses = tuple(stripped(parse) for parse in strict.parses)
    return None if parses == strict.parses else replace(strict, parses=parses, relaxation=Relaxation.FILLERS)


def without_wear(strict: ParsedQuery) -> ParsedQuery | None:
    """Things that have no float without an exterior, which then only says that they are new: `новые кейсы`."""

    def stripped(parse: PlatformParse) -> PlatformParse:
        meanings = [meaning for term in parse.terms for meaning in term.meanings]
        if may_mean_float(meanings, parse.platform.merged_vocabulary):
            return parse
        return replace(parse, terms=tuple(term for term in parse.terms if term.fields != {"exterior"}))

    parses = tuple(map(stripped, strict.parses))
    return None if parses == strict.parses else replace(strict, parses=parses, relaxation=Relaxation.FILLERS)


def with_and_without_fillers(parsed: ParsedQuery) -> list[ParsedQuery]:
    """The text as it is, then without its fillers if it has any."""
    return [each for each in (parsed, without_fillers(parsed)) if each is not None]


def _terms_but_fillers(terms: Sequence[Term], names: Phrases, matching_words: Collection[str]) -> tuple[Term, ...]:
    """The terms without fillers, but for `matching_words` and those in longer names (`blood in the water`)."""
    if not any(term.is_filler for term in terms):
        return tuple(terms)
    letters = [letters_of(word.typed for word in term.words) if term.is_mere else "|" for term in terms]
    in_names = set[int]()
    for at in range(len(terms)):
        length = names.length_at(letters, at)
        if not all(term.is_filler for term in terms[at : at + length]):
            in_names.update(range(at, at + length))
    return tuple(
        term for at, term in enumerate(terms) if not term.is_filler or term.typed in matching_words or at in in_names
    )


def for_another_thing(strict: ParsedQuery) -> list[ParsedQuery]:
    """What is wanted for a thing or a craft, without that: `crown foil sticker for my awp`."""
    parse, purpose = strict.parses[0], strict.parses[0].platform.merged_vocabulary.purpose
    if purpose is None or strict.parses[1:] or parse.quantities or parse.excluded or parse.sort:
        return []
    wanted, *others = purpose.split(strict.text, maxsplit=1)
    if any(_NEXT_CLAUSE.search(other) for other in others):
        return []  # `charm for my gun: hot wurst`
    if not (others and _names_thing(parsed_again(strict, others[0]).parses[0])):
        return []
    parsed = _part(strict, wanted)
    terms = parsed.options
    if all(term.is_filler for term in terms) or any("weapon" in term.fields for term in terms):
        return []
    return with_and_without_fillers(parsed)


def _names_thing(parse: PlatformParse) -> bool:
    """Whether the words say no more than a weapon or a type and its finish."""
    vocabulary = parse.platform.merged_vocabulary
    names = [term for term in parse.terms if not term.is_filler and term.fields.isdisjoint(vocabulary.narrowing)]
    return all(letters_of([term.typed]) in vocabulary.words_of_finishes for term in names)


def offered_items(strict: ParsedQuery) -> list[ParsedQuery]:
    """The items of a trade post or a list, without the price that is asked; empty if the text is no more than one."""
    if len(strict.parses) != 1:
        return []
    (parse,) = strict.parses
    vocabulary = parse.platform.merged_vocabulary
    letters = letters_of([strict.text])
    things = sum(not term.fields.isdisjoint(vocabulary.narrowing) for term in parse.terms)
    names_weapon = not parse.excluded and any("weapon" in term.fields for term in parse.terms)
    is_separated = may_be_list(strict.text, names_weapon=names_weapon)
    is_list = things > 1 or (things and (is_separated or _has_alternatives(parse)))
    is_pasted = "|" in strict.text
    is_exchange = any(letters_of([term.typed]) in vocabulary.returns for term in parse.terms)
    is_trade = is_exchange or any(word in letters for word in vocabulary.trade_words)
    if not (is_pasted or parse.other_amounts or is_list or is_trade):
        return []  # as most texts
    items = items_in(*with_quantities(strict.text, vocabulary), vocabulary, may_list=bool(is_list))
    return [_part(strict, text) for text in items]


def _has_alternatives(parse: PlatformParse) -> bool:
    """Whether an `or` is left that does not stand between two values of one field."""
    entries = (parse.platform.merged_vocabulary.entries.get(letters_of([term.typed])) for term in parse.terms)
    return any(entry is not None and entry.role is Role.ALTERNATIVE for entry in entries)


def any_of_items(strict: ParsedQuery, items: Sequence[ParsedQuery]) -> ParsedQuery | None:
    """Any of the items of a text, the first one first; None if there is none."""
    if len(items) < 2:
        return next(iter(items), None)
    sort = strict.sort
    parses = tuple(replace(parse, of_item=item.text, sort=sort) for item in items for parse in item.parses)
    return replace(strict, parses=parses, relaxation=Relaxation.EITHER)


def is_of_one_weapon(strict: ParsedQuery) -> bool:
    """Whether the text names one weapon more than once: `the revolver with the banana, banana cannon r8`."""
    weapons = [term.meanings for term in strict.options if "weapon" in term.fields]
    return len(set(weapons)) < len(weapons)


def _part(strict: ParsedQuery, text: str) -> ParsedQuery:
    """A part of the text, parsed for the same platforms."""
    return replace(parsed_again(strict, text), text=text, relaxation=Relaxation.FILLERS)
