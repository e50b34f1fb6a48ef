"""How the terms of a text, and its quantities, are meant beside each other. Pure."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from api.search.parsing.quantities import (
    AMOUNT_OF_LINE,
    ASKED,
    ASKING_PRICE,
    BARE_AMOUNT,
    PLAIN_AMOUNT,
    Quantity,
)
from api.search.parsing.spellings import YEAR
from api.search.parsing.words import Term
from mappings.vocabulary.entries import Meaning, Role, values_of
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of, letters_of_text

# a dash, those of a table, or the bracket around an amount: `(~$272)`
_BEFORE_ASKED = re.compile(r"\s(?:[-\u2013\u2014=]+\s*|\(\s*[~\u2248]?\s?)$")
_HAS_WORD = re.compile(r"\w")
_LABEL = re.compile(r"^price\s*[:=]?\s*", re.IGNORECASE)


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


def is_plain_skin(terms: Sequence[Term]) -> bool:
    fields = {name for term in terms for name in term.fields}
    return "exterior" in fields and "quality" not in fields


def without_article(terms: list[Term], vocabulary: Vocabulary) -> list[Term]:
    """The terms, without a letter before a thing that is all that they say: no word of a name (`a awp mais cara`)."""
    named = [at for at, term in enumerate(terms) if not term.is_filler]
    if len(named) != 1 or not named[0] or not vocabulary.narrows(terms[named[0]].meanings):
        return terms
    article = terms[named[0] - 1]
    is_letter = len(article.typed) == 1 and article.typed.isalpha() and not (article.count or article.carries)
    return [term for term in terms if term is not article] if is_letter else terms


def without_opened(
    text: str, terms: list[Term], excluded: list[Term], opened: Collection[str]
) -> tuple[list[Term], list[Term]]:
    """The terms and what is not wanted, those of a type that others open as mere words of names.

    In `chroma case key` a key is meant, and `no capsule keys` are keys of something else.
    """

    def is_opened(term: Term) -> bool:
        return not values_of(term.meanings, "type").isdisjoint(opened)

    def is_before_opener(term: Term) -> bool:
        return any(f"{term.typed} {each.typed}" in text for each in terms)

    return (
        [_as_name(term) if is_opened(term) else term for term in terms],
        [_as_name(term) if is_opened(term) and is_before_opener(term) else term for term in excluded],
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


def is_parted(word: str, term: Term, vocabulary: Vocabulary) -> bool:
    """Whether a word and the type behind the name of a finish are a weapon: `specialist fade gloves`."""
    entry = vocabulary.entries.get(letters_of([word, term.typed])) if term.fields == {"type"} else None
    return entry is not None and bool(values_of(entry.meanings, "weapon"))


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
    """Whether the terms are a finish, or a weapon or a type with a name, and nothing that asks for it.

    Of a text without `|` all words of the name are those of finishes.
    """
    of_finishes = vocabulary.words_of_finishes
    others = [term for term in terms if not term.fields and not term.typed[:1].isdecimal()]
    unnamed = [term for term in others if not term.meanings and letters_of([term.typed]) not in of_finishes]
    has_thing = any(term.fields & vocabulary.narrowing for term in terms)
    is_finish = "|" not in text and letters_of([term.typed for term in others]) in vocabulary.finishes
    has_name = len(unnamed) < len(others) or any("phase" in term.fields for term in terms)
    if not ((has_thing or is_finish) and has_name):
        return False
    return not any(term.is_filler for term in unnamed) if "|" in text else not unnamed


def with_one_currency(quantities: list[Quantity]) -> list[Quantity]:
    """The quantities, two bounds of a price in the currency that one of them has: `min 20, max 50 zł`."""
    prices = [each for each in quantities if each.field == "price"]
    currencies = {each.currency for each in prices if each.currency}
    is_range = len(prices) > 1 and {each.low is None for each in prices} == {True, False}
    if len(currencies) != 1 or not is_range:
        return quantities
    (currency,) = currencies
    return [replace(each, currency=currency) if each.field == "price" else each for each in quantities]


def with_any_seed(quantities: list[Quantity]) -> list[Quantity]:
    """The quantities, several seeds as one of which any value is wanted, for an item has one: `seed 387, also #670`."""
    seeds = [each for each in quantities if each.field in ("seed", "pattern") and not each.is_excluded]
    if len(seeds) < 2:
        return quantities
    any_of_them = replace(
        seeds[0],
        typed=", ".join(each.typed for each in seeds),
        field="pattern" if any(each.field == "pattern" for each in seeds) else "seed",
        values=tuple(dict.fromkeys(value for each in seeds for value in each.values)),
    )
    return [any_of_them if each is seeds[0] else each for each in quantities if each not in seeds[1:]]


def with_asking_price(text: str, quantities: list[Quantity]) -> list[Quantity]:
    """The quantities of a pasted line, the amount that ends it as the price that is asked: `AK-47 | Redline - $15`.

    A line has a market name with an amount in a currency, or a dash or a bracket before its amount. With the float of
    one item it is of what is offered, and all its amounts are.
    """
    last, is_pasted = quantities[-1], "|" in text
    prices = [each for each in quantities if each.field == "price"]
    if is_pasted and any(each.near is not None for each in quantities):
        amounts = [each for each in prices if AMOUNT_OF_LINE.fullmatch(_LABEL.sub("", each.typed))]
    else:
        # a watch has a bare one: `/alert AK-47 | Redline 14.50`
        has_currency = PLAIN_AMOUNT.fullmatch(last.typed) and not BARE_AMOUNT.fullmatch(last.typed)
        is_marked = _BEFORE_ASKED.search(text[: last.start]) and AMOUNT_OF_LINE.fullmatch(last.typed)
        ends_line = last in prices and not _HAS_WORD.search(text, last.end)
        amounts = [last] if ends_line and (is_marked or (is_pasted and has_currency)) else []
    return [
        replace(each, typed=f"{each.typed} {ASKING_PRICE}", currency=ASKED) if each in amounts else each
        for each in quantities
    ]


def symbols_of(text: str, *, with_punctuation: bool) -> str:
    """The symbols of a text without words; punctuation left beside quantities (`,`, `-`) asks for nothing."""
    symbols = text if with_punctuation else "".join(letter for letter in text if not letter.isascii())
    return symbols.strip()
