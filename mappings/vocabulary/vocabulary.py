"""A platform's vocabulary: what each spelling means, looked up by its letters. Pure."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any

from pydantic import model_validator

from mappings.collector import gc_paused
from mappings.folding import LAST_LETTER, fold
from mappings.vocabulary.amounts import AmountWords
from mappings.vocabulary.entries import Entry, Meaning, Role, Use, entries_of, uses_of, values_of
from mappings.vocabulary.exclusions import JoinedExclusions
from mappings.vocabulary.inflection import MIN_WORD_STEM, Inflections, by_last_letter, has_endings, may_end, stems_of
from mappings.vocabulary.misspellings import Misspellings, SimilarNames
from mappings.vocabulary.phrases import Phrases, beginnings_of
from mappings.vocabulary.schema import VocabularyFile, VocabularyTerm
from mappings.vocabulary.segments import Segments
from mappings.vocabulary.sounds import Homophones, Loanwords, Sounds
from mappings.vocabulary.words import has_words, letters_of, spelt, words_of

REACH_LETTERS = 4  # of a spelling, by which texts are seen not to have it
# tables that are made from the entries, first those by which spellings are found
_OF_SPELLINGS = ("longest", "_sorted", "_reach", "_stems", "_inflections")
_OF_ENTRIES = (*_OF_SPELLINGS, "_segments", "joined_exclusions", "misspellings")


class Vocabulary(VocabularyFile):
    """A platform's vocabulary, and the tables by which texts are read, each made when it is needed first."""

    @model_validator(mode="after")
    def _spellings_have_letters(self) -> "Vocabulary":
        for spelling in chain.from_iterable(spellings for _, spellings in self._uses()):
            if not has_words(spelling):
                raise ValueError(f"the spelling {spelling!r} has no letter and no digit")
        return self

    def make_tables(self) -> None:
        """Makes every table that reading a text needs, which else the first text does that needs it."""
        with gc_paused():
            for name, attribute in vars(Vocabulary).items():
                if isinstance(attribute, cached_property):
                    getattr(self, name)
            for name in _OF_SPELLINGS:  # suggestions look there, too
                getattr(self.lexicon, name)
            self.amount_words.make_tables()

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """Everything that a spelling's letters may mean; values of one field that share a spelling are one meaning."""
        return entries_of(self._uses())

    def with_terms(self, terms: Sequence[VocabularyTerm]) -> "Vocabulary":
        """This vocabulary and these terms: a spelling that has a meaning gets one more."""
        entries = dict(self.entries)
        for letters, entry in Vocabulary(term=tuple(terms)).entries.items():
            entries[letters] = entries[letters].joined(entry) if letters in entries else entry
        extended = self.model_copy(update={"term": (*self.term, *terms), "entries": entries})
        for derived in _OF_ENTRIES:
            extended.__dict__.pop(derived, None)
        return extended

    @cached_property
    def longest(self) -> int:
        """The most words that a spelling has."""
        return max((entry.max_words for entry in self.entries.values()), default=0)

    def longest_spellings(self, letters: Sequence[str]) -> Iterator[tuple[int, int, Entry | None]]:
        """Words, each by its letters, as their longest spellings: where each begins, its words, and what it means."""
        at = 0
        while at < len(letters):
            length, entry = self.spelling_at(letters, at)
            yield at, length, entry
            at += length

    def spelling_at(self, letters: Sequence[str], at: int) -> tuple[int, Entry | None]:
        """The longest spelling that begins there: how many words it has, and what it means; else one word."""
        windows = self._windows(letters, at)
        for length in range(len(windows), 0, -1):
            entry = self._entry(windows[length - 1])
            if entry is None or length > entry.max_words:
                continue
            if self._is_spelt_so(entry, tuple(letters[at : at + length])):
                return self._inflections.longest_at(letters, at, length) or (length, entry)
        return self._inflections.longest_at(letters, at, 1) or (1, None)

    @cached_property
    def _inflections(self) -> Inflections:
        return Inflections(self.entries.values(), self._endings, spelt(self.linking))

    def _windows(self, letters: Sequence[str], at: int) -> list[str]:
        """The next word, the next two joined, and so on, while a spelling may be as long that begins so."""
        windows, joined = list[str](), ""
        for word in letters[at : at + self.longest]:
            joined += word
            if windows and len(joined) >= REACH_LETTERS and len(joined) > self._reach_of(joined):
                break
            windows.append(joined)
        return windows

    def _reach_of(self, letters: str) -> int:
        """The most letters, an ending included, of spellings that begin so; short ones may have an ending there."""
        get = self._reach.get
        return get(letters[:REACH_LETTERS], 0) or max(get(letters[:3], 0), get(letters[:2], 0), get(letters[:1], 0))

    @cached_property
    def _reach(self) -> dict[str, int]:
        """The length of the longest spelling, its ending included, by its first letters."""
        reach: dict[str, int] = {}
        ending = max(map(len, self._endings), default=0)
        for letters in self.entries:
            beginning = letters[:REACH_LETTERS]
            reach[beginning] = max(reach.get(beginning, 0), len(letters) + ending)
        return reach

    def _entry(self, letters: str) -> Entry | None:
        """What the letters mean, or what they mean with another ending."""
        entry = self.entries.get(letters)
        has_ending = letters[-1:] in self._ending_with
        is_whole = entry is not None or letters in self.ignored
        if is_whole or not (has_ending or self._may_inflect(letters)):
            return entry
        entry = self._without_ending(letters, self.entries) if has_ending else None
        if entry is None and self._may_inflect(letters):
            entry = self._stems.get(letters)
            return self._without_ending(letters, self._stems) if entry is None and has_ending else entry
        return entry

    def _without_ending(self, letters: str, stems: Mapping[str, Entry]) -> Entry | None:
        for ending in self._ending_with.get(letters[-1:], ()):
            stem = letters.removesuffix(ending)
            entry = stems.get(stem) if 0 < len(stem) < len(letters) else None
            if entry is not None and (self._may_inflect(stem) or may_end(entry, stem, ending)):
                return entry if has_endings(entry, stem) else None
        return None

    def _may_inflect(self, letters: str) -> bool:
        return not letters.isascii()  # in letters that names have, another word may be written so

    @cached_property
    def _endings(self) -> frozenset[str]:
        return frozenset(letters_of([ending]) for ending in self.endings)

    @cached_property
    def _ending_with(self) -> dict[str, list[str]]:
        return by_last_letter(self._endings)

    @cached_property
    def _stems(self) -> dict[str, Entry]:
        """Spellings in other letters without their endings: `наклейк` of `наклейка`."""
        return stems_of(self.entries, self._endings, self._may_inflect)

    def unfinished(self, letters: str, limit: int) -> list[Meaning]:
        """What spellings mean that begin with these letters, the shortest first."""
        start, end = (bisect_left(self._sorted, each) for each in (letters, letters + LAST_LETTER))
        meanings = chain.from_iterable(self.entries[each].meanings for each in sorted(self._sorted[start:end], key=len))
        return list(islice(dict.fromkeys(meanings), limit))

    @cached_property
    def _sorted(self) -> list[str]:
        """The letters of its spellings, so that those with a beginning are found."""
        return sorted(self.entries)

    def segments(self, word: str) -> list[str]:
        """A word of a script that parts no words by blanks, in the spellings that are in it; else the word alone."""
        return [word] if word.isascii() or letters_of([word]) in self.entries else self._segments.of(word)

    @cached_property
    def _segments(self) -> Segments:
        return Segments(self.entries, self.ignored | self.carriers, self._endings)

    def _is_spelt_so(self, entry: Entry, letters: tuple[str, ...]) -> bool:
        """Whether the words are this spelling: parted as it is listed, or none of them is known for itself."""
        return len(letters) == 1 or letters in entry.listed or not any(word in self.entries for word in letters)

    def is_known(self, letters: str) -> bool:
        """Whether these letters are one of its spellings or a name."""
        return letters in self.entries or letters in self.phrases

    @cached_property
    def phrases(self) -> Phrases:
        return Phrases((*self.words, *self.finish_names))

    @cached_property
    def unfinished_finishes(self) -> frozenset[str]:
        """The letters with which names of finishes begin, longer than their first word."""
        return beginnings_of(self.finish_names)

    @cached_property
    def lexicon(self) -> "Lexicon":
        """The glossary alone."""
        return Lexicon.model_construct(words=self.glossary, endings=self.endings, linking=self.linking)  # validated

    @cached_property
    def words_of_finishes(self) -> frozenset[str]:
        return frozenset(letters_of([word]) for name in self.finish_names for word in words_of(name))

    @cached_property
    def misspellings(self) -> Misspellings:
        """Its spellings and those of its glossary, without typos."""
        parts = (self.entries, self.lexicon.entries)
        names = [letters for part in parts for letters, entry in part.items() if entry.meanings]
        return Misspellings(dict.fromkeys(chain(*parts)), Homophones(names, self.homophones))

    @cached_property
    def similar_names(self) -> SimilarNames:
        return SimilarNames(self.finish_names, self.lexicon.entries, self.entries)

    @cached_property
    def by_sound(self) -> Sounds:
        """Names of finishes and weapons by how they sound."""
        return Sounds((*self.finish_names, *self.fields.get("weapon", ())), self.sounds)

    @cached_property
    def loanwords(self) -> Loanwords:
        """Names and their words by how scripts of syllables write them."""
        names = (*self.finish_names, *self.fields.get("weapon", ()), *self.words, *self.glossary)
        return Loanwords(names, self.syllables)

    @cached_property
    def finish_phrases(self) -> Phrases:
        """Names of finishes, which no thing on an item has."""
        return Phrases(self.finish_names)

    def is_split_spelling(self, words: Sequence[str]) -> bool:
        """Whether several words are listed as one spelling: `5`, `7` are, `1`, `5` are not though `15` is one."""
        letters = tuple(letters_of([word]) for word in words)
        entry = self.entries.get("".join(letters))
        return len(letters) > 1 and entry is not None and letters in entry.listed

    @cached_property
    def ignored(self) -> frozenset[str]:
        """The letters of what says nothing of an item."""
        return spelt(self._of_no_item) | self.trade_words | self.skins

    @property
    def _of_no_item(self) -> tuple[str, ...]:
        return (*self.fillers, *self.measures, *self.counters)

    def begins_with_measure(self, letters: Sequence[str]) -> bool:
        """Whether words, each by its letters, begin with what says how long or how many behind a number."""
        return any("".join(letters[:length]) in self._measure_letters for length in (1, 2))

    @cached_property
    def _measure_letters(self) -> frozenset[str]:
        return spelt(self.measures)

    @cached_property
    def counter_letters(self) -> frozenset[str]:
        """The letters of what says before a number what of no item it counts."""
        return spelt(self.counters)

    @cached_property
    def purpose(self) -> re.Pattern[str] | None:
        """What stands between a thing and the one that it is for; None if no words for that are known."""
        spelt_out = (
            re.escape(each).replace(r"\ …\ ", r"(?:\s+\w+){1,3}\s+").replace(r"\ ", r"\s+") for each in self.purposes
        )
        words = "|".join(spelt_out)
        return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE) if words else None

    @cached_property
    def trade_words(self) -> frozenset[str]:
        """The letters of what trade posts say, which says nothing of an item."""
        return self.selling | self.buying | self.seeking | self.exchanging

    def is_payment(self, text: str) -> bool:
        """Whether a text says nothing but what is paid with."""
        words = words_of(text)
        letters = [letters_of([word]) for word in words if not word.isnumeric()]
        has_number = len(letters) < len(words)  # `budget 450` is what is paid at most
        is_named = any(each in self.payments for each in letters) or not (letters and has_number)
        return is_named and all(each in self.payments or each in self.ignored for each in letters)

    @cached_property
    def second_meanings(self) -> Mapping[str, tuple[Meaning, ...]]:
        """What letters mean where their first meaning finds nothing."""
        others = [each for each in self.term if each.otherwise]
        terms = tuple(VocabularyTerm(spellings=each.spellings, filters=each.otherwise) for each in others)
        spelt_so = Vocabulary.model_construct(fields=self.otherwise, term=terms).entries
        return {
            letters: entry.meanings
            for letters, entry in spelt_so.items()
            if letters not in self.entries or self.entries[letters].meanings != entry.meanings
        }

    @cached_property
    def finishes(self) -> frozenset[str]:
        return frozenset(self.folded_finishes)

    @cached_property
    def folded_finishes(self) -> Mapping[str, tuple[str, ...]]:
        """The names of finishes by their letters, as the index has them (`boom`: `boom` and `boom!`)."""
        names: dict[str, tuple[str, ...]] = {}
        for name in self.finish_names:
            letters = letters_of(words_of(name))
            names[letters] = (*names.get(letters, ()), fold(name))
        return names

    @cached_property
    def amount_words(self) -> AmountWords:
        return AmountWords(self.amounts, self.prices, self.ranges, self.numerals)

    def is_name(self, letters: str) -> bool:
        """Whether these letters are the name of a finish, or of a case without its last word."""
        return letters in self.finishes or any(letters + last in self.phrases for last in self._last_letters)

    @cached_property
    def _last_letters(self) -> frozenset[str]:
        return spelt(tuple(self.last_words))

    def narrows(self, meanings: Iterable[Meaning]) -> bool:
        """Whether a word of these meanings narrows a text that has other words too."""
        fields = [[field for field, _ in meaning.filters] for meaning in meanings]
        return bool(fields) and all(any(name in self.narrowing for name in names) for names in fields)

    @cached_property
    def last_words(self) -> Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]]:
        """The last word of names of things that others open (`case`), which people leave out, and its type."""
        types = [term for term in self.term if set(term.filters) == {"type"} and len(words_of(term.words)) == 1]
        opened = (term for term in types if self.opened.issuperset(term.filters["type"]))
        return {term.words: tuple(term.filters.items()) for term in opened}

    @cached_property
    def opened(self) -> frozenset[str]:
        """The types of things that others open."""
        return frozenset[str]().union(*self.opens.values())

    @cached_property
    def plain(self) -> tuple[Meaning, ...]:
        """The qualities that a plain item has not."""
        return tuple(Meaning(tuple(term.excludes.items())) for term in self.term if "quality" in term.excludes)[:1]

    @cached_property
    def joined_exclusions(self) -> JoinedExclusions:
        """Values that a word excludes which is written together with what says so: `nonstattrak`."""
        words, endings = spelt(self.exclusions), spelt(self.exclusion_endings)
        return JoinedExclusions(self.entries, words, endings, self.attached)

    @cached_property
    def exclusions_beside(self) -> frozenset[str]:
        """The letters of what excludes what follows, or what stands before (`не интересует`)."""
        return spelt(self.exclusions) & spelt(self.exclusions_after)

    def excludable(self, meanings: tuple[Meaning, ...]) -> tuple[Meaning, ...]:
        """The meanings that an exclusion is of: of a type and a word of names, the word (`capsule, no autograph`)."""
        named = tuple(meaning for meaning in meanings if meaning.words)
        return named if named and self.is_attached(meanings) else meanings

    def is_attached(self, meanings: Iterable[Meaning]) -> bool:
        """Whether one of the meanings is a type of things that are put on other items."""
        return not self.attached.isdisjoint(values_of(meanings, "type"))

    def _uses(self) -> Iterator[tuple[Use, Iterable[str]]]:
        """Every use with the spellings that have it."""
        for field_name, values in self.fields.items():
            for value, spellings in values.items():
                yield Use(value=Meaning(((field_name, (value,)),))), (value, *spellings)
        for words, spellings in self.words.items():
            # a `chroma case` is a case, not its key
            yield Use(meaning=Meaning(self.last_words.get(words.rpartition(" ")[2], ()), words)), spellings
        for term in self.term:
            yield from ((use, term.spellings) for use in uses_of(term))
        for sort, spellings in self.sorts.items():
            yield Use(sort=sort), spellings
        yield Use(role=Role.EXCLUSION), self.exclusions
        yield Use(role=Role.EXCLUSION_AFTER), self.exclusions_after
        yield Use(role=Role.ALTERNATIVE), self.alternatives
        yield Use(role=Role.CONJUNCTION), self.conjunctions
        yield Use(role=Role.NAME), self.names
        yield Use(role=Role.ATTACHED), self.has_attached
        yield Use(role=Role.ATTACHED_AFTER), self.attached_after
        yield Use(role=Role.FILLER), [each for each in self._of_no_item if len(words_of(each)) > 1]


class Lexicon(Vocabulary):
    """Words that are read where a text as it stands finds nothing, so that each may have any ending."""

    def _may_inflect(self, letters: str) -> bool:
        return not letters.isascii() or len(letters) >= MIN_WORD_STEM


def merged(vocabularies: Sequence[Vocabulary]) -> Vocabulary:
    """One vocabulary of several: the platform's own first, then its languages."""
    parts: dict[str, Any] = {}
    for vocabulary in vocabularies:
        for name in Vocabulary.model_fields:
            value = getattr(vocabulary, name)
            parts[name] = _joined(parts[name], value) if name in parts else value
    return Vocabulary.model_construct(**parts)  # each was validated


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, Mapping):
        both = {key: _joined(first[key], second[key]) for key in first if key in second}
        return {**first, **second, **both}
    return first | second if isinstance(first, frozenset) else second if isinstance(first, str) else (*first, *second)
