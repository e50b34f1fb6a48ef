"""Query relaxation: a looser parse of a text whose strict parse finds nothing. Framework-free.

A text is parsed strictly first. It is relaxed only if no offered item of the searched platforms has its terms and
nothing that it excludes, whatever else the body filters. The first relaxation that finds something is used
(`relaxations` has them in their order). So filters, pages, sorts and facets of one text always mean the same parse. If
no relaxation finds anything the strict parse is used.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import islice

from api.engine.clauses import Clause, probe
from api.engine.responses import total_of
from api.search.context import SearchContext
from api.search.parsing.parse import ParsedQuery, Relaxation
from api.search.parsing.quantities import with_similar_floats
from api.search.parsing.words import Word
from api.search.query.text import text_clauses
from api.search.relaxation.fillers import any_of_items, is_of_one_weapon, offered_items, without_fillers
from api.search.relaxation.left_out import names_alone, partials
from api.search.relaxation.relaxations import (
    as_typed,
    correctable_words,
    corrections,
    loose,
    misspelt,
    numbers_as_seeds,
    single_word,
    translated,
)
from api.search.relaxation.similar_names import similar_names
from api.search.relaxation.stickers import is_carrier, words_of_stickers
from mappings.fields import OFFERED

# Each word to correct is a search of its own, and two kinds of similar words in every correction. Texts that buyers
# write have fewer words without a meaning; one with more is taken as it was typed.
MAX_CORRECTED_WORDS = 12
# Parses that leave words out are searched for from the fewest words on, this many. No judged text has more than 130.
MAX_PARTIAL = 150
# A misspelt value of these is that value before it is a similar word, for beside it a finish is just that finish.
MISSPELT_FIRST = ("weapon", "phase", "exterior")


async def relax(context: SearchContext) -> SearchContext:
    """The same search with the relaxation that finds something; the same context if none does.

    Where no item has the float of one that the text says, similar ones are wanted.
    """
    relaxed = await _relaxed_terms(context)
    parsed = relaxed.query.parsed
    similar = tuple(
        replace(parse, quantities=tuple(map(with_similar_floats, parse.quantities))) for parse in parsed.parses
    )
    if similar == parsed.parses or any(await _have_items(context, [parsed])):
        return relaxed
    return relaxed.parsed_as(replace(parsed, parses=similar))


async def _relaxed_terms(context: SearchContext) -> SearchContext:
    strict = context.query.parsed
    candidates = as_typed(strict)
    if not any(parse.terms for parsed in candidates for parse in parsed.parses):
        return context
    # These are asked for alone: names that are still being typed need no others, and are most of what is relaxed. Of
    # a sentence most are found without its fillers.
    items = offered_items(strict) if any(term.is_filler for term in strict.options) else None
    looser = loose(strict)
    if items == []:
        candidates += islice(looser, 1)
    relaxed = await _first_with_items(context, candidates)
    if relaxed is None and (items := offered_items(strict) if items is None else items):
        relaxed = await _any_of(context, items)
    if relaxed is None:
        relaxed = await _relaxed(context, strict, [*looser])
    return context if relaxed is None else context.parsed_as(relaxed)


async def _any_of(context: SearchContext, items: Sequence[ParsedQuery]) -> ParsedQuery | None:
    """The items of a text that match something: the first one also relaxed, others as they are typed."""
    strict = context.query.parsed
    first, *others = items
    undivided = words_of_stickers(strict) if is_carrier(strict) else []
    if is_of_one_weapon(strict) and (without := without_fillers(strict)) is not None:
        undivided.append(without)
    relaxed = await _relaxed(context, first, [*undivided, *as_typed(first), *loose(first)])
    if not others or relaxed in undivided:
        return relaxed
    ways = [[*as_typed(each), *_as_item(each)] for each in others]
    match = iter(await _matching(context, [way for each in ways for way in each]))
    matched = [_first_match(each, list(islice(match, len(each)))) for each in ways]
    if relaxed is not None and relaxed.relaxation is Relaxation.PARTIAL and any(matched):
        relaxed = None  # in `ak foobar, awp asiimov` one item is known
    return any_of_items(strict, [each for each in (relaxed, *matched) if each is not None])


def _as_item(item: ParsedQuery) -> list[ParsedQuery]:
    """Further relaxations of an item that is not the first: without fillers, with what is on it, with its seed."""
    on_item = words_of_stickers(item) if is_carrier(item) else []
    return [each for each in (without_fillers(item), *on_item, numbers_as_seeds(item)) if each is not None]


async def _relaxed(context: SearchContext, base: ParsedQuery, relaxed: Sequence[ParsedQuery]) -> ParsedQuery | None:
    """The first of these relaxations that finds something, or else of the corrections of the base, of the names that
    it is like, or of those that leave words out; None if none does.

    The base is the text, or the offer of a trade post.
    """
    strict, bases = context.query.parsed, [*translated(base), base]
    words = _words_to_correct(bases)
    parsed, matching = await _first_and_words(context, relaxed, words)
    if parsed is not None:
        return parsed
    matching_words = {word.typed for word in matching}
    unknown = [word for word in words if word.typed not in matching_words]
    finished = [replace(word, prefixes=()) for word in matching if word.prefixes]
    corrected = _corrected(bases, matching_words, has_words=bool(words), is_latin=strict.text.isascii())
    singles = [*(replace(word, fuzzy=True) for word in unknown), *finished]
    parsed, matched = await _first_and_words(context, corrected, singles)
    if parsed is not None:
        return parsed
    if unknown and (parsed := await _first_with_items(context, similar_names(base))) is not None:
        return parsed
    similar = {word.typed for word in matched if word.fuzzy}
    matching_words -= {word.typed for word in finished if word not in matched}  # other words only begin so
    partial = [each for way in bases for each in partials(way, matching_words, similar)] if words else []
    absent = {word.typed for word in unknown}
    partial += [each for way in bases for each in names_alone(way, absent)]
    partial.sort(key=lambda parsed: sum(len(parse.ignored) for parse in parsed.parses))
    return await _first_with_items(context, partial[:MAX_PARTIAL])


def _corrected(
    bases: Sequence[ParsedQuery], matching_words: Collection[str], *, has_words: bool, is_latin: bool
) -> list[ParsedQuery]:
    """The corrections of the bases in their order, which is another one for texts in other letters."""
    values = [each for way in bases for each in misspelt(way, MISSPELT_FIRST)] if is_latin else []
    respelt = [each for way in bases for each in misspelt(way) if each not in values]
    similar_words = [each for way in bases for each in corrections(way, matching_words)] if has_words else []
    return [*values, *similar_words, *respelt] if is_latin else [*respelt, *similar_words]


async def _first_and_words(
    context: SearchContext, candidates: Sequence[ParsedQuery], words: Sequence[Word]
) -> tuple[ParsedQuery | None, list[Word]]:
    """The first of the candidates that has items, and those of the words that an offered item has, in one request."""
    strict = context.query.parsed
    match = await _matching(context, [*candidates, *(single_word(strict, word) for word in words)])
    matching = [word for word, has_items in zip(words, match[len(candidates) :], strict=True) if has_items]
    return _first_match(candidates, match), matching


async def _first_with_items(context: SearchContext, candidates: Sequence[ParsedQuery]) -> ParsedQuery | None:
    return _first_match(candidates, await _matching(context, candidates))


def _first_match(candidates: Sequence[ParsedQuery], match: Sequence[bool]) -> ParsedQuery | None:
    """The first of the candidates that has items; what else was looked for comes behind them."""
    return next((parsed for parsed, has_items in zip(candidates, match, strict=False) if has_items), None)


def _words_to_correct(bases: Sequence[ParsedQuery]) -> list[Word]:
    """The candidates for correction, each once; those that say nothing of an item only where there are few."""
    words = list({word.typed: word for base in bases for word in correctable_words(base)}.values())
    if len(words) > MAX_CORRECTED_WORDS:
        fillers = {term.typed for base in bases for parse in base.parses for term in parse.terms if term.is_filler}
        words = [word for word in words if word.typed not in fillers]
    return words if len(words) <= MAX_CORRECTED_WORDS else []


async def _matching(context: SearchContext, candidates: Sequence[ParsedQuery]) -> list[bool]:
    """For each candidate whether an offered item has its terms and nothing excluded, whatever its quantities."""
    without = [
        replace(each, parses=tuple(replace(parse, quantities=()) for parse in each.parses)) for each in candidates
    ]
    return await _have_items(context, without)


async def _have_items(context: SearchContext, texts: Sequence[ParsedQuery]) -> list[bool]:
    """For each text whether an offered item has what it asks for, whatever else the body filters."""
    if not texts:
        return []
    forced = [*context.query.hidden_clauses, *context.query.forced_clauses.values()]
    responses = await context.source.search_all([_probe(parsed, forced) for parsed in texts])
    return [total_of(response) > 0 for response in responses]


def _probe(parsed: ParsedQuery, forced: Sequence[Clause]) -> Clause:
    """The search body that tells whether an offered item has what a text asks for."""
    text = text_clauses(parsed)
    query = {"bool": {**text, "filter": [OFFERED, *forced, *text.get("filter", ())]}}
    return probe(query)
