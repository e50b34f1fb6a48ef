"""Derives search features from an item's name: its group, finish and length, and the names of its stickers. Pure."""

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple, Protocol

SEPARATOR = " | "
STICKER = "sticker"
# A catalogue has many listings of one name. Half a kilobyte each: 16 MB at most.
CACHED_NAMES = 32_768


class Attached(Protocol):
    """Something on an item; `type` is None where the source does not say it."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str | None: ...


class NameFeatures(NamedTuple):
    """What the name of an item says about it."""

    group: int  # a 64-bit hash of the name, by which the engine groups items (docs/decisions/0020)
    finish: str | None  # what a weapon is painted with
    words: int  # without those of the exterior


@lru_cache(CACHED_NAMES)
def name_features(name: str, weapon: str | None, exterior: str | None) -> NameFeatures:
    """The features of a name, given the item's weapon and exterior."""
    group = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "big", signed=True)
    words = len(name.split())
    if exterior is not None and name.endswith(f"({exterior})"):
        words -= len(exterior.split())
    return NameFeatures(group, finish_of(name, weapon, exterior), words)


def finish_of(name: str, weapon: str | None, exterior: str | None) -> str | None:
    """The finish of a weapon: `Redline` of `AK-47 | Redline (Field-Tested)`; None for anything but a weapon."""
    if weapon is None:
        return None
    _, separated, finish = name.partition(SEPARATOR)
    if not separated:
        return None
    if exterior is not None:
        finish = finish.removesuffix(f"({exterior})")
    return finish.strip() or None


def sticker_names(attachments: Iterable[Attached]) -> list[str]:
    """The distinct names of the stickers on an item; an attachment without a type counts as a sticker."""
    return list(
        dict.fromkeys(
            attached.name for attached in attachments if attached.type is None or attached.type.casefold() == STICKER
        )
    )
