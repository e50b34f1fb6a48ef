"""The relaxations of a text: looser parses of it, from strict to loose, as `relax` tries them. Pure.

- `numbers`: what may be a quantity or a word (`20-50`, `0.01`, `#661`) is a word.
- `strict` after all, if its terms alone find something: then it is the quantities that nothing matches.
- `words`: terms that narrow (a weapon, a type), first all but the last, may be words of the name instead.
- `sets`: words may be those of the item's set (`cache collection`).
- `names`: meanings may stand in the name instead, and every word may be a prefix.
- `fillers`: what a thing is wanted for (`for my awp`) is left out, then words that say nothing about an item (`nice`,
  `skin`), in these ways again. Of a trade post its offer without the price that is asked is read so, and in all that
  follows.
- `either`: where nothing is all that a text names (a weapon and a type, two types, several items), any of it.
- `letters`: the text in letters that look like the typed ones or are on the same keys, or in English.
- `stickers`: what follows `with` or `4x`, or any mere word, may be of a sticker on the item. `4x crown foil` is read so
  before `4x` is left out, unless it names a weapon, a type or a finish.
  At last a weapon beside the mere word `sticker` has any.
- `seeds`: a number of three digits between blanks is a seed, and one behind `p` that is no weapon (`p69`).
- `prefixes`: every word without a meaning may be unfinished (`usp orio mw`).
- `typos`: unknown words are known ones with a typo; in a text in other letters that is tried first, else last. Each
  word that no offered item has matches similar words too, a filler matches anything.
- `all_typos`: each correctable word matches similar words; `first_letters`: also with another first letter.
- `similar_names`: beside a weapon, unknown words are the finish that is written most like them.
- `partial`: words that nothing has are left out, then one or two that nothing has beside the others, then all that are
  of no known name.

Quantities that can be nothing else, and what is not wanted, stay in every relaxation.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from api.search.parsing.numerals import with_digits
from api.search.parsing.parse import Numbers, ParsedQuery, PlatformParse, Relaxation, parsed_again
from api.search.parsing.words import Term, Word, is_word
from api.search.relaxation.changes import relaxation_of, with_terms
from api.search.relaxation.fillers import for_another_thing, with_and_without_fillers, without_fillers, without_wear
from api.search.relaxation.letters import in_english, other_letters
from api.search.relaxation.lists import may_be_list
from api.search.relaxation.sets import words_of_sets
from api.search.relaxation.stickers import (
    introduces_stickers,
    is_finish,
    is_on_named_item,
    says_attached,
    says_it_is_on_items,
    with_any_stickers,
    words_of_stickers,
)
from api.search.relaxation.typos import without_typos
from mappings.vocabulary.words import words_of

MIN_SHORTENED = 3  # letters of a word that may be unfinished anywhere in a text
MIN_FIRST_LETTER = 5  # letters of a word whose first one may be wrong
MIN_FIRST_LETTER_ALONE = 7  # where it is all that a text says
MIN_SENTENCE = 3  # words that say nothing of an item: beside so many, a word that is a name may be one by chance
MIN_IN_SENTENCE = 5  # letters of a word that may be misspelt where it is all that a sentence says (`legit or scam`)


def as_typed(strict: ParsedQuery) -> list[ParsedQuery]:
    """The relaxations in which every word of a text counts, the strict parse among them.

    A thing beside a quantity and fillers alone is no word of a name: `m4a1s for 5 dollars`.
    """
    numbers = _and_other_meanings(numbers_as_words(strict))
    has_bound = any(quantity.certain for parse in strict.parses for quantity in parse.quantities)
    if has_bound and sum(not each.is_filler for each in strict.options) == 1:
        return [*numbers, strict]
    return [
        *numbers,
        strict,
        *other_meanings(strict),
        *words_of_sets(strict),
        meanings_as_names(strict),
    ]


def loose(strict: ParsedQuery) -> Iterator[ParsedQuery]:
    """The relaxations behind those: without fillers, in other letters, with stickers, seeds and unfinished words.

    Each is worked out when it is asked for: for most texts the first one finds something.
    """
    yield from for_another_thing(strict)
    is_said = says_it_is_on_items(strict)
    if is_said:
        yield from words_of_stickers(strict)
    without = without_fillers(strict)
    if without is not None:
        yield without
        yield from (*other_meanings(without), *words_of_sets(without), meanings_as_names(without))
    yield from (*either(without or strict), *in_other_letters(strict))
    if not is_said:
        yield from words_of_stickers(strict)
    seeds = numbers_as_seeds(strict)
    yield from _and_other_meanings(seeds)
    if seeds is not None and any(term.carries for term in strict.options):
        yield from words_of_stickers(seeds)  # `ak case hardened 661 with navi holo`
    yield from _and_other_meanings(words_as_prefixes(without or strict))
    yield from _and_other_meanings(without_wear(without or strict))
    yield from with_any_stickers(strict)


def corrections(strict: ParsedQuery, matching_words: Collection[str]) -> list[ParsedQuery]:
    """The relaxations that correct typos in their order; `matching_words` are words that an offered item has.

    Fillers that an offered item has may be of the name (`the emperor`), and are left out where that finds nothing. A
    text of nothing else has no typo (`lol ok bye`).
    """
    if all(term.is_filler for term in strict.options):
        return []
    bases = dict.fromkeys(without_fillers(strict, each) or strict for each in (matching_words, ()))
    corrected = [each for base in bases for each in _corrections(base, matching_words)]
    if is_on_named_item(strict) or any(_is_of_stickers(term, strict) for term in strict.options):
        on_items = (with_similar_words(each, matching_words, each.relaxation) for each in words_of_stickers(strict))
        corrected += [each for each in on_items if each is not None]
    return corrected


def _is_of_stickers(term: Term, strict: ParsedQuery) -> bool:
    """Whether it says that something is on the item, or may be of a sticker: `redlin ak w/ crown foil`, `… kato 14`."""
    vocabulary = strict.parses[0].platform.merged_vocabulary
    is_said = introduces_stickers(term) or says_attached(term, vocabulary)
    return is_said or (bool(term.meanings) and not term.fields and not is_finish(term, vocabulary))


def _corrections(base: ParsedQuery, matching_words: Collection[str]) -> list[ParsedQuery]:
    some = with_similar_words(base, matching_words, Relaxation.TYPOS)
    every = with_similar_words(base, (), Relaxation.ALL_TYPOS)
    other_first = with_other_first_letters(base, matching_words)
    return [*_and_other_meanings(some), *_and_other_meanings(every), *([] if other_first is None else [other_first])]


def in_other_letters(strict: ParsedQuery) -> list[ParsedQuery]:
    """The text in other letters, where each of its words is then known or in letters that names have."""
    if len(strict.parses) != 1:
        return []
    relaxed: list[ParsedQuery] = []
    for text in other_letters(strict.text, strict.parses[0].platform.merged_vocabulary):
        parsed = parsed_again(strict, text)
        if text.isascii() or all(term.meanings or term.is_filler for term in parsed.parses[0].terms):
            relaxed += _in_letters(parsed)
    for english in translated(strict):
        relaxed += _in_letters(english)
        if any(term.carries or term.is_attached or term.narrows for term in english.options):
            relaxed += words_of_stickers(english)
    return relaxed


def translated(strict: ParsedQuery) -> list[ParsedQuery]:
    """The text with words of other languages as English ones: unknown ones, then those of other names, too."""
    if len(strict.parses) != 1:
        return []
    vocabulary = strict.parses[0].platform.merged_vocabulary
    text = with_digits(strict.text, vocabulary)  # `110불` is 110 dollars, not a word for fire
    texts = (in_english(text, vocabulary, of_names=of_names) for of_names in (False, True))
    return _read_again(replace(strict, text=text), texts)


def misspelt(strict: ParsedQuery, fields: Sequence[str] = ()) -> list[ParsedQuery]:
    """The text with unknown words as the spellings that they are but for a typo, then those in English.

    `fields`: only those that are values of one of them.
    """
    if len(strict.parses) != 1:
        return []
    text = without_typos(strict.text, strict.parses[0].platform.merged_vocabulary, fields)
    respelt = _read_again(strict, (text,))
    english = [each for parsed in respelt for each in translated(replace(parsed, text=text))]
    both = [each for parsed in (*respelt, *english) for each in _in_letters(parsed)]
    return [replace(each, relaxation=Relaxation.TYPOS) for each in both]


def _read_again(strict: ParsedQuery, texts: Iterable[str]) -> list[ParsedQuery]:
    """Other ways of writing the text, parsed."""
    return [
        parsed_again(strict, text)
        for text in {" ".join(text.split()): text for text in texts}.values()
        if text != strict.text
    ]


def _in_letters(parsed: ParsedQuery) -> list[ParsedQuery]:
    relaxed = [replace(each, relaxation=Relaxation.LETTERS) for each in with_and_without_fillers(parsed)]
    return [parsed for each in relaxed for parsed in (each, *second_meanings(each))]


def words_as_prefixes(parsed: ParsedQuery) -> ParsedQuery | None:
    """Every mere word may be unfinished; None if none is long enough."""

    def widened(term: Term) -> Term:
        if not is_word(term) or len(term.typed) < MIN_SHORTENED:
            return term
        words = tuple(replace(word, prefixes=tuple(dict.fromkeys((word.typed, *word.prefixes)))) for word in term.words)
        return replace(term, words=words)

    relaxed = with_terms(parsed, widened, Relaxation.PREFIXES)
    return None if relaxed.options == parsed.options else relaxed


def with_other_first_letters(parsed: ParsedQuery, matching_words: Collection[str]) -> ParsedQuery | None:
    """Words that are not known match similar ones that begin with another letter, too; None if there is none."""

    is_alone = _is_one_word(parsed)
    shortest = MIN_FIRST_LETTER_ALONE if is_alone else MIN_FIRST_LETTER

    def widened(term: Term) -> Term:
        words = tuple(
            replace(word, fuzzy=True, fuzzy_first=True, is_alone=is_alone)
            if _needs_correction(term, word, matching_words) and len(word.typed) >= shortest
            else word
            for word in term.words
        )
        return replace(term, words=words)

    relaxed = with_terms(parsed, widened, Relaxation.FIRST_LETTERS)
    return relaxed if any(word.fuzzy_first for term in relaxed.options for word in term.words) else None


def numbers_as_words(strict: ParsedQuery) -> ParsedQuery | None:
    """What may be a quantity or a word is a word; None if nothing may be both."""
    if all(quantity.certain for parse in strict.parses for quantity in parse.quantities):
        return None
    return replace(parsed_again(strict, strict.text, Numbers.WORDS), relaxation=Relaxation.NUMBERS)


def other_meanings(parsed: ParsedQuery) -> list[ParsedQuery]:
    """Terms may have their second meaning, then those that narrow be words of the name, but beside a rarity."""
    second = second_meanings(parsed)
    named = [] if all(term.is_color for term in parsed.options if term.otherwise) else second
    return [*second, *(each for base in (parsed, *named) for each in narrowing_as_words(base))]


def either(strict: ParsedQuery) -> list[ParsedQuery]:
    """Any of the weapons and types that a text names where it names nothing else, or of its weapons or collections.

    `karambit, talon or gloves`, `fade awp, mp7 and mac-10`: an item has one weapon and one collection.
    """
    joins = [_any_named, *([_any_of_a_field] if may_be_list(strict.text, names_weapon=True) else [])]
    ways = (tuple(map(joined, strict.parses)) for joined in joins)
    return [replace(strict, parses=parses, relaxation=Relaxation.EITHER) for parses in ways if parses != strict.parses]


def _any_named(parse: PlatformParse) -> PlatformParse:
    """Any of the things that are all it names, not what is put on items: in `glock sticker` it is for the weapon."""
    named = [term for term in parse.terms if not term.is_filler]
    narrowing = [term for term in named if term.narrows]
    is_list = len(narrowing) > 1 and all(term.fields for term in named)
    if not is_list or any(parse.platform.merged_vocabulary.is_attached(term.meanings) for term in narrowing):
        return parse
    return replace(parse, terms=(_any_of(narrowing), *(term for term in named if not term.narrows)))


def _any_of_a_field(parse: PlatformParse) -> PlatformParse:
    terms = parse.terms
    for field in ("weapon", "set"):
        named = [term for term in terms if term.fields == {field}]
        if len(named) > 1:
            terms = (_any_of(named), *(term for term in terms if term not in named))
    return replace(parse, terms=terms)


def _any_of(terms: Sequence[Term]) -> Term:
    first, *options = (replace(option, alternatives=()) for term in terms for option in term.options)
    return replace(first, alternatives=tuple(options))


def _and_other_meanings(parsed: ParsedQuery | None) -> list[ParsedQuery]:
    return [] if parsed is None else [parsed, *other_meanings(parsed)]


def second_meanings(parsed: ParsedQuery) -> list[ParsedQuery]:
    """What terms mean where their first meaning finds nothing (`m4a1 howl` is an M4A4)."""
    if not any(term.otherwise for term in parsed.options):
        return []
    relaxation = relaxation_of(parsed, Relaxation.WORDS)
    return [with_terms(parsed, lambda term: replace(term, meanings=term.otherwise or term.meanings), relaxation)]


def narrowing_as_words(parsed: ParsedQuery) -> list[ParsedQuery]:
    """Narrowing terms may be words of the name: all but the last of them (`glove case` is a case), then that too."""

    def only_last_narrows(parse: PlatformParse) -> PlatformParse:
        last = max((at for at, term in enumerate(parse.terms) if term.narrows), default=None)
        terms = (term if at == last else _as_words(term) for at, term in enumerate(parse.terms))
        return replace(parse, terms=tuple(terms), finishes=())

    relaxation = relaxation_of(parsed, Relaxation.WORDS)
    some = tuple(only_last_narrows(parse) for parse in parsed.parses)
    none = with_terms(parsed, lambda term: replace(term, narrows=False), relaxation).parses
    different = dict.fromkeys(parses for parses in (some, none) if parses != parsed.parses)
    return [replace(parsed, parses=parses, relaxation=relaxation) for parses in different]


def _as_words(term: Term) -> Term:
    return replace(term, narrows=False, alternatives=tuple(_as_words(option) for option in term.alternatives))


def meanings_as_names(parsed: ParsedQuery) -> ParsedQuery:
    """Meanings may stand in the name, and every word may be a prefix."""

    def widened(term: Term) -> Term:
        words = tuple(replace(word, prefixes=word.endings) for word in term.words)
        return replace(term, words=words, narrows=False, by_name=bool(term.fields))

    return with_terms(parsed, widened, relaxation_of(parsed, Relaxation.NAMES))


def numbers_as_seeds(strict: ParsedQuery) -> ParsedQuery | None:
    """Bare numbers of three digits are seeds, beside them no fillers; None if there is none, or no other term."""
    seeds = parsed_again(strict, strict.text, Numbers.SEEDS)
    if seeds.parses == strict.parses or not all(parse.terms for parse in seeds.parses):
        return None
    return replace(without_fillers(seeds) or seeds, relaxation=Relaxation.SEEDS)


def with_similar_words(
    strict: ParsedQuery, matching_words: Collection[str], relaxation: Relaxation
) -> ParsedQuery | None:
    """Words that are not known match similar ones, and every word may be a prefix; None if no word is correctable."""
    is_alone = _is_one_word(strict)
    shortest = MIN_IN_SENTENCE if is_alone and len(words_of(strict.text)) > MIN_SENTENCE else 0

    def widened(term: Term) -> Term:
        words = tuple(
            replace(
                word,
                fuzzy=_needs_correction(term, word, matching_words) and len(word.typed) >= shortest,
                is_alone=is_alone,
                prefixes=word.endings,
            )
            for word in term.words
        )
        return replace(term, words=words, by_name=not term.narrows and bool(term.fields))

    parsed = with_terms(strict, widened, relaxation)
    return parsed if any(word.fuzzy for term in parsed.options for word in term.words) else None


def correctable_words(strict: ParsedQuery) -> list[Word]:
    """The candidates for correction, as `meanings_as_names` parses them."""
    terms = meanings_as_names(strict).options
    return [word for term in terms for word in term.words if _needs_correction(term, word, ())]


def single_word(strict: ParsedQuery, word: Word) -> ParsedQuery:
    """One word of a text by itself, on all its platforms."""
    term = Term((word,))
    return ParsedQuery(word.typed, tuple(PlatformParse(each.platform, (term,)) for each in strict.parses))


def _is_one_word(parsed: ParsedQuery) -> bool:
    """Whether a single word is all that the text says."""
    return all(
        len(parse.terms) == 1 and len(parse.terms[0].words) == 1 and not parse.quantities for parse in parsed.parses
    )


def _needs_correction(term: Term, word: Word, matching_words: Collection[str]) -> bool:
    is_doubted = not (term.meanings or term.is_negation or term.is_foreign)
    return is_doubted and word.is_correctable and word.typed not in matching_words
