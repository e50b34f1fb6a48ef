"""Names within an item: its name, weapon, exterior and attachments in; its finish and its stickers out. Pure."""

from collections.abc import Iterable
from typing import Protocol

SEPARATOR = " | "
STICKER = "sticker"


class Attached(Protocol):
    """Something on an item, with the kind of it where the source says so."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str | None: ...


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
