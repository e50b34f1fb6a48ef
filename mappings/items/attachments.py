"""Encodes attachments as tokens, the keywords of the field `attachments`, and the ranges that search them. Pure.

Writer and reader both take their tokens from here. All tokens of a name begin with the folded name and a separator:

    name ␟ k            the item has at least k attachments of that name
    name ␟ k : wear     the k-th least worn of those that have a wear
    name ␟ + : wear     any other than the least worn

So at least k are no more worn than w exactly where the k-th least worn is: one range of the second form. A wear between
two bounds is that of the least worn or of another: a range of the second or of the third form.
"""

import struct
from collections.abc import Iterable
from functools import lru_cache

from mappings.folding import fold

# Folding makes a blank of every control character, so that no folded name has this one.
SEPARATOR = "\x1f"
# Stands in gear.json beside the field: raise both with any change of tokens or folding, so that the index is rebuilt.
ENCODING = "1"

_DOUBLE = struct.Struct(">d")


def attachment_tokens(attachments: Iterable[tuple[str, float | None]]) -> list[str]:
    """The tokens of an item's attachments, given by name and wear."""
    keyed = [(name_key(name), None if wear is None else wear_key(wear)) for name, wear in attachments]
    tokens = []
    if len({key for key, _ in keyed}) == len(keyed):  # nearly every item, much faster
        for key, wear in keyed:
            first = f"{key}{SEPARATOR}1"
            tokens.append(first)
            if wear is not None:
                tokens.append(f"{first}:{wear}")
        return tokens
    wears: dict[str, list[str | None]] = {}
    for key, wear in keyed:
        wears.setdefault(key, []).append(wear)
    for key, all_wears in wears.items():
        known_wears = sorted([wear for wear in all_wears if wear is not None])
        tokens += [f"{key}{SEPARATOR}{count}" for count in range(1, len(all_wears) + 1)]
        tokens += [f"{key}{SEPARATOR}{count}:{wear}" for count, wear in enumerate(known_wears, start=1)]
        tokens += [f"{key}{SEPARATOR}+:{wear}" for wear in known_wears[1:]]
    return tokens


def count_token(name: str, count: int) -> str:
    """The token of the items that have at least `count` attachments of this name."""
    return f"{name_key(name)}{SEPARATOR}{count}"


def wear_range(name: str, rank: int | None, low: float, high: float) -> tuple[str, str]:
    """The first and last token of the items whose `rank`-th least worn one of this name lies within the bounds; None:
    any other than the least worn.
    """
    start = f"{name_key(name)}{SEPARATOR}{'+' if rank is None else rank}:"
    return start + wear_key(low), start + wear_key(high)


@lru_cache(maxsize=16_384)
def name_key(name: str) -> str:
    """The form in which names are compared: folded, or the name itself where folding leaves nothing."""
    return fold(name) or SEPARATOR + name.encode().hex()


@lru_cache(maxsize=1024)
def wear_key(wear: float) -> str:
    """A wear from 0 on as text that sorts as the numbers do: the bits of the double, in hexadecimal."""
    return _DOUBLE.pack(wear + 0.0).hex()  # turns -0.0, whose bits are the largest of all, into 0.0
