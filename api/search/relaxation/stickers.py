"""Which words of a text may be of stickers on the item. Pure."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import groupby, pairwise, takewhile

from api.search.parsing.attachments import MAX_NAME_ON_ITEM, as_one_name, ends_with_year, may_be_on_item
from api.search.parsing.parse import ParsedQuery, PlatformParse, Relaxation
from api.search.parsing.words import MAX_FEW, Term, mere_runs
from mappings.vocabulary.numerals import UNSPACED
from mappings.vocabulary.phrases import Phrases
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of, letters_of_text, words_of

STICKER_COUNTS = range(2, MAX_FEW + 1)  # more is how many items are wanted


def words_of_names(parse: PlatformParse, names: Phrases, min_words: int = 1) -> set[str]:
    """The mere words that together are one of the names, of so many words at least; a mere number is none."""
    words: set[str] = set()
    for typed in mere_runs(parse.terms):
        letters = [letters_of([word]) for word in typed]
        for at in range(len(typed)):
            length = names.length_at(letters, at)
            words.update(typed[at : at + length] if length >= min_words else ())
    return {word for word in words if not word.isnumeric()}


def _names_begin(parse: PlatformParse, names: Phrases) -> list[str]:
    """The mere words with which one of the names begins."""
    begin: list[str] = []
    for typed in mere_runs(parse.terms):
        letters, at = [letters_of([word]) for word in typed], 0
        while at < len(typed):
            length = names.length_at(letters, at)
            begin += typed[at : at + 1] if length else []
            at += length or 1
    return begin


def words_of_stickers(strict: ParsedQuery) -> list[ParsedQuery]:
    """Mere words may be of a sticker on the item: those behind `with` or `4x`, else the last ones of a text."""
    if len(strict.parses) != 1:
        return []
    if (parse := _with_so_many(strict.parses[0])) is not None:
        return [replace(strict, parses=(parse,), relaxation=Relaxation.STICKERS)]
    vocabulary = strict.parses[0].platform.merged_vocabulary
    parse, finishes = _with_finishes_first(_item_first(strict.parses[0]), vocabulary)
    carrier = next((at for at, term in enumerate(parse.terms) if introduces_stickers(term)), None)
    is_of_kind = carrier is None and _names_attached(parse, vocabulary)
    if carrier is None:
        parse = _without_kinds(parse, vocabulary, is_named=bool(finishes) or is_of_kind)
    of_names = words_of_names(parse, vocabulary.finish_phrases)
    starts = [0] if is_of_kind else _starts(parse, carrier, finishes, of_names)
    if not starts:
        return []
    if carrier is not None:  # `with navi sticker` is about what the sticker is on
        kinds = [term for term in parse.terms[starts[0] :] if vocabulary.is_attached(term.meanings)]
        parse = replace(parse, terms=tuple(term for term in parse.terms if term not in kinds))
    ways = (_as_one, _event_last, _as_names, *(() if carrier is None else (_last_first,)), list)
    of_names = words_of_names(parse, vocabulary.finish_phrases)
    candidates = [each for start in starts for each in _with_stickers(parse, start, ways, of_names)]
    return [replace(strict, parses=(on_item,), relaxation=Relaxation.STICKERS) for on_item in candidates]


def _with_so_many(parse: PlatformParse) -> PlatformParse | None:
    """The parse of a text that says how many stickers an item has, and not which; None: no such.

    `ak with 4 stickers` has four, `ak with nice stickers` and `stickers on ak` any. `4 stickers` alone says how many
    are wanted, and `4x` before a weapon how many of it.
    """
    vocabulary = parse.platform.merged_vocabulary
    kinds = [at for at, term in enumerate(parse.terms) if says_attached(term, vocabulary)]
    if not kinds:
        return _with_so_many_carried(parse)
    before = [*takewhile(lambda term: term.is_filler, reversed(parse.terms[: kinds[0]]))]
    carrier = next((term for term in before if term.carries), None)
    beside = parse.terms[kinds[0] + 1 :][:2]
    is_on = len(beside) > 1 and letters_of([beside[0].typed]) in vocabulary.carried_by and beside[1].narrows
    carrier = beside[0] if is_on and kinds[0] == 0 else carrier
    counted = next((term for term in (*before, *beside[:1]) if term.count), carrier)
    others = [term for at, term in enumerate(parse.terms) if not term.is_filler and at not in kinds]
    if counted is None or not (others or any(term.carries for term in parse.terms)):
        return None
    following = takewhile(lambda term: not term.narrows, parse.terms[kinds[0] + 1 :])
    if any(may_be_on_item(term) and not is_finish(term, vocabulary) for term in following):  # it says which
        return None
    words = (*counted.words, *parse.terms[kinds[0]].words)
    return replace(parse, terms=(*others, Term(words, is_attached=True, count=counted.count)))


def with_any_stickers(strict: ParsedQuery) -> list[ParsedQuery]:
    """A weapon beside the mere word `sticker` has one, whichever: `p250 crimson kimono mw sticker`."""
    (parse, *others), terms = strict.parses, strict.parses[0].terms
    vocabulary = parse.platform.merged_vocabulary
    if others or not _names_both(terms, vocabulary) or any(map(introduces_stickers, terms)):
        return []
    kinds = [term for term in terms if vocabulary.is_attached(term.meanings)]
    of_item = (term for term in terms if term not in kinds and not term.is_filler)
    parse = replace(parse, terms=(*of_item, Term(kinds[0].words, is_attached=True)))
    return [replace(strict, parses=(parse,), relaxation=Relaxation.STICKERS)]


def _with_so_many_carried(parse: PlatformParse) -> PlatformParse | None:
    """The same where nothing but `with` stands behind the number, in scripts without blanks, as in `四贴红线ak`.

    No more is named than the item.
    """
    pairs = [each for each in pairwise(parse.terms) if each[0].count in STICKER_COUNTS and each[1].carries]
    counted = next((each for each in pairs if UNSPACED.match(each[1].typed)), ())
    others = [term for term in parse.terms if not term.is_filler]
    if not counted or not others:
        return None
    vocabulary = parse.platform.merged_vocabulary
    of_names = words_of_names(parse, vocabulary.finish_phrases)
    names = [term for term in others if term.typed not in of_names and not is_finish(term, vocabulary)]
    if any(map(may_be_on_item, names)):
        return None
    words = tuple(word for term in counted for word in term.words)
    return replace(parse, terms=(*others, Term(words, is_attached=True, count=counted[0].count)))


def _starts(parse: PlatformParse, carrier: int | None, finishes: int, of_names: Collection[str]) -> list[int]:
    """The positions at which the words of a sticker may begin; the first `finishes` terms are finishes of the item."""
    may_be = [at for at, term in enumerate(parse.terms) if may_be_on_item(term)]
    if carrier is not None and may_be and may_be[-1] >= carrier:
        is_before = any(at < carrier and parse.terms[at].typed not in of_names for at in may_be[finishes:])
        of_count = [0] if is_before and parse.terms[carrier].count else []  # `crown foil x4 ak redline`
        return list(dict.fromkeys([carrier, finishes or carrier, *of_count]))
    names_item = finishes or any(term.fields for term in parse.terms)
    if not names_item and not any(_names_finish(term, parse.platform.merged_vocabulary) for term in parse.terms[:1]):
        # `crown foil x4`, `クラウンフォイル付き`
        return [0] if carrier is not None or _is_said_attached(parse.terms) else []
    words = [at for at in may_be if parse.terms[at].typed not in of_names]
    starts = [at for at in words if at >= finishes]
    starts = list(dict.fromkeys([*starts[:1], *starts[-MAX_NAME_ON_ITEM:]]))  # `natus vincere holo rio 2022`
    position = next((at for at, term in enumerate(parse.terms) if term.is_attached), len(parse.terms))
    follows = next((at for at in range(position + 1, len(parse.terms)) if not parse.terms[at].is_filler), None)
    if follows in may_be:  # `with a sticker navi`
        starts = list(dict.fromkeys([follows, *words[:1]]))
    elif finishes < position < len(parse.terms) and {*range(finishes, position)}.issubset(may_be):
        starts = [finishes]  # `hades antwerp 2022 스티커 붙은 xm1014`
    if of_names and words and not finishes:  # Headshot is a finish: `usp headshot guarantee`
        starts += [at for at in may_be if at not in starts][:1]
    begin = _names_begin(parse, parse.platform.merged_vocabulary.finish_phrases)[1:]  # `asiimov toxic flow holo`
    return [*starts, *[at for at in may_be if parse.terms[at].typed in begin and at not in starts][:1]]


def introduces_stickers(term: Term) -> bool:
    """Whether what follows may be a sticker on the item: `with`, `4x`."""
    return term.carries or term.count in STICKER_COUNTS


def says_attached(term: Term, vocabulary: Vocabulary) -> bool:
    """Whether it says that something is on the item, or the type of what is put on items."""
    return term.is_attached or vocabulary.is_attached(term.meanings)


def is_carrier(strict: ParsedQuery) -> bool:
    """Whether it says of an item that something is on it: `AK-47 | Redline with Titan Holo`, `… + Titan sticker`."""
    vocabulary = strict.parses[0].platform.merged_vocabulary
    return _names_both(strict.options, vocabulary) or any(map(introduces_stickers, strict.options))


def _names_both(terms: Sequence[Term], vocabulary: Vocabulary) -> bool:
    """Whether they name a weapon, and a thing that is put on items."""
    has_weapon = any("weapon" in term.fields for term in terms)
    return has_weapon and any(vocabulary.is_attached(term.meanings) for term in terms)


def is_on_named_item(strict: ParsedQuery) -> bool:
    """Whether something is said to be on an item that is named behind it."""
    return any(_item_first(parse) is not parse for parse in strict.parses)


def _item_first(parse: PlatformParse) -> PlatformParse:
    """The parse with an item before what is on it: `crown foil on an ak redline`."""
    carried_by = parse.platform.merged_vocabulary.carried_by
    position = next((at for at, term in enumerate(parse.terms) if at and letters_of([term.typed]) in carried_by), None)
    if position is None or any(term.carries for term in parse.terms):
        return parse
    on_item, item = parse.terms[:position], parse.terms[position + 1 :]
    vocabulary = parse.platform.merged_vocabulary
    others = [term for term in on_item if not vocabulary.is_attached(term.meanings)]  # `navi sticker on ak redline`
    is_of_item = any(term.narrows or _names_finish(term, vocabulary) for term in others)  # `neonoir na awp`
    if is_of_item or not any(map(may_be_on_item, on_item)) or not any(term.narrows for term in item):
        return parse
    return replace(parse, terms=(*item, replace(parse.terms[position], carries=True), *on_item))


def _without_kinds(parse: PlatformParse, vocabulary: Vocabulary, *, is_named: bool) -> PlatformParse:
    """Without the word `sticker` beside what a sticker may be on (`ak navi sticker`)."""
    others = [term for term in parse.terms if not vocabulary.is_attached(term.meanings)]
    return replace(parse, terms=tuple(others)) if is_named or any(term.narrows for term in others) else parse


def _names_attached(parse: PlatformParse, vocabulary: Vocabulary) -> bool:
    """Whether it names a thing that is put on items, and nothing else: it is offered on an item alone."""
    others = [term for term in parse.terms if not vocabulary.is_attached(term.meanings)]
    return 0 < len(others) < len(parse.terms) and all(map(may_be_on_item, others))


def _with_finishes_first(parse: PlatformParse, vocabulary: Vocabulary) -> tuple[PlatformParse, int]:
    """The parse with what stands for names of finishes before what may be on the item, and how many those are."""
    of_finishes = [term for term in parse.terms if is_finish(term, vocabulary)]
    others = [term for term in parse.terms if term not in of_finishes]
    if not any(may_be_on_item(term) for term in others):
        return parse, 0
    return replace(parse, terms=(*of_finishes, *others)), len(of_finishes)


def _names_finish(term: Term, vocabulary: Vocabulary) -> bool:
    return letters_of_text(term.typed) in vocabulary.finishes or is_finish(term, vocabulary)


def is_finish(term: Term, vocabulary: Vocabulary) -> bool:
    """Whether it stands for the name of a finish."""
    names = [letters_of_text(meaning.words) for meaning in term.meanings]
    return bool(names) and may_be_on_item(term) and vocabulary.finishes.issuperset(names)


def says_it_is_on_items(strict: ParsedQuery) -> bool:
    """Whether things on an item are meant before any of these things themselves.

    So it is with `skin with navi sticker`, with a number of stickers beside a weapon, and with one of what no item is
    but things on it: `4x crown foil`.
    """
    if len(strict.parses) != 1:
        return False
    (parse,) = strict.parses
    vocabulary = parse.platform.merged_vocabulary
    if any("weapon" in term.fields for term in parse.terms) and _with_so_many(parse) is not None:
        return True  # `ak min 3 stickers` is no sticker Hello AK-47
    carrier = next((at for at, term in enumerate(parse.terms) if term.carries and at), len(parse.terms))
    if any(vocabulary.is_attached(term.meanings) for term in parse.terms[carrier:]):
        return True
    leading, following = parse.terms[:carrier], parse.terms[carrier:]
    if following and all(term.is_filler for term in leading) and not any(term.fields for term in following):
        return True  # `any gun with navi holo`
    if _is_said_attached(parse.terms):
        return True
    mere = [word.typed for term in parse.terms if not term.is_filler for word in term.words]
    is_finish = letters_of(mere) in vocabulary.finishes
    return (
        any(term.count in STICKER_COUNTS for term in parse.terms)
        and not _is_requested(strict.text, vocabulary)
        and all(may_be_on_item(term) or term.is_filler for term in parse.terms)
        and not is_finish
    )


def _is_requested(text: str, vocabulary: Vocabulary) -> bool:
    """Whether it is asked for things that are put on items, and for no item with them."""
    letters = {letters_of([word]) for word in words_of(text)}
    return not letters.isdisjoint(vocabulary.requests) and letters.isdisjoint(vocabulary.bearers)


def _is_said_attached(terms: Sequence[Term]) -> bool:
    """Whether what stands before is said to be on an item, and nothing is said of the item."""
    return any(term.is_attached for term in terms) and not any(term.fields for term in terms)


def _with_stickers(
    parse: PlatformParse, start: int, ways: Sequence[Callable[[list[Term]], list[Term]]], of_names: Collection[str]
) -> list[PlatformParse]:
    """What may be on the item from there on is, in each of these ways of joining it that differ.

    `of_names`: the words that are names of finishes; those behind a weapon are its finish (`navi on ak redline`).
    """
    first = next((at for at, term in enumerate(parse.terms) if at >= start and may_be_on_item(term)), start)
    end = next((at for at, term in enumerate(parse.terms) if term.is_attached and at > first), len(parse.terms))
    before, rest, after = (
        # `sticker on it`, but `buff blue with a sticker`
        [term for term in part if not (term.is_attached or (term.is_filler and term.typed not in of_names))]
        for part in (parse.terms[:start], parse.terms[start:end], parse.terms[end:])
    )
    before += after  # `krasnal paris 2023 stickerlı ssg 08 mainframe 001`
    weapon = max((at for at, term in enumerate(rest) if term.narrows), default=len(rest))
    count = max((term.count for term in parse.terms[start:]), default=0)
    others, stickers = list[Term](), list[Term]()
    for at, term in enumerate(rest):
        is_of_item = not may_be_on_item(term) or (at > weapon and term.typed in of_names)
        (others if is_of_item else stickers).append(term)
    joined = dict.fromkeys(tuple(way(stickers)) for way in ways) if stickers else {}
    if (named := _with_fillers(parse.terms[start:end])) is not None:
        joined = {(named,): None, **joined}
    on_item = {word.typed for term in stickers for word in term.words}
    finishes = tuple(name for name in parse.finishes if not on_item.issuperset(words_of(name)))  # `p90 with fowl play`
    return [
        replace(
            parse,
            terms=(*before, *others, *(replace(term, on_item=True, narrows=False, count=count) for term in terms)),
            finishes=finishes,
        )
        for terms in joined
    ]


def _with_fillers(terms: Sequence[Term]) -> Term | None:
    """The name behind `with` and what says that it is on the item, fillers of it included: `with this is fine`.

    None: it has no fillers, or more than a name follows.
    """
    name = terms[1:] if terms[:1] and introduces_stickers(terms[0]) else ()
    is_name = any(may_be_on_item(term) for term in name) and all(map(_is_of_name, name))
    return as_one_name(name) if is_name and any(term.is_filler for term in name) else None


def _is_of_name(term: Term) -> bool:
    return may_be_on_item(term) or (term.is_filler and not introduces_stickers(term))


def _as_one(stickers: list[Term]) -> list[Term]:
    """All of it is the name of one sticker, what stands for words written out (`ibp holo kato 14`)."""
    if len(stickers) < 2 or not any(term.meanings for term in stickers):
        return _as_names(stickers)
    return [as_one_name(stickers)]


def _last_first(stickers: list[Term]) -> list[Term]:
    """All of it is the name of one sticker, which has the last word first (`katowice 2014 holo`)."""
    if len(stickers) < 2:
        return stickers
    return [as_one_name([stickers[-1], *stickers[:-1]])]


def _event_last(stickers: list[Term]) -> list[Term]:
    """All of it is the name of one sticker, which has its event last (`cologne 2014 nip holo`)."""
    end = next((at for at, term in enumerate(stickers, 1) if ends_with_year(term)), len(stickers))
    return _as_one(stickers) if end == len(stickers) else [as_one_name([*stickers[end:], *stickers[:end]])]


def _as_names(stickers: list[Term]) -> list[Term]:
    """Words beside each other are of one sticker."""
    groups = [list(group) for _, group in groupby(stickers, key=lambda term: bool(term.meanings))]
    merged = [Term(tuple(word for term in group for word in term.words)) for group in groups if not group[0].meanings]
    return [*(term for term in stickers if term.meanings), *merged]
