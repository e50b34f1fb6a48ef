"""A platform's vocabulary: the tables of its file in; what a spelling means, found by its letters, out."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from mappings.fields import DETAILS

_WORD = re.compile(r"[^\W_]+")
_DROPPED_MARKS = str.maketrans("", "", "★™")


def words_of(text: str) -> list[str]:
    """The words of a text in their order: letters and digits only, without accents that stand alone, ★ and ™."""
    composed = unicodedata.normalize("NFC", text)
    return _WORD.findall(
        "".join(one for one in composed if unicodedata.category(one) != "Mn").translate(_DROPPED_MARKS)
    )


def letters_of(words: Iterable[str]) -> str:
    """The words written as one, without case and accents: `Five`, `SeveN` are `fiveseven`."""
    apart = unicodedata.normalize("NFKD", "".join(words))
    return "".join(one for one in apart if unicodedata.category(one) != "Mn").casefold()


@dataclass(frozen=True)
class Meaning:
    """What a spelling stands for: an item with one of the values in every field, and with all of the words."""

    filters: tuple[tuple[str, tuple[str, ...]], ...] = ()
    words: str = ""


@dataclass(frozen=True)
class Entry:
    """All that one spelling may mean, and into how many words it may be split when it is typed."""

    meanings: tuple[Meaning, ...]
    most_words: int


class Term(BaseModel):
    """Spellings of something that is more than one value of one field."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    spellings: tuple[str, ...] = Field(min_length=1)
    filters: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    words: str = ""

    @model_validator(mode="after")
    def _means_something(self) -> "Term":
        if not self.filters and not self.words:
            message = f"{self.spellings[0]!r} means nothing: give it filters or words"
            raise ValueError(message)
        _check_fields(self.filters)
        return self


class Vocabulary(BaseModel):
    """What buyers of one platform write: a field's values with their spellings, words for words, and terms.

    A value's own name is a spelling too. `fields` is {field: {value: spellings}}, `words` is {words: spellings}.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    fields: Mapping[str, Mapping[str, tuple[str, ...]]] = Field(default_factory=dict)
    words: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    term: tuple[Term, ...] = ()

    @field_validator("fields")
    @classmethod
    def _known_fields(cls, value: Mapping[str, object]) -> Mapping[str, object]:
        _check_fields(value)
        return value

    @model_validator(mode="after")
    def _spellings_have_letters(self) -> "Vocabulary":
        for spelling, _ in self._spelt():
            if not words_of(spelling):
                message = f"the spelling {spelling!r} has no letter and no digit"
                raise ValueError(message)
        return self

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """Everything that a spelling's letters may mean; values of one field that share a spelling are one meaning."""
        values: dict[str, dict[str, dict[str, None]]] = {}
        others: dict[str, dict[Meaning, None]] = {}
        most: dict[str, int] = {}
        for spelling, (field, value, meaning) in self._spelt():
            words = words_of(spelling)
            letters = letters_of(words)
            most[letters] = max(most.get(letters, 0), len(words))
            others.setdefault(letters, {})
            if meaning is None:
                values.setdefault(letters, {}).setdefault(field, {})[value] = None
            else:
                others[letters][meaning] = None
        return {
            letters: Entry(
                (
                    *(Meaning(((field, tuple(held)),)) for field, held in values.get(letters, {}).items()),
                    *others[letters],
                ),
                most[letters],
            )
            for letters in most
        }

    @cached_property
    def longest(self) -> int:
        """The most words that a spelling has."""
        return max((entry.most_words for entry in self.entries.values()), default=0)

    def _spelt(self) -> Iterable[tuple[str, tuple[str, str, Meaning | None]]]:
        for field, values in self.fields.items():
            for value, spellings in values.items():
                yield from ((spelling, (field, value, None)) for spelling in (value, *spellings))
        for words, spellings in self.words.items():
            yield from ((spelling, ("", "", Meaning(words=words))) for spelling in spellings)
        for term in self.term:
            meaning = Meaning(tuple(term.filters.items()), term.words)
            yield from ((spelling, ("", "", meaning)) for spelling in term.spellings)


def _check_fields(fields: Iterable[str]) -> None:
    for name in fields:
        if name not in DETAILS:
            message = f"{name!r} is no string field of an item; those are {', '.join(DETAILS)}"
            raise ValueError(message)
