"""What a spelling may mean or do in a text, gathered from all of its uses. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from sys import intern
from typing import TypeVar

from mappings.vocabulary.schema import VocabularyTerm
from mappings.vocabulary.words import letters_of, words_of


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a spelling stands for: items with one of the values in every field, and with all of the words."""

    filters: tuple[tuple[str, tuple[str, ...]], ...] = ()
    words: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """What a name has that says so: its words, or one of the values."""
        return (self.words,) if self.words else tuple(value for _, values in self.filters for value in values)


def values_of(meanings: Iterable[Meaning], field_name: str) -> set[str]:
    """The values of a field that meanings stand for."""
    filters = [each for meaning in meanings for each in meaning.filters]
    return {value for name, values in filters if name == field_name for value in values}


MIN_FREE = 4  # letters of a word of another script that may be typed as two


class Role(StrEnum):
    """What a spelling does in a text: it means something (`value`), or says how the words beside it are meant.

    `exclusion`: the next word is not wanted, `exclusion_after`: the last one. `alternative`: the words on both sides
    are either-or, `conjunction`: they go together. `neither`: an exclusion that goes on with another one (`ni`).
    `name`: its words are part of a name, whatever they say otherwise.
    `attached`: something is on the item, `attached_after`: what stands before is. `filler`: it says nothing of an item.
    """

    VALUE = "value"
    EXCLUSION = "exclusion"
    EXCLUSION_AFTER = "exclusion_after"
    ALTERNATIVE = "alternative"
    CONJUNCTION = "conjunction"
    NEITHER = "neither"
    NAME = "name"
    ATTACHED = "attached"
    ATTACHED_AFTER = "attached_after"
    FILLER = "filler"


@dataclass(frozen=True, slots=True)
class Entry:
    """All that one spelling may mean, the most words it may be typed as, and the splits into several that are listed.

    `sorts`: the orders that it asks for, any of which it may mean. `excludes`: what it says is not wanted.
    """

    meanings: tuple[Meaning, ...]
    max_words: int
    listed: tuple[tuple[str, ...], ...] = ()
    role: Role = Role.VALUE
    sorts: tuple[str, ...] = ()
    excludes: tuple[Meaning, ...] = ()

    @property
    def is_name(self) -> bool:
        """Whether it stands for words of names and nothing else."""
        return bool(self.meanings) and not any(meaning.filters for meaning in self.meanings)

    def joined(self, other: "Entry") -> "Entry":
        """Both; the role is this one's."""
        return Entry(
            _both(self.meanings, other.meanings),
            max(self.max_words, other.max_words),
            _both(self.listed, other.listed),
            self.role,
            _both(self.sorts, other.sorts),
            _both(self.excludes, other.excludes),
        )


_Each = TypeVar("_Each")


def _both(first: tuple[_Each, ...], second: tuple[_Each, ...]) -> tuple[_Each, ...]:
    return tuple(dict.fromkeys((*first, *second)))


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a spelling: a field's value, a meaning, an order, what is not wanted, or a role."""

    value: Meaning | None = None
    meaning: Meaning | None = None
    sort: str = ""
    excludes: Meaning | None = None
    role: Role = Role.VALUE


def uses_of(term: VocabularyTerm) -> list[Use]:
    filters = tuple(term.filters.items())
    excludes = Meaning(tuple(term.excludes.items())) if term.excludes else None
    choices = [" ".join(filter(None, (term.words, each))) for each in term.any_words or ("",)]
    meanings = [Meaning(filters, words) if filters or words else None for words in choices]
    return [Use(meaning=meaning, excludes=excludes) for meaning in meanings]


def entries_of(uses: Iterable[tuple[Use, Iterable[str]]]) -> dict[str, Entry]:
    """The entries of spellings, each use with those that have it, by the letters of the spellings."""
    by_letters: dict[str, list[tuple[list[str], Use]]] = {}
    for use, spellings in uses:
        for spelling in spellings:
            words = words_of(spelling)
            by_letters.setdefault(letters_of(words), []).append((words, use))
    # most spellings mean what others mean too: each entry is stored once
    entries: dict[Entry, Entry] = {}
    return {letters: entries.setdefault(entry := _entry_of(each), entry) for letters, each in by_letters.items()}


def _entry_of(uses: Sequence[tuple[Sequence[str], Use]]) -> Entry:
    """The entry of letters with all of their uses, each with the words that it is typed as."""
    if len(uses) == 1:  # as most
        ((words, use),) = uses
        meaning = use.value or use.meaning
        return Entry(
            () if meaning is None else (meaning,),
            _typed_as(words),
            () if len(words) == 1 else (_split(words),),
            use.role,
            (use.sort,) if use.sort else (),
            () if use.excludes is None else (use.excludes,),
        )
    gathered = [use for _, use in uses]
    splits = dict.fromkeys(_split(words) for words, _ in uses)
    meanings = _any_of([use.value for use in gathered if use.value is not None])
    meanings += [use.meaning for use in gathered if use.meaning is not None]
    return Entry(
        tuple(dict.fromkeys(meanings)),
        max(_typed_as(words) for words, _ in uses),
        tuple([words for words in splits if len(words) > 1]),
        _role_of([use.role for use in gathered if use.role is not Role.VALUE]),
        tuple(dict.fromkeys(use.sort for use in gathered if use.sort)),
        tuple(dict.fromkeys(use.excludes for use in gathered if use.excludes is not None)),
    )


def _typed_as(words: Sequence[str]) -> int:
    """The most words that a spelling may be typed as: one more in other scripts, where blanks are set more freely."""
    is_free = len(words) == 1 and len(words[0]) >= MIN_FREE and not words[0].isascii()
    return len(words) + is_free


def _split(words: Sequence[str]) -> tuple[str, ...]:
    # words stand in many spellings, and each string is stored once
    return tuple([intern(letters_of([word])) for word in words])


def _any_of(values: Iterable[Meaning]) -> list[Meaning]:
    """One meaning for each field: any of its values."""
    joined: dict[str, dict[str, None]] = {}
    for value in values:
        for field_name, names in value.filters:
            joined.setdefault(field_name, {}).update(dict.fromkeys(names))
    return [Meaning(((field_name, tuple(names)),)) for field_name, names in joined.items()]


def _role_of(roles: Sequence[Role]) -> Role:
    """The last one, but of a word of exclusion that is a conjunction, too, both."""
    if {Role.EXCLUSION, Role.CONJUNCTION} <= set(roles):
        return Role.NEITHER
    return roles[-1] if roles else Role.VALUE
