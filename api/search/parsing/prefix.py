"""Parses the text of a suggestion request: its words, how each may be written, and which values match them. Pure.

Words are compared folded, alone and joined with their neighbours (`ak47`, `ak 47` and `AK-47` match each other); the
last word may be a prefix. The index does the same with its field's words and joins. A word that the platforms'
vocabularies know is also matched by the words of what it means (`bfk` by Butterfly Knife).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from api.search.parsing.words import MAX_JOIN, words_in
from mappings.folding import fold
from mappings.vocabulary.entries import Meaning
from mappings.vocabulary.misspellings import is_typo
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of, words_of

# One edit from 4 letters, two from 8; swapped neighbours are one; the first letter is never wrong.
ONE_EDIT_FROM, TWO_EDITS_FROM = 4, 8
MIN_UNFINISHED = 2  # letters of a spelling that is being typed
MAX_MEANINGS, MAX_COMPLETIONS = 10, 40  # of a word, and of the words at the end, that are being typed


@dataclass(frozen=True)
class PrefixWord:
    """A typed word: its spellings that are whole words, and its prefixes, the spellings that may be unfinished.

    `names` are what the vocabulary knows it for; all words of a name together match the word.
    """

    text: str
    spellings: tuple[str, ...]
    prefixes: tuple[str, ...]
    names: tuple[str, ...] = ()

    @property
    def max_edits(self) -> int:
        """How many edits away a similar word may be: none for a word with a digit or a known one."""
        if self.names or any(letter.isnumeric() for letter in self.text) or len(self.text) < ONE_EDIT_FROM:
            return 0
        return 1 if len(self.text) < TWO_EDITS_FROM else 2


@dataclass(frozen=True)
class PrefixQuery:
    """A text typed so far, and the vocabularies that know its words; without words it suggests nothing.

    `completed`: its last words may be the beginning of a spelling, and its words may be in the glossary.
    """

    text: str
    vocabularies: tuple[Vocabulary, ...] = ()
    completed: bool = False

    @cached_property
    def words(self) -> tuple[PrefixWord, ...]:
        """Its words in their order."""
        words = words_of(self.text)
        if not self.text.isascii():
            words = [part for word in words for part in _parted(word, self.vocabularies)]
        named = [(word, names) for word, names in zip(words, self._names(words), strict=True) if names is not None]
        return tuple(
            PrefixWord(
                word.typed,
                tuple(spelling for spelling in word.spellings if spelling not in word.endings),
                word.endings,
                tuple(names),
            )
            for word, (_, names) in zip(words_in([word for word, _ in named], open_ended=True), named, strict=True)
        )

    def _names(self, words: list[str]) -> list[dict[str, None] | None]:
        """For each word the names that a vocabulary has for it, or for the spelling that it is a part of.

        None: it says nothing of an item, which is seen where the text is completed.
        """
        names: list[dict[str, None]] = [{} for _ in words]
        letters = [letters_of([word]) for word in words]
        for vocabulary in self.vocabularies:
            spans = _spans(vocabulary, letters)
            if self.completed:
                spans += [*_spans(vocabulary.lexicon, letters), *_unfinished_span(vocabulary, letters)]
            for start, length, meanings in spans:
                of_words = dict.fromkeys(" ".join(words_of(name)) for each in meanings for name in each.names)
                for names_of_word in names[start : start + length]:
                    names_of_word.update(of_words)
        last = len(words) - 1
        return [
            None if self.completed and not each and at < last and self._says_nothing(letters[at]) else each
            for at, each in enumerate(names)
        ]

    def _says_nothing(self, letters: str) -> bool:
        return any(letters in vocabulary.ignored for vocabulary in self.vocabularies)

    @cached_property
    def folded(self) -> str:
        """The text as folded values are compared."""
        return fold(self.text)

    @cached_property
    def _letters(self) -> tuple[tuple[str, ...], ...]:
        return tuple((fold(word.text), *(_letters(name) for name in word.names)) for word in self.words)

    def begins(self, value: str) -> bool:
        """Whether a value begins with the text."""
        return fold(value).startswith(self.folded)

    def matches(self, value: str, *, fuzzy: bool) -> bool:
        """Whether a value has all words; `fuzzy`: or similar ones."""
        letters = _letters(value)
        # nearly all values fail here, and there are thousands; a similar word need not be in them as it is
        if not fuzzy and not all(any(spelling in letters for spelling in spellings) for spellings in self._letters):
            return False
        joins = set(_joins(fold(value)))
        return all(_matches(word, joins, fuzzy) for word in self.words)


@lru_cache(maxsize=50_000)  # the stickers of a game several times over, some megabytes
def _letters(value: str) -> str:
    """All words of a value joined."""
    return "".join(words_of(fold(value)))


def _parted(word: str, vocabularies: tuple[Vocabulary, ...]) -> list[str]:
    """A word of a script without blanks, in the spellings of the first vocabulary that has some in it."""
    parts = (vocabulary.segments(word) for vocabulary in vocabularies)
    return next((each for each in parts if len(each) > 1), [word])


_Span = tuple[int, int, Sequence[Meaning]]
"""Words of a text, the first and how many, and what they mean."""


def _spans(vocabulary: Vocabulary, letters: Sequence[str]) -> list[_Span]:
    """The spellings that a vocabulary knows in a text; the last word may be unfinished in letters that no name has."""
    spans: list[_Span] = []
    for start, length, entry in vocabulary.longest_spellings(letters):
        if entry is not None:
            spans.append((start, length, entry.meanings))
        elif start == len(letters) - 1 and not letters[start].isascii():
            spans.append((start, length, vocabulary.unfinished(letters[start], MAX_MEANINGS)))
    return spans


def _unfinished_span(vocabulary: Vocabulary, letters: Sequence[str]) -> list[_Span]:
    """The most last words that are the beginning of a spelling: `couteau pap` of `couteau papillon`."""
    for start in range(len(letters)):
        beginning = "".join(letters[start:])
        if len(beginning) < MIN_UNFINISHED:
            break
        length = len(letters) - start
        limit = max(1, MAX_COMPLETIONS // length)  # each word has all of them, and the engine takes 1,024 clauses
        meanings = [*vocabulary.unfinished(beginning, limit), *vocabulary.lexicon.unfinished(beginning, limit)][:limit]
        if meanings:
            return [(start, length, meanings)]
    return []


def _joins(folded: str) -> Iterator[str]:
    words = words_of(folded)
    for start in range(len(words)):
        for length in range(1, min(MAX_JOIN, len(words) - start) + 1):
            yield "".join(words[start : start + length])


def _matches(word: PrefixWord, joins: set[str], fuzzy: bool) -> bool:
    if any(fold(spelling) in joins for spelling in word.spellings):
        return True
    if any(all(part in joins for part in fold(name).split()) for name in word.names):
        return True
    prefixes = tuple(fold(prefix) for prefix in word.prefixes)
    if prefixes and any(join.startswith(prefixes) for join in joins):
        return True
    if not (fuzzy and word.max_edits):
        return False
    text = fold(word.text)
    return any(join[:1] == text[:1] and is_typo(text, join, word.max_edits) for join in joins)
