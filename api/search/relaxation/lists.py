"""The items of a list: a weapon or a type and a name each, or names of one weapon or type that is said once. Pure."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from api.search.relaxation.parts import (
    ITEMS,
    NAMES,
    SEPARATORS,
    THINGS,
    Kind,
    Parts,
    has,
    is_bound,
    is_separated,
)
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of_text

_OTHER = re.compile(r"[,;+&/\n]")  # between finishes of a weapon
_OF_FINISHES = re.compile(r"[;&/]|:\s|\s[-\u2013\u2014]\s")
_HEADED = re.compile(r"\s*:\s*|\s+[-\u2013\u2014]\s+")  # behind a weapon of which finishes follow
_MIN_LISTED = 3  # names whose type is said once; two may be one name and more about it
_NAMED = (Kind.WEAPON, Kind.TYPE, Kind.NAME, Kind.DETAIL)
_TRADE = (Kind.SELLING, Kind.SEEKING, Kind.EXCHANGING, Kind.RETURN)
_EITHER = (*NAMES, Kind.QUANTITY, Kind.EITHER, Kind.OTHER)
_AMOUNTS = (Kind.NUMBER, Kind.PRICE)
_SAID_OF_ITEMS = (Kind.DETAIL, Kind.QUANTITY, Kind.PRICE)


def may_be_list(text: str) -> bool:
    """Whether a text has what stands between finishes of a weapon, or as many separators as a list of names."""
    return _OF_FINISHES.search(text) is not None or len(SEPARATORS.findall(text)) >= _MIN_LISTED - 1


def items_of_list(parts: Parts, vocabulary: Vocabulary) -> list[Parts]:
    """Several items, each a weapon or a type and more, with what is said of all (`, ft`); else all parts as one.

    An item that is offered for the first one is none of them, nor is what is put on items: it is on the first one. A
    type without a name says more of the first one: `kukri vanilla, no paint just the blade`.
    """
    starts = [at for at, part in enumerate(parts) if at and (part.kind is Kind.EITHER or is_separated(parts, at))]
    items = [parts[start:end] for start, end in pairwise((0, *starts, len(parts)))]
    named_types = () if has(parts, Kind.EXCLUSION) else (Kind.NAMED_TYPE,)  # `… case and … case not wanted`
    named = [at for at, item in enumerate(items) if has(item, *named_types) or is_named_item(item)]
    if len(named) < 2:
        listed = _items_of_type(items) or _items_of_weapon(parts) or _items_side_by_side(parts)
        return listed or _items_either(items, vocabulary) or [parts]
    first, *others = named
    last, tail = _with_tail(items, named[-1])
    of_all = [tail, *(item for item in items[named[-1] + 1 :] if not has(item, *ITEMS))]
    if has([part for item in (*items[: named[-1]], last) for part in item], Kind.EXCLUSION):
        others = []
    others = [at for at in others if _is_another(items[at], items[first])]
    wanted = [_alone(last if at == named[-1] else items[at]) for at in others]
    return [
        [part for item in (*before, *of_all) for part in item]
        for before in (items[: first + 1], *([each] for each in wanted))
    ]


def _is_another(item: Parts, first: Parts) -> bool:
    """Whether an item is wanted like the first one."""
    if has(item, *_TRADE) or (has(item, Kind.ATTACHED) and not has(first, Kind.ATTACHED)):
        return False
    return has(item, Kind.WEAPON, Kind.NAMED_TYPE, Kind.NAME) or not has(first, Kind.WEAPON)


def _with_tail(items: Sequence[Parts], at: int) -> tuple[Parts, Parts]:
    """The item there, the last one, and what stands behind its name and is said of all: a bound, what is not wanted.

    Where `or` is between all of them and nothing is said of those before, so are details: `redline or asiimov ft`.
    """
    last, before = items[at], [part for item in items[:at] for part in item]
    end = 1 + max(place for place, part in enumerate(last) if part.kind in ITEMS)
    tail = last[end:]
    if has(tail, Kind.EXCLUSION):
        is_of_all = tail[0].kind is Kind.EXCLUSION and len(tail) > 1
    elif has(tail, Kind.DETAIL, Kind.QUANTITY):
        is_of_all = all(item[0].kind is Kind.EITHER for item in items[1 : at + 1]) and not has(before, *_SAID_OF_ITEMS)
    else:
        others = [part for part in tail if not is_bound(part)]
        is_of_all = len(others) < len(tail) and not has(before, *_AMOUNTS)
        is_of_all = is_of_all and all(part.kind is Kind.OTHER for part in others)
    return (last[:end], tail) if is_of_all else (last, [])


def _alone(item: Parts) -> Parts:
    """An item of a list without what parts it from the one before."""
    first, *others = item[1:] if item[0].kind is Kind.EITHER else item
    return [replace(first, gap=" "), *others]  # not the minus of what is not wanted


def _items_of_weapon(parts: Parts) -> list[Parts]:
    """Several finishes of a weapon that is said once before them, each with it; empty: they are not such.

    Behind a weapon with a colon or a dash each part is one, else each with a detail, an amount or a float is.
    """
    if len(parts) < 2 or parts[0].kind not in (Kind.WEAPON, Kind.TYPE, Kind.ATTACHED):
        return []
    if has(parts[1:], *THINGS, Kind.EXCLUSION):
        return []
    starts = [at for at, part in enumerate(parts) if at > 1 and part.kind is Kind.NAME and _OTHER.search(part.gap)]
    items = [parts[start:end] for start, end in pairwise((1, *starts, len(parts)))]
    is_headed = _HEADED.fullmatch(parts[1].gap) is not None
    are_items = len(items) > 1 and all(is_headed or has(item, *_SAID_OF_ITEMS) for item in items)
    return [[parts[0], *_alone(item)] for item in items] if are_items and has(items[0], Kind.NAME) else []


def _items_of_type(items: Sequence[Parts]) -> list[Parts]:
    """Several names of one type that is said once, each with the type; empty: they are not such."""
    parts = [part for item in items for part in item]
    types = [part for part in parts if part.kind in (Kind.TYPE, Kind.ATTACHED)] or [
        part for part in parts if part.kind is Kind.NAMED_TYPE
    ]
    are_names = all(has(item, Kind.NAME, Kind.NAMED_TYPE) and not has(item, Kind.WEAPON) for item in items)
    if len(items) < _MIN_LISTED or len(types) != 1 or not are_names or has(parts, Kind.EXCLUSION):
        return []
    return [[*_alone(item), *(replace(part, gap=" ") for part in types if part not in item)] for item in items]


def _items_side_by_side(parts: Parts) -> list[Parts]:
    """Weapons and types with their names and nothing between (`usp orion ak vulcan mw`); empty: they are not such."""
    starts = [at for at, part in enumerate(parts) if part.kind in (Kind.WEAPON, Kind.TYPE)]
    items = [parts[start:end] for start, end in pairwise((*starts, len(parts)))]
    are_items = starts[:1] == [0] and all(part.kind in _NAMED for part in parts)
    are_items = are_items and all(has(item[1:2], Kind.NAME) for item in items)
    return items if are_items and len(items) > 1 else []


def _items_either(items: Sequence[Parts], vocabulary: Vocabulary) -> list[Parts]:
    """Finishes with `or` between, of which one alone says the weapon or the type of each; empty: they are not such.

    Where it says nothing but that, it is one of them: `ak or doppler`.
    """
    things = [[part for part in item if part.kind in THINGS] for item in items]
    are_names = all(has(item, *NAMES) and all(part.kind in _EITHER for part in item) for item in items)
    if len(items) < 2 or not are_names or any(item[0].kind is not Kind.EITHER for item in items[1:]):
        return []
    naming = [(item, thing) for item, thing in zip(items, things, strict=True) if thing]
    if len(naming) == len(items) and not any(has(item, Kind.NAME, Kind.DETAIL) for item in items):
        return [_alone(item) for item in items]
    if len(naming) != 1 or not all(_is_finish(each, vocabulary) for each in items if each is not naming[0][0]):
        return []
    ((item, thing),) = naming
    of_each = [replace(part, gap=" ") for part in thing] if has(item, Kind.NAME, Kind.DETAIL) else []
    return [[*_alone(each), *(of_each if each is not item else ())] for each in items]


def _is_finish(item: Parts, vocabulary: Vocabulary) -> bool:
    """Whether nothing but a finish or a detail is said beside the `or`."""
    words = [part.text for part in item if part.kind in (Kind.NAME, Kind.OTHER)]
    return letters_of_text(" ".join(words)) in vocabulary.finishes if words else has(item, Kind.DETAIL)


def is_named_item(item: Parts) -> bool:
    """Whether it is a weapon or a type with its name; in one spelling (`裂空`, a case) it is a named type."""
    return has(item, Kind.WEAPON, Kind.TYPE, Kind.ATTACHED) and has(item, Kind.NAME, Kind.DETAIL)
