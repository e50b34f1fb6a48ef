"""Finds the offer that counts in a trade post, its items, and the price that is asked for it. Pure.

A text is a trade post if it has a word of `selling` or `buying` (`WTS`, `售`), or says what is asked (`算你5000`). Of
several offers the first one counts, what is wanted before what is sold. Where each of several names has its price, the
first name counts. In an exchange (`my AK for an AWP`) what is wanted counts, and in a list (`ak redline, awp asiimov`)
each item, also of names whose type is said once (`cases: fracture, prisma 2, revolution`).

A bare number behind a name is the price that is asked if it has cents or four digits or more, ends its offer, or stands
before the next weapon. Years are no prices, and no number that is part of a known name is (`毁灭者 2000`).

Where a market name is pasted with what stands around it elsewhere (`Order 7: 2x FAMAS | Djinn (Field-Tested) - $4.10`),
the name counts, with the details and bounds that the text has besides.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import pairwise, takewhile

from api.search.parsing.quantities import ASKING_PRICE, Quantity, text_between
from api.search.parsing.spellings import ONE_VALUE
from api.search.parsing.words import is_count, segmented
from mappings.vocabulary.entries import Entry, Role
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of, words_and_gaps

_NUMBER = re.compile(r"\d{1,9}k?")
_SURE = re.compile(r"\d{4}|\dk|[.,]\d\d$")  # a seed has three digits
_SEPARATORS = re.compile(r"[,;+\n\u3001\uff0c\uff1b\u2605]|\]\s*\[|\s/|/\s|\s&\s")  # of a list
# of a market name: the end of a clause, a column or its exterior
_NAME_END = re.compile(r"[,;:\t\n\[\])]|\s[-\u2013\u2014]\s|\s{2}")
_ARROW = re.compile(r"[-=]>|\u2192|\s>\s")  # of an exchange
_AMOUNT = re.compile(r"[$€£]?\s*\d")  # without a bound
_OTHER = re.compile(r"[,;+&/\n]")  # between finishes of a weapon
_OF_FINISHES = re.compile(r"[;&/]|:\s|\s[-\u2013\u2014]\s")
_HEADED = re.compile(r"\s*:\s*|\s+[-\u2013\u2014]\s+")  # behind a weapon of which finishes follow
_MIN_LISTED = 3  # names whose type is said once; two may be one name and more about it
_JOINTS = re.compile(r"[.,*=\u00d7]")  # of a sum (`2100*4.4=9200`)


class _Kind(Enum):
    NAME = auto()
    NAMED_TYPE = auto()
    DETAIL = auto()
    WEAPON = auto()
    TYPE = auto()
    EITHER = auto()
    NUMBER = auto()
    PRICE = auto()
    QUANTITY = auto()
    SELLING = auto()
    BUYING = auto()
    SEEKING = auto()
    EXCHANGING = auto()
    RETURN = auto()
    EXCLUSION = auto()
    OTHER = auto()


@dataclass(frozen=True)
class _Part:
    """A part of a post, with what stands before it."""

    kind: _Kind
    gap: str
    text: str


_Parts = Sequence[_Part]
_KINDS_OF_ROLES = {
    Role.NAME: _Kind.NAME,
    Role.ALTERNATIVE: _Kind.EITHER,
    Role.CONJUNCTION: _Kind.EITHER,
    Role.EXCLUSION: _Kind.EXCLUSION,
    Role.EXCLUSION_AFTER: _Kind.EXCLUSION,
}
_OFFERS = (_Kind.SELLING, _Kind.BUYING)
_THINGS = (_Kind.NAMED_TYPE, _Kind.WEAPON, _Kind.TYPE)  # a market name begins with one
_ITEMS = (_Kind.NAME, *_THINGS)
_NAMES = (*_ITEMS, _Kind.DETAIL)
_NAMED = (_Kind.WEAPON, _Kind.NAME, _Kind.DETAIL)
_EITHER = (*_NAMES, _Kind.QUANTITY, _Kind.EITHER, _Kind.OTHER)
_AMOUNTS = (_Kind.NUMBER, _Kind.PRICE)
_SAID_OF_ITEMS = (_Kind.DETAIL, _Kind.QUANTITY, _Kind.PRICE)


def items_in(text: str, quantities: Sequence[Quantity], vocabulary: Vocabulary, *, may_list: bool = True) -> list[str]:
    """The items of the offer that counts, its price as an amount of no currency; empty: the text is no more than one.

    `may_list`: the text may be a list of items.
    """
    parts = list(_parts(text, quantities, vocabulary))
    wanted = _wanted(parts, vocabulary.own)
    offers = [_with_prices(offer) for offer in _offers(wanted) if _has(offer, *_NAMES)]
    is_post = _has(wanted, *_OFFERS) or any(ASKING_PRICE in quantity.typed for quantity in quantities)
    offer = wanted
    if offers and is_post:
        offer = _first_name(next((each for each in offers if _has(each, _Kind.BUYING)), offers[0]))
    name = _pasted_name(offer)
    items = [name] if name else _items_of_list(offer) if may_list or is_post else [offer]
    if [list(item) for item in items] == [parts]:
        return []
    return ["".join(part.gap + part.text for part in item) for item in items]


def _pasted_name(parts: _Parts) -> _Parts:
    """A market name with the details and bounds beside it; empty where there are none or more."""
    names = [
        at
        for at, part in enumerate(parts)
        if at and "|" in part.gap and part.kind in _NAMES and parts[at - 1].kind in _THINGS
    ]
    if len(names) != 1 or _has(parts, _Kind.EXCLUSION) or _has(parts[: names[0] - 1], _Kind.WEAPON):
        return []
    start = names[0] - 1
    end = next((at for at in range(start + 2, len(parts)) if not _goes_on(parts[at])), len(parts))
    return [part for at, part in enumerate(parts) if start <= at < end or _is_said_of_item(part)]


def _goes_on(part: _Part) -> bool:
    """Whether a market name goes on there."""
    is_word = part.kind in (*_NAMES, _Kind.NUMBER, _Kind.EITHER, _Kind.OTHER)
    return is_word and ("|" in part.gap or not _NAME_END.search(part.gap))


def _is_said_of_item(part: _Part) -> bool:
    return _is_bound(part) or part.kind in (_Kind.DETAIL, _Kind.QUANTITY)


def _is_bound(part: _Part) -> bool:
    return part.kind is _Kind.PRICE and not _AMOUNT.match(part.text)


def may_be_list(text: str) -> bool:
    """Whether a text has what stands between finishes of a weapon, or as many separators as a list of names."""
    return _OF_FINISHES.search(text) is not None or len(_SEPARATORS.findall(text)) >= _MIN_LISTED - 1


def _wanted(parts: _Parts, own: Collection[str]) -> _Parts:
    """What is wanted where something is offered for it: `ak for an awp`, `karambit, looking for a talon`."""
    exchanged = [at for at, part in enumerate(parts) if part.kind is _Kind.EXCHANGING]
    for at, part in enumerate(parts):
        before = parts[:at]
        if _ARROW.search(part.gap) and _has(before, _Kind.WEAPON) and _has(parts[at:], *_THINGS):
            return parts[at:]
        end = next((place for place in exchanged if place > at), len(parts))
        offered, wanted = [*before, *parts[end:]], parts[at + 1 : end]
        if part.kind is _Kind.SEEKING:
            is_exchange = _has(offered, _Kind.WEAPON) and not _ends_clause(parts, at)
        elif part.kind is _Kind.RETURN:
            is_exchange = _is_item(offered) if exchanged else _is_weapon(wanted) and _is_given(before, wanted, own)
        else:
            continue
        if is_exchange and _has(wanted, *_THINGS):
            return wanted
    places = (at for at in exchanged if _has(parts[:at], *_THINGS) and _has(parts[at:], *_THINGS))
    return next((parts[:at] for at in places if _begins_clause(parts, at)), parts)


def _begins_clause(parts: _Parts, at: int) -> bool:
    """Whether the clause of the part there names no thing before it: `king snake mw, can give 2 karambits`."""
    clause = takewhile(lambda part: part.kind not in _THINGS, reversed(parts[: at + 1]))
    return any(_SEPARATORS.search(part.gap) for part in clause)


def _is_given(before: _Parts, wanted: _Parts, own: Collection[str]) -> bool:
    """Whether the parts say no more than somebody's weapon with its finish (`my ak redline`), or one before another.

    In `awp asiimov to match my ak redline` and `scar cardiac for the autosniper fans` nothing is exchanged.
    """
    if not _is_weapon(before) or _has(before, _Kind.SEEKING, *_OFFERS):
        return False
    is_own = letters_of([before[0].text]) in own
    return is_own or before[0].kind is wanted[0].kind is _Kind.WEAPON


def _is_weapon(parts: _Parts) -> bool:
    """Whether the parts name a weapon with its finish."""
    return _has(parts, _Kind.WEAPON) and _has(parts, _Kind.NAME)


def _is_item(parts: _Parts) -> bool:
    """Whether the parts name an item: keys alone are none."""
    is_finish = _has(parts, _Kind.NAME) and _has(parts, _Kind.DETAIL)  # `vulcan mw`
    return is_finish or _has(parts, _Kind.WEAPON, _Kind.NAMED_TYPE) or _is_named(parts)


def _ends_clause(parts: _Parts, at: int) -> bool:
    """Whether the part there is the last of its clause: in `bayonet doppler arıyorum, ucuz olsun` it is a verb."""
    return at > 0 and at + 1 < len(parts) and bool(_SEPARATORS.search(parts[at + 1].gap))


def _items_of_list(parts: _Parts) -> list[_Parts]:
    """Several items, each a weapon or a type and more, with what stands before and behind all (`, ft`); else all."""
    starts = [at for at, part in enumerate(parts) if at and (part.kind is _Kind.EITHER or _is_separated(parts, at))]
    items = [parts[start:end] for start, end in pairwise((0, *starts, len(parts)))]
    named_types = () if _has(parts, _Kind.EXCLUSION) else (_Kind.NAMED_TYPE,)  # `… case and … case not wanted`
    named = [at for at, item in enumerate(items) if _has(item, *named_types) or _is_named(item)]
    if len(named) > 1:
        before, last = items[: named[0]], items[named[-1]]
        bound = [] if _has(parts[: -len(last)], *_AMOUNTS) else list(takewhile(_is_bound, reversed(last)))[::-1]
        of_all = [bound, *(item for item in items[named[-1] + 1 :] if not _has(item, *_ITEMS))]
        items[named[-1]] = last[: len(last) - len(bound)]
        return [
            [part for item in (*before, items[at] if at == named[0] else _alone(items[at]), *of_all) for part in item]
            for at in named
        ]
    listed = _items_of_type(items) or _items_of_weapon(parts) or _items_side_by_side(parts) or _items_either(items)
    return listed or [parts]


def _alone(item: _Parts) -> _Parts:
    """An item of a list without what parts it from the one before."""
    first, *others = item
    alone = others if first.kind is _Kind.EITHER else item
    is_separated = _SEPARATORS.search(alone[0].gap)
    return [replace(alone[0], gap=" "), *alone[1:]] if is_separated else alone


def _is_separated(parts: _Parts, at: int) -> bool:
    """Whether a separator stands before the part there, not the slash of `w/`."""
    is_with = parts[at].gap.strip() == "/" and len(parts[at - 1].text) == 1
    return _SEPARATORS.search(parts[at].gap) is not None and not is_with


def _items_of_weapon(parts: _Parts) -> list[_Parts]:
    """Several finishes of a weapon that is said once before them, each with it; empty: they are not such.

    Behind a weapon with a colon or a dash each part is one, else each with a detail, an amount or a float is.
    """
    if len(parts) < 2 or parts[0].kind not in (_Kind.WEAPON, _Kind.TYPE):
        return []
    if _has(parts[1:], *_THINGS, _Kind.EXCLUSION):
        return []
    starts = [at for at, part in enumerate(parts) if at > 1 and part.kind is _Kind.NAME and _OTHER.search(part.gap)]
    items = [parts[start:end] for start, end in pairwise((1, *starts, len(parts)))]
    is_headed = _HEADED.fullmatch(parts[1].gap) is not None
    are_items = len(items) > 1 and all(is_headed or _has(item, *_SAID_OF_ITEMS) for item in items)
    return [[parts[0], *_alone(item)] for item in items] if are_items and _has(items[0], _Kind.NAME) else []


def _items_of_type(items: Sequence[_Parts]) -> list[_Parts]:
    """Several names of one type that is said once, each with the type; empty: they are not such."""
    parts = [part for item in items for part in item]
    types = [part for part in parts if part.kind is _Kind.TYPE] or [
        part for part in parts if part.kind is _Kind.NAMED_TYPE
    ]
    are_names = all(_has(item, _Kind.NAME, _Kind.NAMED_TYPE) and not _has(item, _Kind.WEAPON) for item in items)
    if len(items) < _MIN_LISTED or len(types) != 1 or not are_names or _has(parts, _Kind.EXCLUSION):
        return []
    return [[*_alone(item), *(replace(part, gap=" ") for part in types if part not in item)] for item in items]


def _items_side_by_side(parts: _Parts) -> list[_Parts]:
    """Several weapons with their names and nothing between (`usp orion ak vulcan mw`); empty: they are not such."""
    starts = [at for at, part in enumerate(parts) if part.kind is _Kind.WEAPON]
    items = [parts[start:end] for start, end in pairwise((*starts, len(parts)))]
    are_items = starts[:1] == [0] and all(part.kind in _NAMED for part in parts)
    are_items = are_items and all(_has(item[1:2], _Kind.NAME) for item in items)
    return items if are_items and len(items) > 1 else []


def _items_either(items: Sequence[_Parts]) -> list[_Parts]:
    """Names of which one says a weapon or a type, each with it, or that alone (`ak or doppler`); empty: not such."""
    things = [[part for part in item if part.kind in _THINGS] for item in items]
    of_all = [thing for thing in things if thing]
    are_names = all(_has(item, *_NAMES) and all(part.kind in _EITHER for part in item) for item in items)
    if (
        len(items) < 2
        or len(of_all) != 1
        or not are_names
        or any(item[0].kind is not _Kind.EITHER for item in items[1:])
    ):
        return []
    is_named = any(_has(item, _Kind.NAME, _Kind.DETAIL) for item, thing in zip(items, things, strict=True) if thing)
    of_each = of_all[0] if is_named else []
    return [
        [*_alone(item), *([] if thing else [replace(part, gap=" ") for part in of_each])]
        for item, thing in zip(items, things, strict=True)
    ]


def _is_named(item: _Parts) -> bool:
    """Whether it is a weapon or a type with its name; in one spelling (`裂空`, a case) it is a named type."""
    return _has(item, _Kind.WEAPON, _Kind.TYPE) and _has(item, _Kind.NAME, _Kind.DETAIL)


def _parts(text: str, quantities: Sequence[Quantity], vocabulary: Vocabulary) -> Iterator[_Part]:
    for piece, quantity in zip(text_between(text, quantities), (*quantities, None), strict=True):
        words, gaps = segmented(*words_and_gaps(piece), vocabulary)
        yield from _parts_of(words, gaps, vocabulary)
        if quantity is not None:
            yield _Part(_kind_of_quantity(quantity), gaps[-1], quantity.typed)


def _kind_of_quantity(quantity: Quantity) -> _Kind:
    if quantity.field != "price":
        return _Kind.QUANTITY if quantity.certain else _Kind.OTHER
    return _Kind.PRICE if quantity.certain or quantity.low else _Kind.NUMBER  # `14.50`


def _parts_of(words: list[str], gaps: list[str], vocabulary: Vocabulary) -> Iterator[_Part]:
    letters = [letters_of([word]) for word in words]
    last = _Kind.OTHER
    for at, length, entry in vocabulary.longest_spellings(letters):
        kind = _kind_at(letters, gaps, at, vocabulary) if entry is None else _kind_of_entry(entry)
        is_more = kind is last is _Kind.NUMBER and _JOINTS.fullmatch(gaps[at])
        if not is_more:
            text = words[at] + "".join(gaps[place] + words[place] for place in range(at + 1, at + length))
            yield _Part(kind, gaps[at], text)
        last = kind


def _kind_of_entry(entry: Entry) -> _Kind:
    if not entry.meanings:
        return _KINDS_OF_ROLES.get(entry.role, _Kind.OTHER)
    fields = {name for meaning in entry.meanings for name, _ in meaning.filters}
    if "weapon" in fields:
        return _Kind.WEAPON
    if fields == {"type"}:
        return _Kind.NAMED_TYPE if all(" " in meaning.words for meaning in entry.meanings) else _Kind.TYPE
    if fields and fields <= ONE_VALUE:
        return _Kind.DETAIL
    is_year = all(meaning.words.isnumeric() for meaning in entry.meanings)
    return _Kind.NUMBER if is_year else _Kind.NAME  # `20` may be 2020


def _kind_at(letters: list[str], gaps: list[str], at: int, vocabulary: Vocabulary) -> _Kind:
    kinds = {
        _Kind.BUYING: vocabulary.buying,
        _Kind.SELLING: vocabulary.selling,
        _Kind.SEEKING: vocabulary.seeking,
        _Kind.EXCHANGING: vocabulary.exchanging,
        _Kind.RETURN: vocabulary.returns,
        _Kind.OTHER: vocabulary.ignored,
    }
    if (kind := next((kind for kind, words in kinds.items() if letters[at] in words), None)) is not None:
        return kind
    if is_count(letters, gaps, at, vocabulary.ignored):
        return _Kind.OTHER
    is_number = _NUMBER.fullmatch(letters[at]) and letters[at] not in vocabulary.words
    return _Kind.NUMBER if is_number else _Kind.NAME


def _offers(parts: _Parts) -> list[list[_Part]]:
    """The offers: each has one word of trade, what stands before the first one included."""
    offers: list[list[_Part]] = [[]]
    for part in parts:
        if part.kind in _OFFERS and _has(offers[-1], *_OFFERS):
            offers.append([])
        offers[-1].append(part)
    return offers


def _with_prices(offer: _Parts) -> _Parts:
    """The offer, the numbers in it that are prices as amounts that are asked; so is each amount for what is sold."""
    is_sold = _has(offer, _Kind.SELLING) and not _has(offer, _Kind.BUYING)
    return [
        replace(part, kind=_Kind.PRICE, text=f" {part.text} {ASKING_PRICE} ")
        if (part.kind is _Kind.NUMBER and _is_price(offer, at))
        or (is_sold and part.kind is _Kind.PRICE and _AMOUNT.match(part.text))
        else part
        for at, part in enumerate(offer)
    ]


def _is_price(offer: _Parts, at: int) -> bool:
    if not _has(offer[:at], *_NAMES):
        return False
    next_kind = next((part.kind for part in offer[at + 1 :] if part.kind in _NAMES), _Kind.WEAPON)
    return next_kind is _Kind.WEAPON or bool(_SURE.search(offer[at].text))


def _first_name(offer: _Parts) -> _Parts:
    """The first of several names that have their prices, with its own."""
    prices = [at for at, part in enumerate(offer) if part.kind is _Kind.PRICE]
    if len(prices) < 2 or not (_has(offer[: prices[0]], *_NAMES) and _has(offer[prices[0] : prices[1]], *_NAMES)):
        return offer
    return offer[: prices[0] + 1]


def _has(parts: _Parts, *kinds: _Kind) -> bool:
    return any(part.kind in kinds for part in parts)
