"""Query parsing: a buyer's text becomes terms and quantities that an item must match, and the order asked for. Pure.

A term of the platform's vocabulary matches by its meaning or by the typed words, so no item is lost by its name; but a
term that narrows (a weapon, a type) matches by its meaning alone if the text says more than that, or asks for an order.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum, auto
from itertools import pairwise

from api.search.parsing.combination import (
    either_finish,
    is_parted,
    is_pasted_name,
    is_plain_skin,
    may_mean_float,
    says_nothing_of_items,
    symbols_of,
    with_any_seed,
    with_asking_price,
    with_one_currency,
    with_skins,
    without_article,
    without_opened,
)
from api.search.parsing.links import is_listing
from api.search.parsing.numerals import with_digits
from api.search.parsing.pasted import PRICE_IN_KEYS, trade_part, unpacked
from api.search.parsing.quantities import (
    ASKING_PRICE,
    Quantity,
    quantities_of,
    text_between,
    with_bare_seeds,
    with_inclusive_bounds,
)
from api.search.parsing.spellings import ONE_VALUE
from api.search.parsing.terms import parse_words
from api.search.parsing.words import MAX_JOIN, ParsedWords, Term, Word, is_counted, mere_runs, with_numbers_attached
from mappings.platforms import Platform
from mappings.vocabulary.entries import Meaning, values_of
from mappings.vocabulary.exclusions import wanted
from mappings.vocabulary.rules import NO_RULES, TextRules
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of, letters_of_text, words_of

# Fields of which a text may name several alternatives: names of items contain no other words of these fields.
ALTERNATIVE_FIELDS = ONE_VALUE | {"rarity"}
_OF_LINE = re.compile(r"\||\s(?:[-\u2013\u2014]\s|\()")  # what a line of a list has beside its amount
# Worth about the same, so an amount in one of them is taken as it stands.
_NEAR_CURRENCIES = frozenset({"USD", "EUR", "GBP"})
# Letters, digits and signs of amounts as East Asian keyboards write them; other punctuation stays.
_FULL_WIDTH = {
    ord(letter) + 0xFEE0: letter
    for letter in "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.$<>=+-/%#"
}


class Relaxation(StrEnum):
    """How loosely a text is parsed; docs/text.md says what each allows, and in which order."""

    STRICT = "strict"
    NUMBERS = "numbers"
    WORDS = "words"
    SETS = "sets"
    NAMES = "names"
    FILLERS = "fillers"
    EITHER = "either"
    LETTERS = "letters"
    STICKERS = "stickers"
    SEEDS = "seeds"
    PREFIXES = "prefixes"
    TYPOS = "typos"
    ALL_TYPOS = "all_typos"
    FIRST_LETTERS = "first_letters"
    SIMILAR_NAMES = "similar_names"
    PARTIAL = "partial"


class Numbers(Enum):
    """What numbers are that may be quantities or words."""

    QUANTITIES = auto()
    WORDS = auto()
    SEEDS = auto()  # quantities, and those of three digits that stand alone are seeds


@dataclass(frozen=True)
class PlatformParse:
    """A text parsed for one platform."""

    platform: Platform = field(compare=False)  # a part of a text is compared with that of the same platform alone

    # What an item must match.
    terms: tuple[Term, ...] = ()  # all of them
    quantities: tuple[Quantity, ...] = ()  # all of them
    symbols: str = ""  # the symbols of a text without words, all of them
    excluded: tuple[Term, ...] = ()  # none of them
    finishes: tuple[str, ...] = ()  # names of finishes of which the item must have one exactly
    last_words: tuple[str, ...] = ()  # a name may end with one of these behind the whole text (`Revolution Case`)

    # What else the text says.
    of_item: str = ""  # of one of several items: what the text says of it
    sort: str = ""  # the order that it asks for
    ignored: tuple[str, ...] = ()  # words that were left out because nothing has them
    other_amounts: tuple[Quantity, ...] = ()  # in a currency that says nothing of the platform's: they ask for nothing

    @property
    def options(self) -> list[Term]:
        """All terms, alternatives included."""
        return [option for term in self.terms for option in term.options]


@dataclass(frozen=True)
class ParsedQuery:
    """A text parsed for each platform that is searched; `has_order`: hits go in an order of the body's.

    `is_listing`: it is the link of an item. `rules` are the names that operators have pinned and hidden for the text,
    where a platform has any.
    """

    text: str
    parses: tuple[PlatformParse, ...]
    relaxation: Relaxation = Relaxation.STRICT
    has_order: bool = False
    is_listing: bool = False
    rules: tuple[TextRules, ...] = ()

    @property
    def options(self) -> list[Term]:
        """All terms of all platforms, alternatives included."""
        return [option for parse in self.parses for option in parse.options]

    @property
    def sort(self) -> str:
        """The order that the text asks for; none: empty."""
        return next((parse.sort for parse in self.parses if parse.sort), "")

    @property
    def matches_all(self) -> bool:
        """Whether the text is blank, so that it matches every item."""
        return not self.text.strip()


def parse_query(text: str, platforms: Sequence[Platform], *, has_order: bool = False) -> ParsedQuery:
    """Parses any text strictly; control characters count as blanks; `has_order`: hits go in an order of the body's."""
    visible = text
    if not text.isprintable():
        visible = "".join(" " if unicodedata.category(letter) == "Cc" else letter for letter in text)
    of_listing = is_listing(visible)
    visible = visible if visible.isascii() else visible.translate(_FULL_WIDTH)
    visible = unpacked(visible) or visible
    parses = tuple(parse_text(visible, platform, has_order=has_order, of_listing=of_listing) for platform in platforms)
    ruled = [platform for platform in platforms if platform.rules != NO_RULES]
    rules = tuple(platform.rules.of_text(platform.id, visible) for platform in ruled)
    return ParsedQuery(visible, parses, has_order=has_order, is_listing=of_listing, rules=rules)


def parse_text(
    text: str,
    platform: Platform,
    *,
    has_order: bool = False,
    of_listing: bool = False,
    numbers: Numbers = Numbers.QUANTITIES,
) -> PlatformParse:
    """Parses for one platform; `of_listing`: it was an item's link, so a skin of no other quality is a plain one."""
    if not text.strip():  # most searches are by filters alone
        return PlatformParse(platform)
    vocabulary = platform.merged_vocabulary
    text, quantities = with_quantities(text, vocabulary)
    if numbers is Numbers.WORDS:
        quantities = [quantity for quantity in quantities if quantity.certain]
    elif numbers is Numbers.SEEDS:
        quantities = with_bare_seeds(text, quantities, lambda typed: letters_of_text(typed) in vocabulary.entries)
    pieces = list(text_between(text, quantities))
    if ASKING_PRICE in text:  # where no price is asked (`ak47 b/o`) it says nothing
        pieces = [piece.replace(ASKING_PRICE, " ") for piece in pieces]
    parsed = _parsed_pieces(pieces, quantities, vocabulary, open_ended=not text[-1:].isspace())
    terms = [term for piece in parsed for term in piece.terms]
    excluded = [term for piece in parsed for term in piece.excluded]
    sorts = [sort for piece in parsed for sort in piece.sorts]
    terms = _merged_alternatives(terms)
    if opened := _opened_by(terms, vocabulary):
        terms, excluded = without_opened(text, terms, excluded, opened)
    if [term for term in terms if term.is_filler]:
        terms = without_article(with_skins(terms, vocabulary), vocabulary)
    if of_listing and vocabulary.plain and is_plain_skin(terms):
        excluded.append(Term((Word(text, (text,)),), vocabulary.plain))
    if (quantities or sorts) and says_nothing_of_items(terms, vocabulary, is_sorted=bool(sorts)):
        terms = []
    if quantities and not sorts and _OF_LINE.search(text) and is_pasted_name(text, terms, vocabulary):
        quantities = with_asking_price(text, quantities)
    quantities = with_any_seed(quantities) if quantities[1:] else quantities
    sort = _sort(sorts, quantities)
    terms = _with_whole_names(_as_things(terms, vocabulary), vocabulary) if has_order or sort else terms
    finishes = finishes_of(terms, vocabulary, is_ordered=bool(has_order or sort))
    if has_order or sort or len(terms) + len(quantities) + len(excluded) > 1:
        terms = [narrowed(term, vocabulary) for term in terms]
    is_mere = bool(terms) and not (quantities or excluded or any(term.meanings for term in terms))
    is_unnamed = is_mere and letters_of_text(text) not in vocabulary.finishes
    has_words = any(words_of(piece) for piece in pieces)
    symbols = "" if has_words else symbols_of(" ".join(pieces), with_punctuation=not quantities)
    others = tuple(each for each in quantities if _is_other(each, platform))
    return PlatformParse(
        platform,
        tuple(terms),
        tuple(with_inclusive_bounds(each, platform.minor_digits) for each in quantities if each not in others),
        symbols,
        tuple(excluded),
        sort=sort,
        finishes=finishes,
        other_amounts=others,
        last_words=tuple(vocabulary.last_words) if is_unnamed else (),
    )


def parsed_again(strict: ParsedQuery, text: str, numbers: Numbers = Numbers.QUANTITIES) -> ParsedQuery:
    """Another way of writing or reading the text or a part of it, parsed for the same platforms, in its order."""
    parses = [
        parse_text(text, each.platform, has_order=strict.has_order, of_listing=strict.is_listing, numbers=numbers)
        for each in strict.parses
    ]
    return replace(strict, parses=tuple(replace(parse, sort=parse.sort or strict.sort) for parse in parses))


def _parsed_pieces(
    pieces: Sequence[str], quantities: list[Quantity], vocabulary: Vocabulary, *, open_ended: bool
) -> list[ParsedWords]:
    """The pieces between the quantities, parsed; marks the quantities that are not wanted."""
    parsed: list[ParsedWords] = []
    for at, piece in enumerate(pieces):
        is_last = at == len(quantities)
        words = parse_words(
            piece,
            vocabulary,
            open_ended=is_last and open_ended,
            before_quantity=not is_last,
            after_quantity=at > 0,
        )
        if words.excludes_before:
            quantities[at - 1] = replace(quantities[at - 1], is_excluded=True)
        if words.excludes_next:
            quantities[at] = replace(quantities[at], is_excluded=True)
        parsed.append(words)
    return parsed


def with_quantities(text: str, vocabulary: Vocabulary) -> tuple[str, list[Quantity]]:
    """The text, amounts in it written in digits and English, and its quantities."""
    text = trade_part(text, vocabulary)
    if (keys := PRICE_IN_KEYS.search(text)) is not None and _names_skin(text, vocabulary):
        text = f"{text[: keys.start()]} {text[keys.end() :]}"
    text = with_digits(text, vocabulary)
    quantities = quantities_of(
        text,
        lambda number: vocabulary.is_split_spelling(words_of(number)),
        lambda rest: is_counted(rest, vocabulary),
        lambda: may_have_float(words_of(text), vocabulary),
    )
    quantities = with_numbers_attached(text, quantities, vocabulary, lambda rest: _names_weapon(rest, vocabulary))
    return text, with_one_currency(quantities) if quantities[1:] else quantities


def _names_skin(text: str, vocabulary: Vocabulary) -> bool:
    """Whether it names a weapon, or a finish of several words."""
    pairs = pairwise(words_of(text))
    return _names_weapon(text, vocabulary) or any(letters_of(pair) in vocabulary.finishes for pair in pairs)


def _names_weapon(text: str, vocabulary: Vocabulary) -> bool:
    return bool(values_of(_wanted_meanings(words_of(text), vocabulary), "weapon"))


def _wanted_meanings(words: Sequence[str], vocabulary: Vocabulary) -> list[Meaning]:
    entries = wanted([entry for _, _, entry in vocabulary.longest_spellings([letters_of([word]) for word in words])])
    return [meaning for entry in entries for meaning in entry.meanings]


def may_have_float(words: Sequence[str], vocabulary: Vocabulary) -> bool:
    """Whether what these words mean may have a float: not a sticker, unless none is wanted."""
    return may_mean_float(_wanted_meanings(words, vocabulary), vocabulary)


def _is_other(quantity: Quantity, platform: Platform) -> bool:
    """Whether it is an amount in a currency that is worth much more or less than the platform's."""
    both = {quantity.currency or platform.currency, platform.currency}
    return len(both) > 1 and not both <= _NEAR_CURRENCIES


def _opened_by(terms: Sequence[Term], vocabulary: Vocabulary) -> set[str]:
    """The types that things which the terms name open."""
    openers = (kind for term in terms for kind in values_of(term.meanings, "type"))
    return {each for kind in openers for each in vocabulary.opens.get(kind, ())}


def _merged_alternatives(terms: Sequence[Term]) -> list[Term]:
    """The terms, other values of the same field (`ww bs`) merged into one: an item has only one of them."""
    merged: list[Term] = []
    mergeable: list[tuple[int, str, frozenset[str]]] = []  # positions in `merged`, with what stands there
    for term in terms:
        field_name, values = _only_value_of(term)
        position = next((at for at, other, earlier in mergeable if other == field_name and not values & earlier), None)
        if position is not None:
            options = [replace(option, alternatives=()) for option in term.options]  # `ft ww/bs` is any of three
            merged[position] = replace(merged[position], alternatives=(*merged[position].alternatives, *options))
            continue
        if field_name in ALTERNATIVE_FIELDS:
            mergeable.append((len(merged), field_name, values))
        merged.append(term)
    return merged


def _as_things(terms: list[Term], vocabulary: Vocabulary) -> list[Term]:
    """The terms; a lone weapon or type that is a name, too, is the thing itself under an order (`cheapest agent`)."""
    named = [term for term in terms if term.meanings]
    things = tuple(meaning for meaning in named[0].meanings if vocabulary.narrows([meaning])) if len(named) == 1 else ()
    return [replace(term, meanings=things) if things and term.meanings else term for term in terms]


def _with_whole_names(terms: list[Term], vocabulary: Vocabulary) -> list[Term]:
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


def finishes_of(terms: Sequence[Term], vocabulary: Vocabulary, *, is_ordered: bool) -> tuple[str, ...]:
    """The words that together are a finish: beside a weapon, its kind or an order, the one of just that name is meant.

    So `karambit doppler`, `doppler knife`, `cheapest doppler` and `doppler or fade` are no Gamma Doppler.
    """
    named = [term for term in terms if not term.is_filler]
    is_of_item = is_ordered or any(_has_finish(term, vocabulary) for term in terms)
    if not is_of_item and (len(named) > 1 or not any(term.alternatives for term in named)):
        return ()
    both = (terms, named) if len(named) < len(terms) else (terms,)
    if [term for term in terms if term.alternatives] and (either := either_finish(terms, vocabulary)):
        return either
    runs = [run for some in both for run in mere_runs(some)]
    runs += [run[1:] for run in runs if len(run) > 1 and any(is_parted(run[0], term, vocabulary) for term in terms)]
    names = [{letters_of(each)} for run in runs for each in (run, dict.fromkeys(run))]  # `fade (100% fade)`
    for term in terms:
        translated = {letters_of_text(each.words) for each in term.meanings if not each.filters}
        # batik is Submerged, too, but not in `crimson batik`
        is_translated = translated and letters_of_text(term.typed) not in vocabulary.words_of_finishes
        if is_translated and not term.alternatives:
            names.append(translated)
    finishes = {frozenset(each & vocabulary.finishes) for each in names} - {frozenset()}
    if len(finishes) != 1:  # an item has one
        return ()
    return tuple(name for letters in sorted(*finishes) for name in vocabulary.folded_finishes[letters])


def _has_finish(term: Term, vocabulary: Vocabulary) -> bool:
    """Whether it is a weapon, a type whose items have finishes (those that have floats), or a numbered phase."""
    if "weapon" in term.fields or values_of(term.meanings, "type") - vocabulary.without_float:
        return True
    return any(value[-1:].isdecimal() for value in values_of(term.meanings, "phase"))  # as each finish with phases has


def narrowed(term: Term, vocabulary: Vocabulary) -> Term:
    """The term as it matches beside others: a weapon or a type by its meanings alone."""
    narrows = bool(term.meanings) and vocabulary.narrows(term.meanings)
    if narrows == term.narrows and not term.alternatives:
        return term
    alternatives = tuple(narrowed(option, vocabulary) for option in term.alternatives)
    return replace(term, narrows=narrows, alternatives=alternatives)


def _sort(sorts: Sequence[tuple[str, ...]], quantities: Sequence[Quantity]) -> str:
    """The first order that is asked for; `lowest` is by what the text gives an amount of."""
    if not sorts:
        return ""
    fields = tuple(quantity.field for quantity in quantities)
    return next((sort for sort in sorts[0] if sort.startswith(fields)), sorts[0][0])
