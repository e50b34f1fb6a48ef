"""Query relaxation: a looser parse of a text whose strict parse finds nothing. Pure.

A text is parsed strictly first. Only if no offered item of the searched platforms has its terms, whatever else the body
filters, is it relaxed, in this order; the first relaxation that finds something is used:

1. `numbers`: what may be a quantity or a word (`20-50`, `0.01`, `#661`) is a word.
2. `strict` after all, if its terms alone find something: then it is the quantities that nothing matches.
3. `words`: terms that narrow (a weapon, a type), first all but the last, may be words of the name instead.
4. `names`: meanings may stand in the name instead, and every word may be a prefix.
5. `fillers`: words that say nothing about an item (`cheap`, `skin`) are left out, in these three ways again.
6. `seeds`: a number of three digits between blanks is a seed.
7. `typos`: each word that no offered item has matches similar words too, a filler matches anything.
8. `all_typos`: each correctable word matches similar words.

Each of the last three narrows first, then lets narrowing terms be words of the name. Quantities that can be nothing
else stay in every relaxation. So filters, pages, sorts and facets of one text always mean the same parse. If no
relaxation finds anything the strict parse is used.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from api.engine.answers import total_of
from api.search.context import SearchContext
from api.search.parsing.parse import ParsedQuery, PlatformParse, Relaxation, Term, Word, parse_text
from api.search.query.clauses import OFFERED, Clause
from api.search.query.text import text_clauses
from mappings.platforms import Platform

# Each word to correct is a search of its own, and two kinds of similar words in every correction. Texts that buyers
# write have fewer words without a meaning; one with more is taken as it was typed.
MAX_CORRECTED_WORDS = 12


async def relax(context: SearchContext) -> SearchContext:
    """The same search with the relaxation that finds something; the same context if none does."""
    strict, platforms = context.query.parsed, context.platforms
    relaxed, words = relaxations(strict, platforms), correctable_words(strict)
    if len(words) > MAX_CORRECTED_WORDS:
        words = []
    if not any(parse.terms for candidate in relaxed for parse in candidate.parses):
        return context
    match = await _matching(context, [*relaxed, *(single_word(strict, word) for word in words)])
    in_offer = {word.typed for word, has_items in zip(words, match[len(relaxed) :], strict=True) if has_items}
    for parsed, has_items in zip(relaxed, match, strict=False):
        if has_items:
            return context.parsed_as(parsed)
    corrected = corrections(strict, in_offer) if words else []
    for parsed, has_items in zip(corrected, await _matching(context, corrected), strict=True):
        if has_items:
            return context.parsed_as(parsed)
    return context


async def _matching(context: SearchContext, candidates: Sequence[ParsedQuery]) -> list[bool]:
    """For each candidate whether an offered item has its terms, whatever its quantities."""
    if not candidates:
        return []
    forced = list(context.query.forced_clauses.values())
    answers = await context.source.search_all([_probe(parsed, forced) for parsed in candidates])
    return [total_of(answer) > 0 for answer in answers]


def _probe(parsed: ParsedQuery, forced: Sequence[Clause]) -> Clause:
    """The search body that tells whether an offered item has the terms."""
    terms_only = replace(parsed, parses=tuple(replace(parse, quantities=()) for parse in parsed.parses))
    text = text_clauses(terms_only)
    query = {"bool": {**text, "filter": [OFFERED, *forced, *text.get("filter", ())]}}
    return {"query": query, "size": 0, "track_total_hits": 1, "terminate_after": 1}


def relaxations(strict: ParsedQuery, platforms: Sequence[Platform]) -> list[ParsedQuery]:
    """The relaxations without corrections in their order, the strict parse among them."""
    as_words = numbers_as_words(strict, platforms)
    relaxed = [] if as_words is None else [as_words, *narrowing_as_words(as_words)]
    relaxed += [strict, *narrowing_as_words(strict, Relaxation.WORDS), meanings_as_names(strict)]
    without = without_fillers(strict)
    if without is not None:
        relaxed += [without, *narrowing_as_words(without), meanings_as_names(without, Relaxation.FILLERS)]
    with_seeds = numbers_as_seeds(strict, platforms)
    if with_seeds is not None:
        relaxed += [with_seeds, *narrowing_as_words(with_seeds)]
    return relaxed


def corrections(strict: ParsedQuery, in_offer: Collection[str]) -> list[ParsedQuery]:
    """The relaxations that correct typos in their order; `in_offer` are words that an offered item has."""
    base = without_fillers(strict, in_offer) or strict
    corrected = (
        with_similar_words(base, in_offer, Relaxation.TYPOS),
        with_similar_words(base, (), Relaxation.ALL_TYPOS),
    )
    return [each for parsed in corrected if parsed is not None for each in (parsed, *narrowing_as_words(parsed))]


def numbers_as_words(strict: ParsedQuery, platforms: Sequence[Platform]) -> ParsedQuery | None:
    """What may be a quantity or a word is a word; None if nothing may be both."""
    if all(quantity.certain for parse in strict.parses for quantity in parse.quantities):
        return None
    parses = (parse_text(strict.text, platform, certain_only=True) for platform in platforms)
    return replace(strict, parses=tuple(parses), relaxation=Relaxation.NUMBERS)


def narrowing_as_words(parsed: ParsedQuery, relaxation: Relaxation | None = None) -> list[ParsedQuery]:
    """Narrowing terms may be words of the name: all but the last of them (`glove case` is a case), then that too."""

    def only_last_narrows(parse: PlatformParse) -> PlatformParse:
        last = max((place for place, term in enumerate(parse.terms) if term.narrows), default=None)
        terms = (replace(term, narrows=term.narrows and place == last) for place, term in enumerate(parse.terms))
        return replace(parse, terms=tuple(terms))

    some = tuple(only_last_narrows(parse) for parse in parsed.parses)
    none = _with_terms(parsed, lambda term: replace(term, narrows=False), Relaxation.WORDS).parses
    different = dict.fromkeys(parses for parses in (some, none) if parses != parsed.parses)
    return [replace(parsed, parses=parses, relaxation=relaxation or parsed.relaxation) for parses in different]


def meanings_as_names(strict: ParsedQuery, relaxation: Relaxation = Relaxation.NAMES) -> ParsedQuery:
    """Meanings may stand in the name, and every word may be a prefix."""

    def widened(term: Term) -> Term:
        words = tuple(replace(word, prefixes=word.endings) for word in term.words)
        return replace(term, words=words, narrows=False, by_name=_has_filters(term))

    return _with_terms(strict, widened, relaxation)


def without_fillers(strict: ParsedQuery, in_offer: Collection[str] = ()) -> ParsedQuery | None:
    """Without the fillers that are not `in_offer`; None if that changes nothing."""

    def stripped(parse: PlatformParse) -> PlatformParse:
        terms = tuple(term for term in parse.terms if not term.is_filler or term.typed in in_offer)
        return replace(parse, terms=terms) if terms or parse.quantities else parse

    parses = tuple(stripped(parse) for parse in strict.parses)
    return None if parses == strict.parses else replace(strict, parses=parses, relaxation=Relaxation.FILLERS)


def numbers_as_seeds(strict: ParsedQuery, platforms: Sequence[Platform]) -> ParsedQuery | None:
    """Bare numbers of three digits are seeds; None if there is none, or no other term."""
    parses = tuple(parse_text(strict.text, platform, with_seeds=True) for platform in platforms)
    if parses == strict.parses or not all(parse.terms for parse in parses):
        return None
    return replace(strict, parses=parses, relaxation=Relaxation.SEEDS)


def with_similar_words(strict: ParsedQuery, in_offer: Collection[str], relaxation: Relaxation) -> ParsedQuery | None:
    """Words that are not known match similar ones, and every word may be a prefix; None if no word is correctable."""

    def widened(term: Term) -> Term:
        words = tuple(
            replace(word, fuzzy=_needs_correction(term, word, in_offer), prefixes=word.endings) for word in term.words
        )
        return replace(term, words=words, by_name=not term.narrows and _has_filters(term))

    parsed = _with_terms(strict, widened, relaxation)
    return parsed if any(word.fuzzy for term in _all_terms(parsed) for word in term.words) else None


def correctable_words(strict: ParsedQuery) -> list[Word]:
    """The candidates for correction, as `meanings_as_names` parses them, each once."""
    terms = _all_terms(meanings_as_names(strict))
    words = {word.typed: word for term in terms for word in term.words if _needs_correction(term, word, ())}
    return list(words.values())


def single_word(strict: ParsedQuery, word: Word) -> ParsedQuery:
    """One word of a text by itself, on all its platforms."""
    parses = (replace(parse, terms=(Term((word,)),), quantities=()) for parse in strict.parses)
    return ParsedQuery(word.typed, tuple(parses))


def _needs_correction(term: Term, word: Word, in_offer: Collection[str]) -> bool:
    return not term.meanings and word.is_correctable and word.typed not in in_offer


def _has_filters(term: Term) -> bool:
    return any(meaning.filters for meaning in term.meanings)


def _all_terms(parsed: ParsedQuery) -> list[Term]:
    return [term for parse in parsed.parses for term in parse.options]


def _with_terms(parsed: ParsedQuery, change: Callable[[Term], Term], relaxation: Relaxation) -> ParsedQuery:
    def changed(term: Term) -> Term:
        return replace(change(term), alternatives=tuple(change(option) for option in term.alternatives))

    parses = (replace(parse, terms=tuple(changed(term) for term in parse.terms)) for parse in parsed.parses)
    return replace(parsed, parses=tuple(parses), relaxation=relaxation)
