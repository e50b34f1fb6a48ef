"""A platform's vocabulary: what each spelling means, looked up by its letters. Pure.

`letters_of` differs from `folding.fold`: it drops the accents of every script, but writes no letter as another.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from mappings.fields import DETAILS

_WORD = re.compile(r"[^\W_]+")
_DROPPED_MARKS = str.maketrans("", "", "★™")


def words_of(text: str) -> list[str]:
    """The words of a text in their order: letters and digits only, without accents that stand alone, ★ and ™."""
    if text.isascii():
        return _WORD.findall(text)
    composed = unicodedata.normalize("NFC", text)
    return _WORD.findall(
        "".join(letter for letter in composed if unicodedata.category(letter) != "Mn").translate(_DROPPED_MARKS)
    )


def letters_of(words: Iterable[str]) -> str:
    """The words written as one, without case and accents: `Five`, `SeveN` are `fiveseven`."""
    joined = "".join(words)
    if joined.isascii():
        return joined.lower()
    decomposed = unicodedata.normalize("NFKD", joined)
    return "".join(letter for letter in decomposed if unicodedata.category(letter) != "Mn").casefold()


@dataclass(frozen=True)
class Meaning:
    """What a spelling stands for: items with one of the values in every field, and with all of the words."""

    filters: tuple[tuple[str, tuple[str, ...]], ...] = ()
    words: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """What a name has that says so: its words, or one of the values."""
        return (self.words,) if self.words else tuple(value for _, values in self.filters for value in values)


@dataclass(frozen=True)
class Entry:
    """All that one spelling may mean, the most words it may be typed as, and the splits that the file lists."""

    meanings: tuple[Meaning, ...]
    max_words: int
    listed: frozenset[tuple[str, ...]] = frozenset()


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
    `narrowing` are the fields whose words narrow a text that has other words too, `fillers` words that say nothing of
    an item.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    fields: Mapping[str, Mapping[str, tuple[str, ...]]] = Field(default_factory=dict)
    words: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    term: tuple[Term, ...] = ()
    narrowing: frozenset[str] = frozenset()
    fillers: tuple[str, ...] = ()

    @field_validator("fields", "narrowing")
    @classmethod
    def _known_fields(cls, value: Iterable[str]) -> Iterable[str]:
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
        listed: dict[str, set[tuple[str, ...]]] = {}
        for spelling, (field, value, meaning) in self._spelt():
            words = words_of(spelling)
            letters = letters_of(words)
            listed.setdefault(letters, set()).add(tuple(letters_of([word]) for word in words))
            others.setdefault(letters, {})
            if meaning is None:
                values.setdefault(letters, {}).setdefault(field, {})[value] = None
            else:
                others[letters][meaning] = None
        return {
            letters: Entry(
                (
                    *(Meaning(((field, tuple(some)),)) for field, some in values.get(letters, {}).items()),
                    *others[letters],
                ),
                max(len(words) for words in splits),
                frozenset(splits),
            )
            for letters, splits in listed.items()
        }

    @cached_property
    def longest(self) -> int:
        """The most words that a spelling has."""
        return max((entry.max_words for entry in self.entries.values()), default=0)

    def cut(self, letters: Sequence[str]) -> Iterator[tuple[int, int, Entry | None]]:
        """Words, each by its letters, as their longest spellings: where each begins, its words, and what it means."""
        at = 0
        while at < len(letters):
            length, entry = self._longest(letters, at)
            yield at, length, entry
            at += length

    def _longest(self, letters: Sequence[str], at: int) -> tuple[int, Entry | None]:
        for length in range(min(self.longest, len(letters) - at), 0, -1):
            window = tuple(letters[at : at + length])
            entry = self.entries.get("".join(window))
            if entry is not None and length <= entry.max_words and self._is_spelt_so(entry, window):
                return length, entry
        return 1, None

    def _is_spelt_so(self, entry: Entry, letters: tuple[str, ...]) -> bool:
        """Whether the words are this spelling: parted as it is listed, or none of them is known for itself."""
        return len(letters) == 1 or letters in entry.listed or not any(word in self.entries for word in letters)

    def parts(self, words: Sequence[str]) -> bool:
        """Whether several words are listed as one spelling: `5`, `7` are, `1`, `5` are not though `15` is one."""
        letters = tuple(letters_of([word]) for word in words)
        entry = self.entries.get("".join(letters))
        return len(letters) > 1 and entry is not None and letters in entry.listed

    @cached_property
    def ignored(self) -> frozenset[str]:
        """The fillers' letters."""
        return frozenset(letters_of(words_of(filler)) for filler in self.fillers)

    def narrows(self, meanings: Iterable[Meaning]) -> bool:
        """Whether a word of these meanings narrows a text that has other words too."""
        fields = [[field for field, _ in meaning.filters] for meaning in meanings]
        return bool(fields) and all(any(name in self.narrowing for name in names) for names in fields)

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
