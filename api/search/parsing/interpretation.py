"""Interpretation: a text as it is read in; how it was understood, as `explain` answers it, out. Pure."""

from decimal import Decimal
from typing import Any

from api.search.parsing.parse import Reading, Term, Understood
from api.search.parsing.quantities import Amount
from api.search.schemas.search import SearchBody

Part = dict[str, Any]


def explained(body: SearchBody, strict: Understood, in_force: Understood) -> Part:
    """What `explain` adds to an answer: nothing for who did not ask."""
    return {"interpretation": interpretation(strict, in_force)} if body.explain else {}


def interpretation(strict: Understood, in_force: Understood) -> Part:
    """How the text was understood for the first platform searched, and below `others` for the rest of several."""
    parts = [_of(first, used, in_force.how) for first, used in zip(strict.readings, in_force.readings, strict=True)]
    return parts[0] if len(parts) == 1 else {**parts[0], "others": parts[1:]}


def _of(strict: Reading, used: Reading, how: str) -> Part:
    return {
        "platform": used.platform,
        "reading": how,
        "words": [word.typed for term in _all(used) if not term.meanings for word in term.words],
        "filters": _filters(used),
        "terms": [*(_term(term) for term in used.terms), *(_amount(one) for one in used.amounts)],
        "relaxed": [*_relaxed_amounts(strict, used), *_relaxed_terms(strict, used, how), *_other_currencies(used)],
    }


def _all(reading: Reading) -> list[Term]:
    return [one for term in reading.terms for one in term.all]


def _filters(reading: Reading) -> Part:
    """What the text asks for as `filters` of a request would say it; what no filter says is left out."""
    found: dict[str, Any] = {}
    for term in _all(reading):
        for meaning in term.meanings:
            for field, values in meaning.filters:
                held = found.setdefault(field, [])
                held += [value for value in values if value not in held]
    for amount in reading.amounts:
        if amount.field == "pattern":  # or a seed
            continue
        if amount.values:
            found[amount.field] = [*found.get(amount.field, ()), *amount.values]
        else:
            found[amount.field] = _tighter(found.get(amount.field, {}), _bounds(amount))
    return found


def _tighter(one: Part, other: Part) -> Part:
    both = {**one, **other}
    if "min" in one and "min" in other:
        both["min"] = max(one["min"], other["min"])
    if "max" in one and "max" in other:
        both["max"] = min(one["max"], other["max"])
    return both


def _bounds(amount: Amount) -> Part:
    ends = (("min", amount.low), ("max", amount.high))
    return {name: _number(end) for name, end in ends if end is not None}


def _number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


def _term(term: Term) -> Part:
    means: list[Part] = []
    for meaning in (meaning for one in term.all for meaning in one.meanings):
        words = {"words": meaning.words} if meaning.words else {}
        means.append({**{field: list(values) for field, values in meaning.filters}, **words})
    shown: Part = {"typed": " ".join(one.typed for one in term.all), "means": means}
    begun = [one for word in term.words for one in word.begun]
    if begun:
        shown["begins"] = begun
    return shown


def _amount(amount: Amount) -> Part:
    value: Any = list(amount.values) if amount.values else _bounds(amount)
    fields = ("seed", "pattern") if amount.field == "pattern" else (amount.field,)
    return {"typed": amount.typed, "means": [{field: value} for field in fields]}


def _relaxed_amounts(strict: Reading, used: Reading) -> list[Part]:
    kept = {(one.start, one.end) for one in used.amounts}
    return [
        {"typed": one.typed, "to": f"words: nothing has such a {one.field}"}
        for one in strict.amounts
        if (one.start, one.end) not in kept
    ]


def _relaxed_terms(strict: Reading, used: Reading, how: str) -> list[Part]:
    narrowed = {term.typed for term in _all(strict) if term.narrow}
    kept = {word.typed for term in _all(used) for word in term.words}
    found: list[Part] = []
    if how in ("fillers", "typos", "all_typos"):
        left_out = [term.typed for term in strict.terms if term.ignored and term.typed not in kept]
        found += [{"typed": typed, "to": "left out: it says nothing of an item"} for typed in left_out]
    for term in _all(used):
        if term.named:
            found.append({"typed": term.typed, "to": "its meaning, or that as words of the name"})
        elif term.typed in narrowed and not term.narrow:
            found.append({"typed": term.typed, "to": "its meaning, or a word of the name"})
        found += [{"typed": word.typed, "to": "similar words"} for word in term.words if word.mistyped]
    if how == "seeds":
        were = {(one.start, one.end) for one in strict.amounts}
        read_so = [one.typed for one in used.amounts if (one.start, one.end) not in were]
        found += [{"typed": typed, "to": "a seed"} for typed in read_so]
    if how == "names" and not found:
        found += [{"typed": term.typed, "to": "beginnings of words"} for term in used.terms[-1:]]
    return found


def _other_currencies(used: Reading) -> list[Part]:
    return [
        {"typed": one.typed, "to": f"an amount in {used.currency}, the platform's currency"}
        for one in used.amounts
        if one.currency not in (None, used.currency)
    ]
