"""The last relaxations of a text: words are left out that nothing has, at all or beside the others. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from api.search.parsing.parse import ALTERNATIVE_FIELDS, ParsedQuery, PlatformParse, Relaxation, finishes_of
from api.search.parsing.words import Term, is_word, names_in
from api.search.relaxation.fillers import without_fillers
from api.search.relaxation.relaxations import MIN_SENTENCE, other_meanings, with_similar_words
from api.search.relaxation.stickers import STICKER_COUNTS, words_of_names
from mappings.vocabulary.words import letters_of, letters_of_text, words_of

MAX_LEFT_OUT = 5  # words of which one or two are left out


@dataclass(frozen=True)
class _Words:
    """The words of a text without its fillers."""

    base: ParsedQuery
    counted: set[str]  # of things of which the item has several
    of_names: set[str]  # those, and words of known names
    mere: set[str]  # that may be left out

    @property
    def terms(self) -> list[Term]:
        return [term for parse in self.base.parses for term in parse.terms]


def _words(strict: ParsedQuery) -> _Words:
    base = without_fillers(strict) or strict
    counted = {term.typed for parse in strict.parses for term in _counted(parse)}
    names = (words_of_names(parse, parse.platform.merged_vocabulary.phrases) for parse in base.parses)
    mere = {term.typed for parse in base.parses for term in parse.terms if _may_be_left_out(term, parse)}
    return _Words(base, counted, counted.union(*names), mere)


def partials(strict: ParsedQuery, matching_words: Collection[str], similar: Collection[str]) -> list[ParsedQuery]:
    """The relaxations that leave out words that nothing has, and one more of those that are only similar to one.

    `matching_words` are words that an offered item has, `similar` words that are similar to one. Where a text has a
    similar word, all of its words of no known name are left out as well: `awp athris start`.
    """
    words = _words(strict)
    matching_words = {*matching_words, *words.counted}
    correctable = {term.typed for term in words.terms if all(word.is_correctable for word in term.words)}
    mere_words = words.mere & correctable  # others are not looked for one by one (`ez4ence`)
    absent = mere_words.difference(matching_words, similar)
    uncertain = sorted(mere_words.intersection(similar).difference(matching_words))
    removals = [absent, *(absent | {each} for each in uncertain if 1 < len(uncertain) <= MAX_LEFT_OUT)]
    of_others = mere_words.intersection(matching_words) - words.of_names
    if uncertain and 0 < len(of_others) <= MAX_LEFT_OUT:
        removals.append(absent | of_others)
    typos = with_similar_words(words.base, matching_words, Relaxation.PARTIAL)
    ways = [*((typos, removal) for removal in removals), (words.base, absent.union(uncertain))]
    return _with_other_meanings([_without(parsed, removal) for parsed, removal in ways if parsed is not None])


def names_alone(strict: ParsedQuery, unknown: Collection[str]) -> list[ParsedQuery]:
    """The relaxations that leave out mere words of no known name: of a few one, then two of them, at last all.

    The first one leaves out nicknames of patterns, all others those that are `unknown`. Where a weapon or a type has
    another name, the last ones leave out one more word that stands for words of names, or for a rarity (`awp lightning
    strike sonho de consumo`), and in a sentence all that are a name by themselves (`mp9 for every eco that i play`: Eco
    is a finish).
    """
    words = _words(strict)
    mere_words = words.mere - words.of_names
    uncertain = sorted(mere_words.difference(unknown))
    counts = [count for count in (1, 2) if count < len(uncertain) <= MAX_LEFT_OUT]
    some = [mere_words.difference(uncertain).union(few) for count in counts for few in combinations(uncertain, count)]
    on_item = set().union(*map(_carried, strict.parses))
    long_names = (words_of_names(parse, parse.platform.merged_vocabulary.phrases, 2) for parse in words.base.parses)
    certain = words.counted.union(on_item, *long_names)
    names = [set[str]()]
    others = _names_of_no_finish(words.base, words.of_names - certain, mere_words)
    if mere_words or words.base is not strict or _are_of_sets(others, words.base):
        names.append(others)
    chance: list[set[str]] = []
    patterns = _patterns(words.base)
    if any(map(_names_thing, words.base.parses)):
        by_chance = dict.fromkeys(
            term.typed for term in words.terms if _may_be_chance(term) and term.typed not in on_item
        )
        named = {
            term.typed for term in words.terms if term.typed in words.of_names or (term.meanings and not term.fields)
        }
        chance = [{each} for each in by_chance if named - {each}][:MAX_LEFT_OUT]
        if sum(term.is_filler for parse in strict.parses for term in parse.terms) >= MIN_SENTENCE:
            chance += _words_by_chance(words, certain, by_chance)
    different = dict.fromkeys(map(frozenset, (patterns, *some, *(mere_words | more for more in (*names, *chance)))))
    return _with_other_meanings([_without(words.base, removal, by_chance=True) for removal in different])


def _names_of_no_finish(base: ParsedQuery, name_words: Collection[str], mere_words: Collection[str]) -> set[str]:
    """Beside the finish of a weapon, words that are other names by themselves: `niko deagle mecha industries`."""
    (parse, *others) = base.parses
    vocabulary = parse.platform.merged_vocabulary
    words = {word for word in name_words if letters_of([word]) not in vocabulary.finishes}
    terms = [term for term in parse.terms if term.typed not in words and term.typed not in mere_words]
    return words if not others and finishes_of(terms, vocabulary, is_ordered=False) else set()


def _are_of_sets(words: Collection[str], base: ParsedQuery) -> bool:
    """Whether all of these stand in names of sets, as those of cases do: `butterfly doppler spectrum`."""
    sets = [
        words_of(name.lower())
        for parse in base.parses
        for name in parse.platform.merged_vocabulary.fields.get("set", ())
    ]
    return all(any(word in name for name in sets) for word in words)


def _words_by_chance(words: _Words, certain: Collection[str], by_chance: Collection[str]) -> list[set[str]]:
    """What the words of a sentence may say by chance: kinds beside a weapon, all names but one of them, all names.

    What is `certain` is said on purpose, as names of several words are.
    """
    every = {*words.of_names, *by_chance}.difference(certain)
    names = [term.typed for term in words.terms if term.typed in every.intersection(words.of_names)]
    has_weapon = any("weapon" in term.fields for term in words.terms)
    kinds = {term.typed for term in words.terms if has_weapon and _is_kind(term)}
    return [kinds, *(every - {name} for name in names[:MAX_LEFT_OUT]), every]


def _with_other_meanings(candidates: Sequence[ParsedQuery | None]) -> list[ParsedQuery]:
    """The candidates that there are: with the finish of just that name, without, and with other meanings."""
    relaxed: list[ParsedQuery] = []
    for parsed in filter(None, candidates):
        by_words = replace(parsed, parses=tuple(replace(parse, finishes=()) for parse in parsed.parses))
        relaxed += dict.fromkeys((parsed, by_words, *other_meanings(by_words)))
    return relaxed


def _names_thing(parse: PlatformParse) -> bool:
    return any(term.fields & parse.platform.merged_vocabulary.narrowing for term in parse.terms)


def _may_be_left_out(term: Term, parse: PlatformParse) -> bool:
    """Whether it is a word that may be left out: goods of other shops beside a weapon alone, colors beside a thing."""
    is_beside_weapon = term.is_foreign and any("weapon" in other.fields for other in parse.terms)
    return is_beside_weapon or (term.is_color and _names_thing(parse)) or is_word(term)


def _patterns(base: ParsedQuery) -> set[str]:
    """The nicknames of patterns in a text that names something else, too."""
    patterns = {term.typed for parse in base.parses for term in parse.terms if _is_pattern(term, parse)}
    others = [term for parse in base.parses for term in parse.terms if term.typed not in patterns]
    return set() if all(term.fields or term.is_filler for term in others) else patterns


def _is_pattern(term: Term, parse: PlatformParse) -> bool:
    """Whether it is a nickname of a pattern, which says nothing beside another finish: `blue gem`."""
    return letters_of_text(term.typed) in parse.platform.merged_vocabulary.patterns


def _is_kind(term: Term) -> bool:
    """Whether it is a kind of weapon: what is opened, or on an item, may be said beside one."""
    return term.fields == {"type"} and not term.otherwise and not any(meaning.words for meaning in term.meanings)


def _may_be_chance(term: Term) -> bool:
    """Whether it stands for words of names, or for a rarity, which may be chance."""
    return bool(term.meanings) and not term.typed.isnumeric() and term.fields <= {"rarity"}


def _without(parsed: ParsedQuery, words: Collection[str], *, by_chance: bool = False) -> ParsedQuery | None:
    """Without these mere words, and those `by_chance`; None if that changes nothing or leaves nothing known."""

    def is_left_out(term: Term, parse: PlatformParse) -> bool:
        is_chance = by_chance and (_may_be_chance(term) or _is_kind(term) or _is_pattern(term, parse))
        return term.typed in words and (is_chance or _may_be_left_out(term, parse))

    def stripped(parse: PlatformParse) -> PlatformParse:
        ignored = [term for term in parse.terms if is_left_out(term, parse)]
        terms = tuple(term for term in parse.terms if term not in ignored)
        is_ordered = bool(parsed.has_order or parse.sort)
        finishes = finishes_of(terms, parse.platform.merged_vocabulary, is_ordered=is_ordered)
        return replace(parse, terms=terms, ignored=tuple(term.typed for term in ignored), finishes=finishes)

    parses = tuple(stripped(parse) for parse in parsed.parses)
    is_usable = any(
        term.is_known or term.typed in words_of_names(parse, parse.platform.merged_vocabulary.phrases)
        for parse in parses
        for term in parse.terms
    )
    if not is_usable or not any(parse.ignored for parse in parses):
        return None
    if all(_says_too_little(parse, parsed.text) for parse in parses):
        return None
    return replace(parsed, parses=parses, relaxation=Relaxation.PARTIAL)


def _says_too_little(parse: PlatformParse, text: str) -> bool:
    """Whether what is left says too little beside what is left out: a detail alone, or one word that is a name.

    `kinderwagen gebraucht` shows no worn skins. In a trade post something of a shop is meant.
    """
    vocabulary = parse.platform.merged_vocabulary
    if parse.quantities or parse.sort or _names_thing(parse):
        return False
    if not (vocabulary.selling | vocabulary.buying).isdisjoint(letters_of([word]) for word in words_of(text)):
        return False
    if all(term.fields and term.fields <= ALTERNATIVE_FIELDS for term in parse.terms):
        return len(parse.ignored) >= len(parse.terms)
    is_one_word = len(parse.terms) == 1 and max(map(len, names_in(parse.terms[0]))) == 1
    return is_one_word and len(parse.ignored) > 1


def _carried(parse: PlatformParse) -> set[str]:
    """The terms that are said to be on the item, words of finishes left aside: `usp orion with ibp holo`.

    What has an article is a description: `the scout with the shark`.
    """
    start = next((at for at, term in enumerate(parse.terms) if term.carries), len(parse.terms))
    named = parse.terms[start + 1 :]
    of_finishes = parse.platform.merged_vocabulary.words_of_finishes
    is_named = bool(named) and not named[0].is_filler
    return {term.typed for term in named if is_named and letters_of([term.typed]) not in of_finishes}


def _counted(parse: PlatformParse) -> Sequence[Term]:
    """The terms behind a number of things on the item (`4x crown foil`): they are not left out, as no number is."""
    start = next((at for at, term in enumerate(parse.terms) if term.count in STICKER_COUNTS), len(parse.terms))
    return parse.terms[start:] if any(term.narrows for term in parse.terms[:start]) else ()
