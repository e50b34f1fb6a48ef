"""Pins and hides: names of items that come first for a text, and names that are not shown. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import AfterValidator, Field

from mappings.strict_model import StrictModel
from mappings.vocabulary.words import letters_of_text, words_of

MAX_PINNED = 100  # names for one text, of all pins together


def with_words(text: str) -> str:
    """The text of a rule; raises ValueError where it has no words."""
    if not words_of(text):
        raise ValueError(f"the text {text!r} has no letter and no digit")
    return text


RuleText = Annotated[str, AfterValidator(with_words)]


class Pin(StrictModel):
    """Items with one of the names come first for each of the texts, in the order of the names."""

    texts: tuple[RuleText, ...] = Field(min_length=1)
    names: tuple[str, ...] = Field(min_length=1)


class Hide(StrictModel):
    """Items with one of the names are not found by any of the texts; without texts by no search."""

    texts: tuple[RuleText, ...] = ()
    names: tuple[str, ...] = Field(min_length=1)


@dataclass(frozen=True)
class TextRules:
    """The names that are pinned and hidden for one text on one platform."""

    platform: int
    pinned: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rules:
    """The pins and hides of a platform, by the letters of their texts; those of every text are under the empty one."""

    pinned: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hidden: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of_text(self, platform: int, text: str) -> TextRules:
        """What holds for a text as buyers write it: case, accents, blanks and signs do not matter."""
        letters = letters_of_text(text)
        hidden = (*self.hidden.get("", ()), *(self.hidden.get(letters, ()) if letters else ()))
        pinned = [name for name in self.pinned.get(letters, ()) if name not in hidden]
        return TextRules(platform, tuple(pinned[:MAX_PINNED]), tuple(dict.fromkeys(hidden)))


NO_RULES = Rules()


def rules_of(pins: Sequence[Pin], hides: Sequence[Hide]) -> Rules:
    """The rules by their texts; names of several pins of a text follow each other."""
    return Rules(
        _by_text((text, pin.names) for pin in pins for text in pin.texts),
        _by_text((text, hide.names) for hide in hides for text in hide.texts or ("",)),
    )


def _by_text(rules: Iterable[tuple[str, Sequence[str]]]) -> dict[str, tuple[str, ...]]:
    names: dict[str, dict[str, None]] = {}
    for text, listed in rules:
        names.setdefault(letters_of_text(text), {}).update(dict.fromkeys(listed))
    return {letters: tuple(each) for letters, each in names.items()}
