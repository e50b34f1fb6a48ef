"""The text's part of a query: readings in, clauses for the engine out. Pure.

Scores are counted, not weighed, so that they do not change with what else is in the index. By `relevance`, an item
whose name is the text comes before all others; then each term that can be met in several ways gives 1 for each way
that is met, and 2 for a value that it means: what is exactly the word also begins with it and is similar to it, what
has the meaning mostly has the word. A whole word gives 1 more where it may be a beginning too. Beside a word that has
a meaning, a finish gives 1 more that begins so (`glock fa` is a Fade before it is a Factory New), or that is the very
words (`doppler p2` is no Gamma Doppler first). Ties go by the index field `rank`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from api.search.parsing.parse import Reading, Term, Understood, Word
from api.search.parsing.quantities import Amount
from mappings.money import NO_PRICE, at_least, at_most
from mappings.vocabulary import Meaning, words_of

Clause = dict[str, Any]

WHOLE_NAME = 1000  # more than all terms of a text together give
# One edit from 4 letters, two from 8, swapped neighbours are one; the first letter is never wrong.
ONE_EDIT, TWO_EDITS = "AUTO:4,200", "AUTO:4,8"


@dataclass(frozen=True)
class Condition:
    """One condition of a text: what was typed, the clause that meets it, and whether it counts for the score."""

    typed: str
    clause: Clause
    counts: bool = False


def text_clauses(understood: Understood) -> Clause:
    """The parts of a `bool` query that an item must meet to have the text; nothing where it asks for nothing."""
    found = conditions(understood)
    filters = [one.clause for one in found if not one.counts]
    scored = [one.clause for one in found if one.counts]
    parts: Clause = {"filter": filters} if filters else {}
    if scored:
        parts["must"] = scored
    if words_of(understood.text):
        parts["should"] = [_worth(_whole_name(understood.text), WHOLE_NAME)]
    if finishes := sorted({finish for reading in understood.readings for finish in _finishes(reading)}):
        parts["should"].append(_worth({"terms": {"finish.folded": finishes}}, 1))
    return parts


def _finishes(reading: Reading) -> Iterator[str]:
    """What may be the whole name of a finish: neighbouring words that mean nothing else, or what stands for words."""
    if not _has_meanings(reading):
        return
    run: list[str] = []
    for term in (*reading.terms, None):
        if term is not None and not term.meanings:
            run += [word.typed for word in term.words]
            continue
        if run:
            yield " ".join(run)
        run = []
        yield from (meaning.words for meaning in (term.meanings if term else ()) if not meaning.filters)


def conditions(understood: Understood) -> list[Condition]:
    """Each condition of a text; on several platforms it is a single one, what any of them makes of the text."""
    if understood.everything:
        return []
    if len(understood.readings) == 1:
        return _conditions(understood.readings[0], understood.text)
    platforms = [_of_platform(one, understood.text) for one in understood.readings]
    return [Condition(understood.text, any_of(platforms), counts=True)]


def any_of(clauses: list[Clause]) -> Clause:
    """One of the clauses, or the only one."""
    return clauses[0] if len(clauses) == 1 else {"bool": {"should": clauses, "minimum_should_match": 1}}


def price_range(least: Decimal | None, most: Decimal | None, minor_digits: int) -> Clause:
    """Prices from `least` to `most`, both inclusive; None: no bound. What has no price is never inside."""
    bounds = {} if least is None else {"gte": at_least(least, minor_digits)}
    bounds["lte"] = NO_PRICE - 1 if most is None else min(at_most(most, minor_digits), NO_PRICE - 1)
    return {"range": {"price.ascending": bounds}}


def _has_meanings(reading: Reading) -> bool:
    return any(term.meanings for term in reading.terms)


def _of_platform(reading: Reading, text: str) -> Clause:
    found = _conditions(reading, text)
    filters = [one.clause for one in found if not one.counts]
    scored = [one.clause for one in found if one.counts]
    parts: Clause = {"filter": [{"term": {"platform": reading.platform}}, *filters]}
    return {"bool": {**parts, "must": scored} if scored else parts}


def _conditions(reading: Reading, text: str) -> list[Condition]:
    by_finish = _has_meanings(reading)
    found = [Condition(*part) for term in reading.terms for part in _term(term, by_finish)]
    # a number in a name may have been read as an amount
    named = [_whole_name(text)] if words_of(text) else []
    found += [Condition(one.typed, any_of([_amount(one, reading.minor_digits), *named])) for one in reading.amounts]
    if reading.marks:
        clause = {"match": {"name.marks": {"query": reading.marks, "operator": "and"}}}
        found.append(Condition(reading.marks, clause))
    return found


def _whole_name(text: str) -> Clause:
    return {"term": {"name.letters": text}}


def _term(term: Term, by_finish: bool) -> list[tuple[str, Clause, bool]]:
    """What an item must meet, each with what was typed and whether it counts for the score."""
    if term.either:
        typed = " ".join(one.typed for one in term.all)
        return [(typed, any_of([_all_of(_term(replace(one, either=()), by_finish)) for one in term.all]), True)]
    if term.narrow:
        return [(term.typed, any_of([_meaning(meaning) for meaning in term.meanings]), False)]
    words = [_word(word, by_finish) for word in term.words]
    if not term.meanings:
        return [(word.typed, clause, counts) for word, (clause, counts) in zip(term.words, words, strict=True)]
    typed_words = words[0][0] if len(words) == 1 else {"bool": {"filter": [clause for clause, _ in words]}}
    clauses = [_worth(typed_words, 1)]
    clauses += [_worth(_meaning(meaning), 2 if meaning.filters else 1) for meaning in term.meanings]
    if term.named:
        held = [value for meaning in term.meanings for _, values in meaning.filters for value in values]
        clauses += [_worth(_all_words(value), 1) for value in held]
    return [(term.typed, any_of(clauses), True)]


def _all_of(parts: list[tuple[str, Clause, bool]]) -> Clause:
    clauses = [clause for _, clause, _ in parts]
    return clauses[0] if len(clauses) == 1 else {"bool": {"must": clauses}}


def _meaning(meaning: Meaning) -> Clause:
    filters: list[Clause] = [{"terms": {f"{field}.folded": list(values)}} for field, values in meaning.filters]
    if meaning.words:
        filters.append(_all_words(meaning.words))
    return filters[0] if len(filters) == 1 else {"bool": {"filter": filters}}


def _word(word: Word, by_finish: bool) -> tuple[Clause, bool]:
    exact: Clause = {"match": {"text": " ".join(word.spellings)}}
    begun: list[Clause] = [{"match_bool_prefix": {"text": one}} for one in word.begun]
    others: list[Clause] = []
    if word.is_last and begun:
        others.append(_worth(any_of(begun), 1))
        if by_finish:
            others.append(_worth(any_of([{"match_bool_prefix": {"finish.typed": one}} for one in word.begun]), 1))
    elif begun:  # it began what the last word goes on with
        exact = any_of([exact, *begun])
    if word.mistyped:
        kinds = (ONE_EDIT, TWO_EDITS)
        others += [_worth({"match": {"text": similar(word.typed, fuzziness)}}, 1) for fuzziness in kinds]
    if not others:
        return exact, False
    return any_of([_worth(exact, 2 if word.is_last and begun else 1), *others]), True


def similar(word: str, fuzziness: str | int) -> Clause:
    """What a `match` asks for words like this one: the edits as the engine's fuzziness, the first letter kept."""
    return {
        "query": word,
        "fuzziness": fuzziness,
        "prefix_length": 1,
        "fuzzy_transpositions": True,
        "fuzzy_rewrite": "constant_score",  # all similar words; by default the engine takes 50, and hits were missing
    }


def _all_words(text: str) -> Clause:
    return {"match": {"text": {"query": text, "operator": "and"}}}


def _worth(clause: Clause, score: int) -> Clause:
    return {"constant_score": {"filter": clause, "boost": score}}


def _amount(amount: Amount, minor_digits: int) -> Clause:
    if amount.field in ("seed", "pattern"):
        values = [str(one) for one in amount.values]
        fields = ("seed", "pattern") if amount.field == "pattern" else ("seed",)
        return any_of([{"terms": {field: values}} for field in fields])
    if amount.field == "price":
        return price_range(amount.low, amount.high, minor_digits)
    low = None if amount.low is None else float(amount.low)
    high = None if amount.high is None else float(amount.high)
    bounds = {name: bound for name, bound in (("gte", low), ("lte", high)) if bound is not None}
    return {"range": {amount.field: bounds}}
