"""Names within an item: its name, weapon, exterior and attachments in; what these tell of it out. Pure."""

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple, Protocol

SEPARATOR = " | "
STICKER = "sticker"
# A catalogue has many listings of one name. Half a kilobyte each: 16 MB at most.
NAMES_REMEMBERED = 32_768


class Attached(Protocol):
    """Something on an item, with the kind of it where the source says so."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str | None: ...


class Told(NamedTuple):
    """What a name tells of its item."""

    group: int  # a number that items of one name share, for the engine to group by: 64 bits (docs/decisions/0020)
    finish: str | None  # what a weapon is painted with
    words: int  # how many it has, those of the exterior not counted


@lru_cache(NAMES_REMEMBERED)
def told_by(name: str, weapon: str | None, exterior: str | None) -> Told:
    """What the name of an item of this weapon and exterior tells."""
    group = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "big", signed=True)
    words = len(name.split())
    if exterior is not None and name.endswith(f"({exterior})"):
        words -= len(exterior.split())
    return Told(group, finish_of(name, weapon, exterior), words)


def finish_of(name: str, weapon: str | None, exterior: str | None) -> str | None:
    """What a weapon is painted with: `Redline` of `AK-47 | Redline (Field-Tested)`; None for what is no weapon."""
    if weapon is None:
        return None
    _, separated, finish = name.partition(SEPARATOR)
    if not separated:
        return None
    if exterior is not None:
        finish = finish.removesuffix(f"({exterior})")
    return finish.strip() or None


def stickers_of(attachments: Iterable[Attached]) -> list[str]:
    """The names of the stickers on an item, each once; what is attached counts as one unless it has another type."""
    return list(dict.fromkeys(one.name for one in attachments if one.type is None or one.type.casefold() == STICKER))
