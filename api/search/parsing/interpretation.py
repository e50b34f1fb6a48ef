"""Describes how a text was parsed, as `explain: true` answers it. Pure."""

import re
from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import Any

from api.search.parsing.parse import ParsedQuery, PlatformParse, Relaxation
from api.search.parsing.quantities import (
    ASKING_PRICE,
    OTHER_CURRENCY,
    Quantity,
    either_ranges,
    with_similar_floats,
)
from api.search.parsing.words import Term
from mappings.items.item import MAX_INTEGER

Json = dict[str, Any]

_NUMBER = re.compile(r"\d[\d.,]*")
_STRICTER = (Relaxation.STRICT, Relaxation.NUMBERS, Relaxation.WORDS, Relaxation.SETS, Relaxation.NAMES)
_WITH_FILLERS = (*_STRICTER, Relaxation.LETTERS)


def interpretation(strict: ParsedQuery, used: ParsedQuery) -> Json:
    """How the text was parsed for the first platform searched, or its first item; below `others` for the rest."""
    typed = {parse.platform.id: parse for parse in strict.parses}
    first, *others = [_described(typed[parse.platform.id], parse, used) for parse in used.parses]
    return {**first, "others": others} if others else first


def _described(strict: PlatformParse, used: PlatformParse, query: ParsedQuery) -> Json:
    """One of the parses that are `used` of a query."""
    items = [each for each in query.parses if each.platform.id == used.platform.id]
    pinned = [name for rules in query.rules if rules.platform == used.platform.id for name in rules.pinned]
    return {
        "platform": used.platform.id,
        "reading": query.relaxation,
        "words": [word.typed for term in used.options if not term.meanings for word in term.words],
        "filters": _filters(used),
        "terms": [*(_term(term) for term in used.terms), *(_quantity(quantity) for quantity in _wanted(used))],
        "excluded": [
            *(_term(term) for term in used.excluded),
            *(_quantity(quantity) for quantity in used.quantities if quantity.is_excluded),
        ],
        "sort": used.sort or None,
        **({"ignored": list(used.ignored)} if query.relaxation is Relaxation.PARTIAL else {}),
        **({"pinned": pinned} if pinned else {}),
        "relaxed": [
            *_relaxed_quantities(strict, items),
            *_relaxed_terms(strict, used, items, query.relaxation),
            *_other_currencies(used),
        ],
    }


def _wanted(parse: PlatformParse) -> list[Quantity]:
    return [quantity for quantity in parse.quantities if not quantity.is_excluded]


def _filters(parse: PlatformParse) -> Json:
    """What the text asks for, written as `filters` of a request; what no filter expresses is left out."""
    filters: dict[str, Any] = {}
    for term in parse.options:
        for meaning in term.meanings:
            for field, values in meaning.filters:
                listed = filters.setdefault(field, [])
                listed += [value for value in values if value not in listed]
    either = either_ranges(parse.quantities)
    for quantity in _wanted(parse):
        if quantity.field == "pattern" or quantity in either:  # or a seed, or in another range
            continue
        if quantity.values:
            filters[quantity.field] = list(dict.fromkeys([*filters.get(quantity.field, ()), *quantity.values]))
        else:
            filters[quantity.field] = _intersection(filters.get(quantity.field, {}), _bounds(quantity))
    return filters


def _intersection(first: Json, second: Json) -> Json:
    both = {**first, **second}
    if "min" in first and "min" in second:
        both["min"] = max(first["min"], second["min"])
    if "max" in first and "max" in second:
        both["max"] = min(first["max"], second["max"])
    return both


def _bounds(quantity: Quantity) -> Json:
    ends = (("min", quantity.low), ("max", quantity.high))
    bounds = {name: _number(end) for name, end in ends if end is not None}
    return {"count": bounds} if quantity.field == "attachments" else bounds


def _number(value: Decimal) -> int | float:
    """The number for JSON, whose integers have 64 bits."""
    is_integer = value == value.to_integral_value() and value <= MAX_INTEGER
    return int(value) if is_integer else float(value)


def _term(term: Term) -> Json:
    means: list[Json] = []
    for meaning in (meaning for option in term.options for meaning in option.meanings):
        words = {"words": meaning.words} if meaning.words else {}
        means.append({**{field: list(values) for field, values in meaning.filters}, **words})
    description: Json = {"typed": " ".join(option.typed for option in term.options), "means": means}
    prefixes = [prefix for word in term.words for prefix in word.prefixes]
    if prefixes:
        description["begins"] = prefixes
    return description


def _quantity(quantity: Quantity) -> Json:
    value: Any = list(quantity.values) if quantity.values else _bounds(quantity)
    fields = ("seed", "pattern") if quantity.field == "pattern" else (quantity.field,)
    return {"typed": quantity.typed, "means": [{field: value} for field in fields]}


def _relaxed_quantities(strict: PlatformParse, items: Sequence[PlatformParse]) -> list[Json]:
    """The quantities that none of the items of a text has, or has with another bound: that had a typo."""
    read = {each for item in items for each in _read_quantities(item)}
    read |= {("price", _number_of(quantity)) for item in items for quantity in item.other_amounts}
    wears = [each for each in items[0].quantities if each.near is not None]
    similar = [each.typed for each in wears if with_similar_floats(each) == each]
    respelt = {_amounts_of(quantity): quantity.typed for item in items for quantity in item.quantities}
    return [
        {
            "typed": quantity.typed,
            "to": respelt.get(_amounts_of(quantity), f"words: nothing has such a {quantity.field}"),
        }
        for quantity in strict.quantities
        if (quantity.field, quantity.typed) not in read
    ] + [{"typed": typed, "to": "similar floats: no item has this one"} for typed in similar]


def _amounts_of(quantity: Quantity) -> tuple[str, ...]:
    return (quantity.field, *_NUMBER.findall(quantity.typed))


def _relaxed_terms(
    strict: PlatformParse, used: PlatformParse, items: Sequence[PlatformParse], relaxation: Relaxation
) -> list[Json]:
    narrowing = {term.typed for term in strict.options if term.narrows}
    used_words = {word for item in items for term in item.terms for word in _words(term)}
    relaxed: list[Json] = []
    if len(items) > 1:
        typed = " ".join(_term(term)["typed"] for term in used.terms if not term.is_filler)
        relaxed.append({"typed": typed, "to": "one of several items: any of them"})
    elif relaxation is Relaxation.EITHER:
        relaxed.append({"typed": _term(used.terms[0])["typed"], "to": "any of these: nothing is all of them"})
    if relaxation in (Relaxation.FILLERS, Relaxation.EITHER):
        others = [term for term in strict.terms if not term.is_filler and used_words.isdisjoint(_words(term))]
        relaxed += [
            {"typed": _term(term)["typed"], "to": "left out: it is not of the item that counts"} for term in others
        ]
    if relaxation not in _WITH_FILLERS:
        counts = {term.count for item in items for term in item.terms if term.count}
        relaxed += [
            {"typed": term.typed, "to": _reading_of_filler(term, counts)}
            for term in strict.terms
            if term.is_filler and term.typed not in used_words
        ]
    for term in used.options:
        if term.meanings and term.meanings == term.otherwise:
            relaxed.append({"typed": term.typed, "to": "its second meaning"})
        if term.by_name:
            relaxed.append({"typed": term.typed, "to": "its meaning, or that as words of the name"})
        elif term.typed in narrowing and not term.narrows:
            relaxed.append({"typed": term.typed, "to": "its meaning, or a word of the name"})
        relaxed += [{"typed": word.typed, "to": "similar words"} for word in term.words if word.fuzzy]
    if relaxation is Relaxation.SEEDS:
        read = _read_quantities(strict)
        seeds = [each.typed for each in used.quantities if (each.field, each.typed) not in read]
        relaxed += [{"typed": typed, "to": "a seed"} for typed in seeds]
    if relaxation is Relaxation.SIMILAR_NAMES:
        relaxed.append(_similar_name(strict, used))
    if relaxation is Relaxation.NAMES and not relaxed:
        relaxed += [{"typed": term.typed, "to": "beginnings of words"} for term in used.terms[-1:]]
    return relaxed


def _similar_name(strict: PlatformParse, used: PlatformParse) -> Json:
    typed, name = (
        " ".join(term.typed for term in these.terms if term not in other.terms and not term.is_filler)
        for these, other in ((strict, used), (used, strict))
    )
    return {"typed": typed, "to": f"the name that is most like it: {name}"}


def _reading_of_filler(term: Term, counts: Collection[int]) -> str:
    is_counted = term.count in counts
    return f"at least {term.count} attachments" if is_counted else "left out: it says nothing of an item"


def _words(term: Term) -> set[str]:
    return {word.typed for option in term.options for word in option.words}


def _read_quantities(parse: PlatformParse) -> set[tuple[str, str]]:
    return {(quantity.field, quantity.typed) for quantity in parse.quantities}


def _number_of(quantity: Quantity) -> str:
    return quantity.typed.replace(ASKING_PRICE, "").strip()


def _other_currencies(used: PlatformParse) -> list[Json]:
    taken = [
        {"typed": quantity.typed, "to": f"an amount in {used.platform.currency}, the platform's currency"}
        for quantity in used.quantities
        if quantity.currency not in (None, used.platform.currency)
    ]
    return taken + [_left_out(quantity, used.platform.currency) for quantity in used.other_amounts]


def _left_out(quantity: Quantity, currency: str) -> Json:
    if ASKING_PRICE in quantity.typed:
        return {"typed": _number_of(quantity), "to": "left out: the price that is asked"}
    return {"typed": quantity.typed.replace(OTHER_CURRENCY, ""), "to": f"left out: prices are in {currency}"}
