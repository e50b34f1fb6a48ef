"""Looks up the words of a text in a vocabulary, and tells which numbers are of no item. Pure."""

import re
from collections.abc import Sequence
from dataclasses import replace

from api.search.parsing.words import (
    MAX_JOIN,
    MAX_NAME,
    Term,
    Word,
    attached_at,
    count_at,
    few_in,
    finished,
    is_count,
    is_opened,
    is_pasted,
    is_share,
    names_in,
    words_in,
)
from mappings.vocabulary.entries import Entry, Meaning, Role, values_of
from mappings.vocabulary.numerals import UNSPACED
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of, letters_of_text

YEAR = re.compile(r"20[12]\d")
MAX_MANY_DIGITS = 3  # of how many cases are wanted: four are an amount
MAX_BEFORE_EXCEPTION = 3  # words between `any` and the `but` that it goes with
MIN_MISTYPED = 6  # letters of a value that is not wanted: `no scams` says nothing of a SCAR-20
EITHER = re.compile(r"\s*/\s*")
_AND = re.compile(r"\s*&\s*")
PART_END = re.compile(r"\s*[,.;!|)、，。]")
NEGATING = (Role.EXCLUSION, Role.EXCLUSION_AFTER, Role.NEITHER)
JOINING = (Role.ALTERNATIVE, Role.CONJUNCTION, Role.NEITHER)
ONE_VALUE = frozenset(("exterior", "phase", "quality"))
ONE_OF = ONE_VALUE | {"weapon"}  # `glock and usp`: an item is one of them
_EXCEPTION = Entry((), 1, role=Role.EXCLUSION)
_OF_ITEMS = (Role.ATTACHED, Role.ATTACHED_AFTER, Role.NAME)


class Spellings:
    """The words of a piece of a text with the gaps between them, and what they are in the vocabulary."""

    def __init__(self, words: list[str], gaps: list[str], vocabulary: Vocabulary, *, open_ended: bool) -> None:
        self._words = words_in(words, open_ended=open_ended)
        self._letters = [letters_of([word]) for word in words]
        self._letters_of = dict(zip(words, self._letters, strict=True))
        self._gaps = gaps
        self._vocabulary = vocabulary
        self._numerals = vocabulary.amount_words.numerals
        self._spellings: dict[int, tuple[int, Entry | None]] = {}

    def _spelling_at(self, at: int) -> tuple[int, Entry | None]:
        """The vocabulary's longest spelling that begins there, looked up once."""
        if at not in self._spellings:
            length, entry = self._vocabulary.spelling_at(self._letters, at)
            if length > 1 and entry is not None and entry.meanings and (end := self._end_within(at, at + length)):
                length, entry = self._vocabulary.spelling_at(self._letters[:end], at)
            if self._letters[at] in self._vocabulary.exceptions and self._is_exception(at):
                length, entry = 1, _EXCEPTION
            self._spellings[at] = length, entry
        return self._spellings[at]

    def _is_exception(self, at: int) -> bool:
        """Whether the thing or the finish behind the word there is what `any` shortly before does not mean.

        So it is in `any gloves but hydra`. In `any ak but must be ft` and `any ak but redline only` it is wanted.
        """
        first = at + 1 + self._is_article(at + 1)
        if first >= len(self._words) or self._says_nothing(first):
            return False
        term, end = self._term_at(first)
        is_value = bool(term.fields & ONE_VALUE) or self._vocabulary.is_attached(term.meanings)
        goes_on = end < len(self._words) and not PART_END.match(self._gaps[end]) and self._says_nothing(end)
        entry = self._spelling_at(first)[1]
        if is_value or goes_on or (entry is not None and (entry.sorts or entry.role is not Role.VALUE)):
            return False
        for position in range(at - 1, max(-1, at - 1 - MAX_BEFORE_EXCEPTION), -1):
            if self._gaps[position + 1].strip():
                return False
            if self._letters[position] in self._vocabulary.universals:
                before = map(self._vocabulary.entries.get, self._letters[max(0, position - 2) : position])
                return not any(each is not None and each.role is Role.EXCLUSION for each in before)  # `not just any …`
        return False

    def _says_nothing(self, at: int) -> bool:
        """Whether the word there says nothing of an item, and joins no other thing to the one before it."""
        letters = self._letters[at]
        _, entry = self._vocabulary.spelling_at(self._letters, at)
        is_joining = entry is not None and entry.role in JOINING
        return not is_joining and (letters in self._vocabulary.grammar or letters in self._vocabulary.ignored)

    def _end_within(self, at: int, end: int) -> int:
        """Where what is said of an item ends inside the letters of a spelling; 0: it is the spelling.

        So it is before the slash of two alternatives (`no doppler/gamma`), and before a `with` that stickers follow.
        """
        if self._says_it_is_attached(end - 1):
            return end - 1
        halves = [
            (self._letters[at:position], self._letters[position:end])
            for position in range(at + 1, end)
            if EITHER.fullmatch(self._gaps[position])
        ]
        return next((at + len(first) for first, rest in halves if self._is_said(first) and self._is_said(rest)), 0)

    def _is_said(self, letters: list[str]) -> bool:
        """Whether the words say something of an item for themselves, or are of the names of finishes."""
        entry = self._vocabulary.entries.get("".join(letters))
        return bool(entry and entry.meanings) or self._vocabulary.words_of_finishes.issuperset(letters)

    def _says_it_is_attached(self, at: int) -> bool:
        """Whether the word there is a `with` before stickers, not the end of a name (`юсп с наклейками`)."""
        if self._letters[at] not in self._vocabulary.carriers:
            return False
        next_at = at + 1 + bool(few_in("".join(word.typed for word in self._words[at + 1 : at + 2]), self._numerals))
        if next_at >= len(self._words):
            return False
        _, next_entry = self._vocabulary.spelling_at(self._letters, next_at)
        return next_entry is not None and self._vocabulary.is_attached(next_entry.meanings)

    def _after_exclusions(self, at: int, *, modified: bool = True) -> int:
        """The next word that is neither of exclusion nor of grammar: `not a`, `but not the`.

        Nor is it right behind an exclusion what is said of the thing (`no nice knife`), with `modified` from there on;
        of `not so nice` the thing is wanted.
        """
        while at < len(self._words):
            length, entry = self._spelling_at(at)
            is_exclusion = entry is not None and entry.role is Role.EXCLUSION
            modified = is_exclusion or (modified and self._is_modifier(at, length))
            is_passed = modified or self._letters[at] in self._vocabulary.grammar
            if _says_something(entry) or not (is_exclusion or (is_passed and not self._ends_part(at))):
                break
            at += length
        return self._value_after_fillers(at)

    def _is_modifier(self, at: int, length: int) -> bool:
        """Whether the word there is said of the thing behind it, and no part of a name (`cool mint`)."""
        is_one = self._letters[at] in self._vocabulary.modifiers
        return is_one and self._vocabulary.phrases.length_at(self._letters, at) <= length

    def _is_article(self, at: int) -> bool:
        """Whether an article is there, or another word that is said of the thing behind it."""
        return at >= 0 and at + 1 < len(self._words) and self._is_modifier(at, 1)

    def _value_after_fillers(self, at: int) -> int:
        """The wear, quality or phase, or what is attached, behind fillers (`no nice stickers`); `at` if none is."""
        end = at
        while end < len(self._words) and (after := self._after_filler(end)) > end and not self._ends_part(after - 1):
            end = after
        if not at < end < len(self._words):
            return at
        term, _ = self._term_at(end)
        return end if term.fields & ONE_VALUE or self._vocabulary.is_attached(term.meanings) else at

    def _ends_part(self, at: int) -> bool:
        """Whether another part of the text follows the word there: `please, …`."""
        return at + 1 < len(self._words) and bool(PART_END.match(self._gaps[at + 1]))

    def _after_filler(self, at: int) -> int:
        """The word behind the filler there; the same one if it is none, or part of a name (`high beam`)."""
        length, entry = self._spelling_at(at)
        is_filler = self._letters[at] in self._vocabulary.ignored or (entry is not None and entry.role is Role.FILLER)
        is_name = self._vocabulary.phrases.length_at(self._letters, at) > length
        return at if _says_something(entry) or is_name or not is_filler else at + length

    def _is_grammar(self, term: Term) -> bool:
        """Whether it may stand between what is not wanted and a word of exclusion behind it: `bs는 제외`."""
        return term.is_mere and letters_of([term.typed]) in self._vocabulary.grammar

    def _is_negation(self, at: int, role: Role) -> bool:
        """Whether the word there says that others are not wanted; `or not` and half of a `ni … ni` do not."""
        if role is Role.NEITHER:
            return at + 1 < len(self._words) and bool(self._term_at(at + 1)[0].fields)
        before = self._vocabulary.entries.get(self._letters[at - 1]) if at else None
        is_joined = before is not None and before.role is Role.ALTERNATIVE
        return not is_joined

    def _is_conjunction(self, term: Term) -> bool:
        entry = self._vocabulary.entries.get(letters_of([term.typed]))
        return entry is not None and not entry.meanings and entry.role in JOINING

    def _is_order(self, at: int) -> bool:
        _, entry = self._spelling_at(at)
        return entry is not None and bool(entry.sorts) and not entry.meanings

    def _is_of_same_field(self, term: Term, other: Term) -> bool:
        """Whether both are values of one field, or names of finishes or cases."""
        if term.fields or other.fields:
            return term.fields == other.fields
        names = [words for each in (term, other) for words in names_in(each)]
        return all(self._vocabulary.is_name(letters_of(words)) for words in names)

    def _translated(self, term: Term) -> Term:
        """A term that is no known name by what it translates: an item has that in English."""
        if term.is_attached and not term.meanings:
            return replace(term, meanings=(Meaning((("type", tuple(self._vocabulary.attached)),)),))
        letters = [self._letters_of.get(word.typed, "") for word in term.words]
        if term.meanings or self._vocabulary.words_of_finishes.issuperset(letters):
            return term
        length, entry = self._vocabulary.lexicon.spelling_at(letters, 0)
        return term if entry is None or length < len(letters) else replace(term, meanings=entry.meanings)

    def _excluded_at(self, at: int) -> tuple[Term, int]:
        """As `_term_at`, of a value or a weapon with typos, too: `no souvenr`, `not minmal wear`."""
        term, end = self._term_at(at)
        for part in (self._words[at : at + 2], self._words[at : at + 1]):
            if term.is_mere and (meanings := self._value_meant(part)):
                return Term(finished(tuple(part)), meanings), at + len(part)
        return term, end

    def _value_meant(self, words: Sequence[Word]) -> tuple[Meaning, ...]:
        """The value or the weapon that words which are in no name are but for a typo; empty: they are none."""
        letters = [self._letters_of.get(word.typed, "") for word in words]
        joined, is_last_known = "".join(letters), letters[-1] in self._vocabulary.entries
        is_first_known = letters[0] in self._vocabulary.words_of_finishes or self._vocabulary.is_known(letters[0])
        if len(joined) < MIN_MISTYPED or is_first_known or is_last_known:
            return ()
        entry = self._vocabulary.entries.get(self._vocabulary.misspellings.nearest(joined))
        return entry.meanings if entry is not None and _is_value(entry) else ()

    def _with_respelt(self, term: Term) -> list[Term]:
        """A term as the value or the weapon that it is but for a typo, or as itself and such a finish."""
        letters = self._letters_of.get(term.typed, "")
        if term.fields or term.meanings or letters in self._vocabulary.words_of_finishes:
            return [term]
        if term.is_mere and (meanings := self._value_meant(term.words)):
            return [replace(term, meanings=meanings)]
        spelling = self._vocabulary.misspellings.nearest(letters) if letters.isalpha() else ""
        entry = self._vocabulary.entries.get(spelling) or self._vocabulary.lexicon.entries.get(spelling)
        is_finish = entry is not None and any(
            letters_of_text(meaning.words) in self._vocabulary.finishes for meaning in entry.meanings
        )
        return [term, replace(term, meanings=entry.meanings)] if entry is not None and is_finish else [term]

    def _connection_at(self, at: int) -> tuple[int, bool] | None:
        """Where it goes on with what is not wanted, and whether only with values of the same field."""
        if at >= len(self._words):
            return None
        start, of_same_field = at, False
        if _AND.fullmatch(self._gaps[at]):
            of_same_field = True
        elif not EITHER.fullmatch(self._gaps[at]):
            length, entry = self._spelling_at(at)
            if entry is None or entry.meanings or entry.role not in JOINING:
                return None
            start, of_same_field = at + length, entry.role is Role.CONJUNCTION
        after = self._after_exclusions(start, modified=False)
        of_same_field = of_same_field and after == start
        return None if after == len(self._words) or self._is_order(after) else (after, of_same_field)

    def _goes_on_at_once(self, at: int, term: Term) -> bool:
        """Whether the word there is of the same list as a value before it, without a word between.

        In `no bs fn` Factory New is wanted: exteriors are better or worse, phases are not.
        """
        gap = self._gaps[at]
        return bool(UNSPACED.match(self._letters[at])) if not gap else gap.isspace() and term.fields == {"phase"}

    def _excludes_more(self, end: int) -> bool:
        """Whether the words behind end with another word of exclusion: in `战痕不要 暗金不要` each is of one value."""
        entry = self._vocabulary.entries.get(self._letters[-1]) if end < len(self._words) else None
        return entry is not None and entry.role in (Role.EXCLUSION, Role.EXCLUSION_AFTER)

    def _with_first_words(self, number: Term, last: Term) -> Term:
        """A number behind the first words of the last term, if that is a value: `phase 2 or 4`."""
        letters = letters_of([word.typed for word in (*last.words[:-1], *number.words)])
        entry = self._vocabulary.entries.get(letters) if last.fields and number.typed.isnumeric() else None
        return number if entry is None else replace(number, meanings=entry.meanings)

    def _with_last_word(self, term: Term, value: Term) -> Term:
        """A term before a value with whose last word it is one, too: `hydra or bloodhound gloves`."""
        if not value.fields or len(value.words) < 2 or term.fields == value.fields:
            return term
        letters = letters_of([word.typed for word in (*term.words, value.words[-1])])
        entry = self._vocabulary.entries.get(letters)
        if entry is None:
            return term
        extended = replace(term, words=finished(term.words), meanings=entry.meanings, is_filler=False)
        return extended if extended.fields == value.fields else term

    def _completes_finish(self, at: int, end: int) -> bool:
        """Whether the last word, unfinished, goes on with the name of a finish that the words before it begin.

        `lightning st` is Lightning Strike; in `redline st` the name is whole.
        """
        if end < len(self._words) or not at or not self._words[at].is_last:
            return False
        before = ["".join(self._letters[start:at]) for start in range(max(0, at - MAX_JOIN), at)]
        if any(letters in self._vocabulary.finishes for letters in before):
            return False
        last = "".join(self._letters[at:end])
        return any(letters + last in self._vocabulary.unfinished_finishes for letters in before)

    def _term_at(self, at: int) -> tuple[Term, int]:
        """The term that begins there, a known name as one, and where it ends."""
        length, entry = self._spelling_at(at)
        if (phrase := self._vocabulary.phrases.length_at(self._letters, at)) > length:
            length, entry = phrase, None
        words, meanings = tuple(self._words[at : at + length]), entry.meanings if entry else ()
        roles = (Role.ATTACHED, Role.ATTACHED_AFTER)
        is_attached = entry is not None and entry.role in roles and not meanings  # `not stickered`
        return Term(finished(words) if meanings else words, meanings, is_attached=is_attached), at + length

    def _is_many_at(self, at: int) -> bool:
        """Whether the number there says how many are wanted, how long, or which share: `50 cases`, `五个`, `20%`."""
        if self._is_date_at(at) or is_share(self._letters, self._gaps, at):
            return True
        measure = self._letters[at + 1 : at + 2]
        if measure and not self._gaps[at + 1] and measure[0] in self._vocabulary.ignored:
            return bool(few_in(self._words[at].typed, self._numerals)) or self._is_measure_at(at)
        if not self._letters[at].isdecimal() or YEAR.fullmatch(self._letters[at]) or self._ends_name(at):
            return False
        is_before = self._is_before_opened(at) or self._is_before_thing(at)
        return is_before or self._is_counted_before(at) or self._is_measure_at(at)

    def _ends_name(self, at: int) -> bool:
        """Whether the number there is of a name: `gamma 2 case`."""
        return bool(at) and "".join(self._letters[at - 1 : at + 1]) in self._vocabulary.phrases

    def _is_before_opened(self, at: int) -> bool:
        """Whether things that can be opened are behind the number there: `50 cases`, `20 broken fang cases`."""
        if len(self._letters[at]) > MAX_MANY_DIGITS or at + 1 == len(self._words):
            return False
        last = min(at + 1 + MAX_NAME, len(self._words) - 1)
        plurals = [end for end in range(at + 2, last + 1) if self._letters[end].endswith("s")]
        opened = (end for end in (at + 1, *plurals) if is_opened(self._spelling_at(end)[1], self._vocabulary))
        return any(self._are_one_name(at + 1, end) for end in opened)

    def _is_before_thing(self, at: int) -> bool:
        """Whether a thing is behind the digit there, and nothing or a filler before: `1 ak`, `looking 4 knives`.

        Of two digits it is where the text ends with a plural: `10 awp asiimovs`.
        """
        if len(self._letters[at]) > 1 + self._letters[-1].endswith("s") or at + 1 == len(self._words):
            return False
        if at == 0 and self._letters[0] == "1" and self._gaps[1].isspace() and self._letters[1].isalpha():
            return True  # `1 blue laminate`
        _, entry = self._spelling_at(at + 1)
        meanings = entry.meanings if entry is not None else ()
        is_thing = bool(values_of(meanings, "weapon") or values_of(meanings, "type"))
        if not is_thing or self._vocabulary.is_attached(meanings):
            return False
        return not at or self._letters[at - 1] in self._vocabulary.ignored

    def _are_one_name(self, start: int, end: int) -> bool:
        """Whether the words from there on may be of one name: not `661 for 200 keys`, nor `661 300 keys`."""
        if self._spelling_at(start)[0] >= end - start > 1:
            return True  # `100 dreams and nightmares cases`
        between = range(start, end)
        numbers = [at for at in between if self._letters[at].isdecimal()]
        is_apart = any(self._letters[at] in self._vocabulary.ignored for at in between)
        return not is_apart and all(at > start and self._ends_name(at) for at in numbers)

    def _is_command(self) -> bool:
        """Whether the first word may be the name of a chat bot's command: `!price`, `!knife`."""
        length, entry = self._spelling_at(0)
        is_kind = entry is not None and bool(values_of(entry.meanings, "type"))
        return (is_kind and length < len(self._words)) or self._letters[0] in self._vocabulary.ignored

    def _is_measure_at(self, at: int) -> bool:
        """Whether the number there says how long or how many: `7 days`, `15days`, `13 years old`, `3 pieces`."""
        return self._vocabulary.begins_with_measure(self._letters[at + 1 :])

    def _is_counted_before(self, at: int) -> bool:
        """Whether the word before the number there says what of no item it counts: `kills: 1204`, `lvl 10`."""
        return bool(at) and self._letters[at - 1] in self._vocabulary.counter_letters

    def _is_date_at(self, at: int) -> bool:
        """Whether the number there is a year in brackets behind a name: `gamma case (2016)`."""
        is_enclosed = self._gaps[at].endswith("(") and self._gaps[at + 1].startswith(")")
        return at > 0 and is_enclosed and bool(YEAR.fullmatch(self._letters[at]))

    def _word_term(self, at: int, role: Role) -> Term:
        """A mere word, or one that says how many."""
        letters, ignored = self._letters[at], self._vocabulary.ignored
        count = count_at(self._letters, at) or attached_at(self._words[at].typed, self._letters, at, self._vocabulary)
        carries = letters in self._vocabulary.carriers
        is_many = carries or self._is_many_at(at) or is_count(self._letters, self._gaps, at, ignored)
        fills = bool(count) or is_many or letters in ignored or role is Role.FILLER
        fills = fills and role is not Role.NAME and not is_pasted(self._gaps, at)
        negates = role in NEGATING and not fills and self._is_negation(at, role)
        second = self._vocabulary.second_meanings.get(letters, ())
        term = Term((self._words[at],), (), second, is_filler=fills, is_negation=negates, count=count, carries=carries)
        return replace(term, is_foreign=True) if letters in self._vocabulary.foreign_goods else term


def _says_something(entry: Entry | None) -> bool:
    """Whether a spelling says something of an item or its order: `gut` is a filler in German, too."""
    return entry is not None and (bool(entry.meanings or entry.sorts) or entry.role in _OF_ITEMS)


def _is_value(entry: Entry) -> bool:
    """Whether it means nothing but values of fields of which an item has one, or a weapon."""
    fields = {name for meaning in entry.meanings for name, _ in meaning.filters}
    return bool(fields) and fields <= ONE_OF and not any(meaning.words for meaning in entry.meanings)
