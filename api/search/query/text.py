"""Builds the text's part of a query from its parse. Pure.

Scores are constants, so they do not change with what else is in the index. By `relevance`, an item whose name is the
text comes before all others. Each term that can match in several ways gives 1 for each way that matches, and 2 for a
value that it means: what is exactly the word also begins with it and is similar to it, and what has the meaning mostly
has the word. A whole word gives 1 more if it may be a prefix too. Beside a word with a meaning, a finish gives 1 more
that begins so (`glock fa` is a Fade before it is a Factory New), or that is the very words (`doppler p2` is no Gamma
Doppler first), and so does a name that begins with the text (`sticker tit`), or is the text and the word for a case
(`revolution`). Ties go by the index field `rank`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from api.engine.clauses import Clause, any_of, constant_score, price_range
from api.search.parsing.parse import ParsedQuery, PlatformParse
from api.search.parsing.quantities import Quantity, either_ranges
from api.search.parsing.words import Term, Word, mere_runs, names_in
from api.search.query.operator_rules import pin_scores, pinned_clause
from mappings.folding import fold, single_spaced
from mappings.vocabulary.entries import Meaning
from mappings.vocabulary.words import letters_of_text, words_of

WHOLE_NAME_SCORE = 1000  # more than all terms of a text together give
ITEM_SCORE = 2 * WHOLE_NAME_SCORE  # more than an item's whole name and its terms together give
HAS_STICKER: Clause = {"exists": {"field": "stickers"}}
_STICKERS = "stickers.typed"
_STAR = "★"
_ANY = {"price": price_range(None, None, 0), "float": {"range": {"float": {"gte": 0}}}}
_NEAR = (Decimal("0.0000001"), Decimal("0.0001"), Decimal("0.001"))  # what differs by less from a float comes first
# One edit from 4 letters, two from 8, swapped neighbours are one; the first letter is never wrong.
ONE_EDIT, TWO_EDITS = "AUTO:4,200", "AUTO:4,8"
TWO_EDITS_FROM = 8  # letters
TWO_EDITS_ALONE = "AUTO:4,10"  # of a word that is all that a text says: `terraria` is no Terrain
MIN_ON_ITEM = 5  # letters of a word of a sticker that may be misspelt
SHORTEST_SWAP = 3  # letters of a word in which nothing but swapped neighbours is mended


@dataclass(frozen=True)
class Condition:
    """One condition of a text: the typed words, the clause that matches them, and whether it adds to the score."""

    typed: str
    clause: Clause
    scores: bool = False


def text_clauses(parsed: ParsedQuery) -> Clause:
    """The parts of a `bool` query that match the text; empty for a blank text."""
    parts = _bool_parts(conditions(parsed))
    if words_of(parsed.text):
        parts["should"] = [constant_score(_whole_name(parsed.text), WHOLE_NAME_SCORE)]
        if any(_is_unfinished(parse) for parse in parsed.parses):
            parts["should"].append(constant_score({"prefix": {"name.letters": parsed.text}}, 1))
        if parsed.text.endswith(_STAR):  # `Patch | Metal The Global Elite ★`
            parts["should"].append(constant_score({"match": {"name.marks": _STAR}}, 1))
        names = [f"{parsed.text} {word}" for parse in parsed.parses for word in parse.last_words]
        if names:
            parts["should"].append(constant_score({"terms": {"name.letters": names}}, 1))
    near = [each.near for parse in parsed.parses for each in parse.quantities if each.near is not None]
    if near:
        parts.setdefault("should", []).extend(constant_score(_within(each, by), 1) for each in near for by in _NEAR)
    if finishes := sorted(
        {name for parse in parsed.parses for each in _finishes(parse) for name in _folded(each, parse)}
    ):
        parts["should"].append(constant_score({"terms": {"finish.folded": finishes}}, 1))
    if pins := pin_scores(parsed.rules):
        parts["should"] += pins
    return parts


def conditions(parsed: ParsedQuery) -> list[Condition]:
    """Each condition of a text; on several platforms, or of several items, a single one: what any of them asks for."""
    if parsed.matches_all:
        return []
    pinned = {rules.platform: pinned_clause(rules) for rules in parsed.rules}
    if len(parsed.parses) == 1:
        (parse,) = parsed.parses
        return _conditions(parse, parsed.text, pinned.get(parse.platform.id))
    either = [
        _on_platform(parse, parse.of_item or parsed.text, pinned.get(parse.platform.id)) for parse in parsed.parses
    ]
    if not parsed.parses[0].of_item:
        return [Condition(parsed.text, any_of(either), scores=True)]
    items = [
        _before(clause, parse.of_item, len(either) - place)
        for place, (clause, parse) in enumerate(zip(either, parsed.parses, strict=True), 1)
    ]
    return [Condition(parsed.text, any_of(items), scores=True)]


def similar(word: str, fuzziness: str | int, prefix_length: int = 1) -> Clause:
    """What a `match` asks for words like this one: the edits as the engine's fuzziness, so many first letters kept."""
    return {
        "query": word,
        "fuzziness": fuzziness,
        "prefix_length": prefix_length,
        "fuzzy_transpositions": True,
        "fuzzy_rewrite": "constant_score",  # all similar words; by default the engine takes 50, and hits were missing
    }


def _bool_parts(parts: list[Condition]) -> Clause:
    filters = [condition.clause for condition in parts if not condition.scores]
    scored = [condition.clause for condition in parts if condition.scores]
    return {**({"filter": filters} if filters else {}), **({"must": scored} if scored else {})}


def _on_platform(parse: PlatformParse, text: str, pinned: Clause | None) -> Clause:
    parts = _bool_parts(_conditions(parse, text, pinned))
    return {"bool": {**parts, "filter": [{"term": {"platform": parse.platform.id}}, *parts.get("filter", ())]}}


def _before(item: Clause, text: str, following: int) -> Clause:
    """An item of a text, found before so many `following` ones, by its whole name before others."""
    first = constant_score({"match_all": {}}, following * ITEM_SCORE) if following else None
    whole_name = constant_score(_whole_name(text), WHOLE_NAME_SCORE)
    return {"bool": {"must": [item], "should": [*([first] if first else []), whole_name]}}


def _conditions(parse: PlatformParse, text: str, pinned: Clause | None) -> list[Condition]:
    by_finish = _has_meanings(parse)
    parts = [condition for term in parse.terms for condition in _term(term, by_finish)]
    if parse.finishes:
        named: Clause = any_of([{"term": {"finish.folded": name}} for name in parse.finishes])
        parts.append(Condition(parse.finishes[0], named))
    if pinned is not None:  # found whatever the words say; amounts and exclusions hold for them as well
        parts = [replace(part, clause=any_of([part.clause, pinned])) for part in parts]
    # a number in a name may have been parsed as a quantity
    names = [_whole_name(text)] if words_of(text) else []
    either = either_ranges(parse.quantities)
    for quantity in parse.quantities:
        wanted = either if quantity in either else (quantity,)
        clauses = [_quantity(each, parse.platform.minor_digits) for each in wanted]
        parts.append(Condition(quantity.typed, any_of([*clauses, *names])))
    # and `no` or `not` may be a word of a name
    parts += [Condition(term.typed, any_of([_none_of(_excluded(term)), *names])) for term in parse.excluded]
    if parse.symbols:
        clause = {"match": {"name.marks": {"query": parse.symbols, "operator": "and"}}}
        parts.append(Condition(parse.symbols, clause))
    return parts


def _has_meanings(parse: PlatformParse) -> bool:
    return any(term.meanings for term in parse.terms)


def _is_unfinished(parse: PlatformParse) -> bool:
    return _has_meanings(parse) and any(word.is_last and word.prefixes for word in parse.terms[-1].words)


def _folded(name: str, parse: PlatformParse) -> tuple[str, ...]:
    """The name of a finish as the index has it, if it is a known one (`x ray`: `x-ray`)."""
    return parse.platform.merged_vocabulary.folded_finishes.get(letters_of_text(name), (name,))


def _finishes(parse: PlatformParse) -> list[str]:
    """What may be the whole name of a finish: neighbouring words that mean nothing else, or what stands for words."""
    if not _has_meanings(parse):
        names = [" ".join(run) for run in mere_runs([term for term in parse.terms if not term.is_filler])]
        return [name for name in names if letters_of_text(name) in parse.platform.merged_vocabulary.finishes]
    alternatives = [option for term in parse.terms if term.alternatives for option in term.options]
    return [
        *map(" ".join, mere_runs(parse.terms)),
        *(option.typed for option in alternatives if not option.meanings),
        *(meaning.words for term in (*parse.terms, *alternatives) for meaning in term.meanings if not meaning.filters),
    ]


def _within(wear: Decimal, by: Decimal) -> Clause:
    return {"range": {"float": {"gte": float(wear - by), "lte": float(wear + by)}}}


def _whole_name(text: str) -> Clause:
    return {"term": {"name.letters": text}}


def _term(term: Term, by_finish: bool) -> list[Condition]:
    if term.alternatives:
        typed = " ".join(option.typed for option in term.options)
        options = (_term(replace(option, alternatives=()), by_finish) for option in term.options)
        return [Condition(typed, any_of([_all_of(_scored(option)) for option in options]), scores=True)]
    if term.is_attached:
        return [Condition(term.typed, _at_least(term.count, HAS_STICKER))]
    if term.on_item:
        return [Condition(term.typed, _on_item(term))]
    if term.narrows:
        return [Condition(term.typed, any_of([_meaning(meaning) for meaning in term.meanings]))]
    words = [_word(word, by_finish) for word in term.words]
    if not term.meanings:
        return (
            [_or_in_set(condition, word, term) for condition, word in zip(words, term.words, strict=True)]
            if term.in_set
            else words
        )
    typed_words = words[0].clause if len(words) == 1 else {"bool": {"filter": [word.clause for word in words]}}
    clauses = [constant_score(typed_words, 1)]
    clauses += [constant_score(_meaning(meaning), 2 if meaning.filters else 1) for meaning in term.meanings]
    if term.in_set:
        in_sets = [constant_score(_all_words(each.words, "set.typed"), 1) for each in term.meanings if each.words]
        clauses = in_sets if term.only_in_set else [*clauses, *in_sets]
    if term.by_name:
        values = [value for meaning in term.meanings for _, values in meaning.filters for value in values]
        clauses += [constant_score(_all_words(value), 1) for value in values]
    return [Condition(term.typed, any_of(clauses), scores=True)]


def _on_item(term: Term) -> Clause:
    """One of the stickers on the item has all words, or similar ones, in this order if there are several."""
    names = [_joins(words_of(each.words)) for each in term.meanings if each.words]
    queries = [_all_words(" ".join(name), _STICKERS) for name in names]
    return _at_least(term.count, any_of([_similar_joins(term.words), *queries]))


def _at_least(count: int, attached: Clause) -> Clause:
    """An item with what is attached, and so many things on it."""
    if count < 2:
        return attached
    return {"bool": {"filter": [attached, {"range": {"attachmentCount": {"gte": count}}}]}}


def _joins(words: Sequence[str]) -> list[str]:
    """Words as the joins of neighbours, which one and the same sticker has."""
    return [f"{first}{second}" for first, second in pairwise(words)] or [words[0]]


def _similar_joins(words: Sequence[Word]) -> Clause:
    """The joins of words; those with a misspelt one and without digits match similar ones."""
    typed = [word.typed for word in words]
    misspelt = {word.typed for word in words if word.fuzzy and len(word.typed) >= MIN_ON_ITEM}
    queries: list[Clause] = []
    pairs: list[Sequence[str]] = [*pairwise(typed)]
    for pair in pairs or [typed]:
        join, wrong = "".join(pair), misspelt.intersection(pair)
        edits = TWO_EDITS if max(map(len, wrong), default=0) >= TWO_EDITS_FROM else ONE_EDIT
        queries.append(similar(join, edits) if wrong and join.isalpha() else {"query": join})
    if not any("fuzziness" in query for query in queries):
        return _all_words(" ".join(_joins(typed)), _STICKERS)
    return {"bool": {"filter": [{"match": {_STICKERS: query}} for query in queries]}}


def _or_in_set(condition: Condition, word: Word, term: Term) -> Condition:
    """The word, or that in the name of the item's set."""
    in_set = constant_score({"match": {"set.typed": " ".join(word.spellings)}}, 1)
    clause = condition.clause if condition.scores else constant_score(condition.clause, 1)
    return replace(condition, clause=in_set if term.only_in_set else any_of([clause, in_set]), scores=True)


def _excluded(term: Term) -> list[Clause]:
    """What an item that is not wanted matches: the words, or a meaning by field or by name."""
    attached = _names_on_item(term) if term.on_item else [HAS_STICKER] if term.is_attached else []
    words: list[Clause] = []
    if not any(meaning.filters for meaning in term.meanings):  # what stands for words of names may be one itself
        words = [_word(word, False).clause for word in term.words]
        words = words if len(words) == 1 else [{"bool": {"filter": words}}]
    by_value = [meaning for meaning in term.meanings if not meaning.words]
    names = dict.fromkeys(fold(value) for meaning in by_value for _, values in meaning.filters for value in values)
    meanings = [*map(_meaning, term.meanings)]
    return [*words, *meanings, *map(_all_words, names), *attached]


def _names_on_item(term: Term) -> list[Clause]:
    """One of the stickers on the item has all words, others between them or not: `no s1mple 2025`."""
    return [_all_words(" ".join(name), _STICKERS) for name in names_in(term)]


def _none_of(clauses: list[Clause]) -> Clause:
    return {"bool": {"must_not": clauses}}


def _scored(parts: list[Condition]) -> list[Condition]:
    """The conditions, each with a constant score."""
    return [part if part.scores else replace(part, clause=constant_score(part.clause, 1)) for part in parts]


def _all_of(parts: list[Condition]) -> Clause:
    clauses = [condition.clause for condition in parts]
    return clauses[0] if len(clauses) == 1 else {"bool": {"must": clauses}}


def _meaning(meaning: Meaning) -> Clause:
    filters: list[Clause] = [
        {"terms": {f"{field}.folded": [single_spaced(value) for value in values]}} for field, values in meaning.filters
    ]
    if meaning.words:
        filters.append(_all_words(meaning.words))
    return filters[0] if len(filters) == 1 else {"bool": {"filter": filters}}


def _word(word: Word, by_finish: bool) -> Condition:
    exact: Clause = {"match": {"text": " ".join(word.spellings)}}
    prefixes: list[Clause] = [{"match_bool_prefix": {"text": prefix}} for prefix in word.prefixes]
    others: list[Clause] = []
    if word.is_last and prefixes:
        others.append(constant_score(any_of(prefixes), 1))
        if by_finish:
            finish = [{"match_bool_prefix": {"finish.typed": prefix}} for prefix in word.prefixes]
            others.append(constant_score(any_of(finish), 1))
    elif prefixes:  # the last word continues it
        exact = any_of([exact, *prefixes])
    if word.fuzzy:
        edits = (ONE_EDIT, TWO_EDITS_ALONE if word.is_alone else TWO_EDITS)
        prefix_length = 0 if word.fuzzy_first else 1
        if word.fuzzy_first:
            swapped = [{"match": {"text": similar(each, ONE_EDIT)}} for each in _swapped(word.typed)]
            others.append(constant_score(any_of(swapped), 1))
        elif len(word.typed) == SHORTEST_SWAP:
            others.append(constant_score({"match": {"text": " ".join(_swapped(word.typed)[1:])}}, 1))
        others += [constant_score({"match": {"text": similar(word.typed, each, prefix_length)}}, 1) for each in edits]
    if not others:
        return Condition(word.typed, exact)
    whole_word = constant_score(exact, 2 if word.is_last and prefixes else 1)
    return Condition(word.typed, any_of([whole_word, *others]), scores=True)


def _swapped(word: str) -> list[str]:
    """The word with each two neighbours swapped, the first two first; in long ones (two edits) no others."""
    places = range(len(word) - 1 if len(word) < TWO_EDITS_FROM else 1)
    return [word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in places]


def _all_words(text: str, field: str = "text") -> Clause:
    return {"match": {field: {"query": text, "operator": "and"}}}


def _quantity(quantity: Quantity, minor_digits: int) -> Clause:
    if quantity.is_excluded:
        none_of = _none_of([_quantity(replace(quantity, is_excluded=False), minor_digits)])
        if quantity.field not in _ANY:
            return none_of
        # what has no price is not below one: `over 80 no`
        return {"bool": {**none_of["bool"], "filter": [_ANY[quantity.field]]}}
    if quantity.field in ("seed", "pattern"):
        values = [str(value) for value in quantity.values]
        fields = ("seed", "pattern") if quantity.field == "pattern" else ("seed",)
        return any_of([{"terms": {field: values}} for field in fields])
    if quantity.field == "price":
        return price_range(quantity.low, quantity.high, minor_digits)
    bounds = (("gte", quantity.low), ("lte", quantity.high))
    field = "attachmentCount" if quantity.field == "attachments" else quantity.field
    return {"range": {field: {name: float(bound) for name, bound in bounds if bound is not None}}}
