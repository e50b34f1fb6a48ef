"""The items of a list: a weapon or a type and a name each, or names of one weapon or type that is said once. Pure."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from api.search.relaxation.parts import (
    EXCLUSIONS,
    ITEMS,
    NAMES,
    SEPARATORS,
    THINGS,
    Kind,
    Part,
    Parts,
    has,
    is_bound,
    is_separated,
    names_finish,
)
from mappings.vocabulary.entries import values_of
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of_text

_OTHER = re.compile(r"[,;+&/\n]")  # between finishes of a weapon
_OF_FINISHES = re.compile(r"[;&/]|:\s|\s[-\u2013\u2014]\s")
_HEADED = re.compile(r"\s*:\s*|\s+[-\u2013\u2014]\s+")  # behind a weapon of which finishes follow
_MIN_LISTED = 3  # names whose type is said once; two may be one name and more about it
_NAMED = (Kind.WEAPON, Kind.TYPE, Kind.NAME, Kind.DETAIL)
_TRADE = (Kind.SELLING, Kind.EXCHANGING)
_EITHER = (*NAMES, Kind.QUANTITY, Kind.EITHER, Kind.OTHER)
_SAID_OF_ITEMS = (Kind.DETAIL, Kind.QUANTITY, Kind.PRICE)


def may_be_list(text: str, *, names_weapon: bool) -> bool:
    """Whether a text has what stands between finishes of a weapon, or separators between items or names of a type."""
    separators = 1 if names_weapon else _MIN_LISTED - 1
    return _OF_FINISHES.search(text) is not None or len(SEPARATORS.findall(text)) >= separators


def items_of_list(parts: Parts, vocabulary: Vocabulary) -> list[Parts]:
    """Several items, each with what is said of all (`, ft`, `under 50`, `no stattrak`); else all parts as one."""
    body, tail = _with_tail(parts)
    return [[*item, *tail] for item in _items(body, vocabulary)] or [parts]


def _with_tail(parts: Parts) -> tuple[Parts, Parts]:
    """The parts, and those behind the last name that are said of all items: a bound, what is not wanted."""
    end = next((at for at, part in enumerate(parts) if part.kind is Kind.EXCLUSION), len(parts))
    start = _end_of_name(parts[:end], Kind.OTHER, Kind.DETAIL, Kind.QUANTITY, Kind.NUMBER)
    bounds = [part for part in parts[start:end] if is_bound(part)]
    is_mere = all(part.kind in (Kind.OTHER, Kind.RETURN) or part in bounds for part in parts[start:end])
    is_own = bool(bounds) and has(parts[:start], Kind.PRICE)  # each item has its price
    is_excluded = end < len(parts) - 1 and not (is_separated(parts, end + 1) or has(parts[end + 2 :], Kind.WEAPON))
    is_tail = is_mere and not is_own and (is_excluded or (bool(bounds) and end == len(parts)))
    return (parts[:start], parts[start:]) if is_tail else (parts, [])


def _items(parts: Parts, vocabulary: Vocabulary) -> list[Parts]:
    """The items, each a weapon or a type and more, with what stands before and behind all; empty: they are no list.

    A finish without a weapon is an item beside two others, or before one. Beside one that is not wanted only the first
    one counts.
    """
    starts = [at for at, part in enumerate(parts) if at and (part.kind is Kind.EITHER or is_separated(parts, at))]
    items = [parts[start:end] for start, end in pairwise((0, *starts, len(parts)))]
    named_types = () if has(parts, *EXCLUSIONS) else (Kind.NAMED_TYPE,)  # `… case and … case not wanted`
    named = [at for at, item in enumerate(items) if has(item, *named_types) or is_named_item(item)]
    if len(named) < 2:
        listed = _items_of_type(items) or _items_of_weapon(parts) or _items_side_by_side(parts)
        if listed := listed or _items_either(_with_details(items, vocabulary), vocabulary):
            return listed
    finishes = {at for at, item in enumerate(items) if _is_finish(item, vocabulary)}
    if len(named) == 1:  # those behind one item are its own, or say it again: `the awp with the dragon, dragon lore`
        finishes = {at for at in finishes if at < named[0]}
    named = sorted(finishes.union(named)) if named else []
    if len(named) < 2:
        return []
    first, *others = named
    of_all = [part for item in items[named[-1] + 1 :] if not has(item, *ITEMS) for part in item]
    items = _with_details(items[: named[-1] + 1], vocabulary)
    if has([part for item in items for part in item], *EXCLUSIONS):
        others = []
    wanted = [_alone(items[at]) for at in others if _is_another(items[at], items[first])]
    return [[*before, *of_all] for before in ([part for item in items[: first + 1] for part in item], *wanted)]


def _is_another(item: Parts, first: Parts) -> bool:
    """Whether an item is wanted like the first one: it is not offered for it.

    What is put on items is on the first one. A type without a name behind a weapon says more of it: `kukri vanilla, no
    paint just the blade`.
    """
    if has(item, *_TRADE) or (has(item, Kind.ATTACHED) and not has(first, Kind.ATTACHED)):
        return False
    is_either = item[0].kind is Kind.EITHER
    return is_either or has(item, Kind.WEAPON, Kind.NAMED_TYPE, Kind.NAME) or not has(first, Kind.WEAPON)


def _with_details(items: list[Parts], vocabulary: Vocabulary) -> list[Parts]:
    """Items with `or` between, each with the details that end the last one: `ak redline or awp asiimov ft`.

    Details of one of them alone are its own, and so are phases, which few finishes have.
    """
    last, before = items[-1], [part for item in items[:-1] for part in item]
    end = _end_of_name(last, Kind.OTHER)
    details, are_either = last[end:], all(item[0].kind is Kind.EITHER for item in items[1:])
    is_own = has(before, *_SAID_OF_ITEMS) or not has(last[:end], Kind.NAME, Kind.NAMED_TYPE)
    if not are_either or is_own or any(_is_phase(part, vocabulary) for part in details):
        return items
    return [*([*item, *details] for item in items[:-1]), last]


def _end_of_name(parts: Parts, *kinds: Kind) -> int:
    """Where the last name of the parts ends, with the parts of these kinds that follow at once."""
    end = 1 + max((at for at, part in enumerate(parts) if part.kind in ITEMS), default=-1)
    return next((at for at in range(end, len(parts)) if parts[at].kind not in kinds), len(parts))


def _is_phase(part: Part, vocabulary: Vocabulary) -> bool:
    entry = vocabulary.entries.get(letters_of_text(part.text))
    return entry is not None and bool(values_of(entry.meanings, "phase"))


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
    if has(parts[1:], *THINGS, *EXCLUSIONS):
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
    if len(items) < _MIN_LISTED or len(types) != 1 or not are_names or has(parts, *EXCLUSIONS):
        return []
    return [[*_alone(item), *(replace(part, gap=" ") for part in types if part not in item)] for item in items]


def _items_side_by_side(parts: Parts) -> list[Parts]:
    """Weapons and types with their names and nothing between (`usp orion ak vulcan mw`); empty: they are not such."""
    starts = [at for at, part in enumerate(parts) if part.kind is Kind.WEAPON or (not at and part.kind is Kind.TYPE)]
    items = [parts[start:end] for start, end in pairwise((*starts, len(parts)))]
    are_items = starts[:1] == [0] and all(part.kind in _NAMED for part in parts)
    are_items = are_items and all(has(item[1:2], Kind.NAME) for item in items)
    return items if are_items and len(items) > 1 else []


def _items_either(items: Sequence[Parts], vocabulary: Vocabulary) -> list[Parts]:
    """Finishes, of which one alone says the weapon or the type of those behind it; empty: they are not such.

    Where it says nothing but that, it is one of them beside an `or`: `ak or doppler`.
    """
    things = [[part for part in item if part.kind in THINGS] for item in items]
    are_names = all(has(item, *NAMES) and all(part.kind in _EITHER for part in item) for item in items)
    if len(items) < 2 or not are_names:
        return []
    naming = [(item, thing) for item, thing in zip(items, things, strict=True) if thing]
    are_either = all(item[0].kind is Kind.EITHER for item in items[1:])
    if are_either and len(naming) == len(items) and not any(has(item, Kind.NAME, Kind.DETAIL) for item in items):
        return [_alone(item) for item in items]
    if len(naming) != 1 or not all(_is_finish(each, vocabulary) for each in items if each is not naming[0][0]):
        return []
    ((item, thing),) = naming
    if not (are_either or _is_finish([part for part in item if part not in thing], vocabulary)):
        return []  # `the scout with the shark, blood in the water`
    of_each = [replace(part, gap=" ") for part in thing] if has(item, Kind.NAME, Kind.DETAIL) else []
    own = items.index(item) if _alone(item)[0].kind in THINGS else 0  # `printstream or ak empress`
    return [[*_alone(each), *(of_each if each is not item and at >= own else ())] for at, each in enumerate(items)]


def _is_finish(item: Parts, vocabulary: Vocabulary) -> bool:
    """Whether the item says a finish, beside an `or`, and no more than details of it."""
    is_mere = all(part.kind in _EITHER and part.kind not in THINGS for part in item)
    return is_mere and names_finish(item, vocabulary, Kind.NAME, Kind.OTHER)


def is_named_item(item: Parts) -> bool:
    """Whether it is a weapon or a type with its name; in one spelling (`裂空`, a case) it is a named type."""
    return has(item, Kind.WEAPON, Kind.TYPE, Kind.ATTACHED) and has(item, Kind.NAME, Kind.DETAIL)
