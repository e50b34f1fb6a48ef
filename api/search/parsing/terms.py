"""Reads words of a text as terms: what an item must match, what it must not match, and the order asked for. Pure.

A word is not wanted behind a word of exclusion (`no`, `without`) or a minus that begins a word (`-awp`). What is not
wanted goes on behind `or`, `/`, and behind `and` with values of the same field (`no stattrak and souvenir`). Between
two values of one field, `or`, `/` and `+` mean either (`glock/usp`).
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from api.search.parsing.attachments import attached_named, is_on_items, names_thing, with_names_before
from api.search.parsing.spellings import EITHER, JOINING, ONE_OF, ONE_VALUE, PART_END, Spellings
from api.search.parsing.words import (
    ParsedWords,
    Term,
    finished,
    is_named,
    segmented,
    with_counts_apart,
    words_of_last_name,
)
from mappings.vocabulary.entries import Entry, Role
from mappings.vocabulary.numerals import UNSPACED
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import words_and_gaps

MAX_ALTERNATIVES = 10  # of one term
_KANA = re.compile(r"[\u3040-\u30ff]")
_MINUS = re.compile(r"(?:^|[\s(\[,;|])(?:--|[-\u2013\u2014\u2212!])[\"\u201c\u201d\u00ab\u201e]?\(?$")
_QUALITY = "quality"
_PART_START = re.compile(r"\s*[,;(]\s*")
_TYPES = frozenset(("type",))
_ONE_OF_TWO = ONE_OF | _TYPES  # no item has two: `redline and vulcan`, `knives and gloves`
_COMMA = re.compile(r"\s*[,、，]\s*")
_AMPERSAND = re.compile(r"\s*&\s*")
_PLUS = re.compile(r"\s*\+\s*")
# a name behind a plus may be a sticker's (`redline + crown foil`)
_JOINTS = (EITHER, True, None), (_COMMA, True, _TYPES), (_AMPERSAND, True, _ONE_OF_TWO), (_PLUS, False, None)


def parse_words(
    text: str, vocabulary: Vocabulary, *, open_ended: bool, before_quantity: bool, after_quantity: bool
) -> ParsedWords:
    """Parses a piece of a text; `open_ended`: its last word may be unfinished."""
    words, gaps = words_and_gaps(text)
    if not words:
        return ParsedWords()
    if not text.isascii():
        words, gaps = segmented(words, gaps, vocabulary)
    words, gaps = with_counts_apart(words, gaps, vocabulary.ignored)
    reader = _Reader(words, gaps, vocabulary, open_ended=open_ended, after_quantity=after_quantity)
    return reader.read(before_quantity=before_quantity)


class _Reader(Spellings):
    """Reads words from the first to the last."""

    def __init__(
        self, words: list[str], gaps: list[str], vocabulary: Vocabulary, *, open_ended: bool, after_quantity: bool
    ) -> None:
        super().__init__(words, gaps, vocabulary, open_ended=open_ended)
        self._after_quantity = after_quantity
        self._parsed = ParsedWords()
        self._at = 0
        self._order_until = 0  # where the last word of an order ends
        self._excluded_until = 0  # where the last word of exclusion with what it excludes ends
        self._is_known = False  # the last spelling is one of the vocabulary's

    def read(self, *, before_quantity: bool) -> ParsedWords:
        """Reads all words."""
        while self._at < len(self._words):
            length, entry = self._spelling_at(self._at)
            joined = self._vocabulary.joined_exclusions.excluded_by(self._letters[self._at])
            if entry is not None and entry.meanings and self._is_no_value(self._at + length):
                entry = None
            self._is_known = entry is not None and bool(entry.meanings)
            if self._is_minus():
                self._exclude(self._at, lists=False)
            elif joined is not None:  # a value, written together with what excludes it
                kind = Term((self._words[self._at],), joined.meanings)
                self._exclude_term(with_names_before(kind, self._parsed.terms, self._vocabulary))
                self._at += 1
            elif not self._has_role(length, entry, before_quantity=before_quantity):
                self._add(length, entry)
        if self._is_known:  # a known word is finished, and with it what is joined with it
            self._parsed.finish_last()
        return self._parsed

    def _is_no_value(self, end: int) -> bool:
        """Whether what is a spelling of the vocabulary's says how many, or is the end of a name."""
        is_number = end == self._at + 1 and self._letters[self._at].isdecimal()
        return (is_number and self._is_many_at(self._at)) or self._completes_finish(self._at, end)

    def _is_minus(self) -> bool:
        """Whether a minus before the word says that it is not wanted: `awp -asiimov`, not `glock -18`.

        Before a word that says nothing of an item, or what kind of thing it is, `!` begins a command: `!price awp`.
        """
        gap = self._gaps[self._at]
        if not _MINUS.search(gap) or (self._at and len(gap) == 1):
            return False
        if not self._at and gap.strip() == "!" and self._is_command():
            return False
        return not (self._at and self._vocabulary.is_known("".join(self._letters[self._at - 1 : self._at + 1])))

    def _has_role(self, length: int, entry: Entry | None, *, before_quantity: bool) -> bool:
        """Whether the spelling there says how others are meant; if so it is read."""
        end = self._at + length
        if entry is None or entry.meanings:
            return False
        if self._is_of_what_follows(end, entry.role, before_quantity=before_quantity):
            return self._read_exclusion(end, before_quantity=before_quantity)
        if entry.role in JOINING:
            fields = None if entry.role is Role.ALTERNATIVE else _ONE_OF_TWO  # `redline and vulcan`, no item has both
            return bool(self._parsed.terms) and end < len(self._words) and self._is_either(end, fields=fields)
        is_exclusion = entry.role in (Role.EXCLUSION, Role.EXCLUSION_AFTER)
        if is_exclusion and self._at == self._excluded_until > 0:
            pass  # the second half of `除了 … 以外`, or the same again: `暗金没必要，不要`
        elif is_exclusion and self._at == self._order_until > 0:
            self._parsed.sorts.pop()  # `高い順じゃなくて`, `high float: no`
            self._order_until = 0
        elif entry.role is Role.EXCLUSION_AFTER and self._is_of_amount():
            self._parsed.excludes_before = True  # `50달러 이상은 제외`
        elif is_exclusion and self._parsed.terms:
            self._exclude_last(alone=entry.role is Role.EXCLUSION and self._is_of_last_alone())
            self._excluded_until = end
        elif entry.role is Role.ATTACHED or (entry.role is Role.ATTACHED_AFTER and self._ends_with_name()):
            part = finished(tuple(self._words[self._at : end]))
            self._parsed.terms.append(Term(part, is_attached=True))
        elif entry.sorts:
            self._parsed.sorts.append(entry.sorts)
            self._order_until = end
        elif entry.excludes:
            self._exclude_term(Term(tuple(self._words[self._at : end]), entry.excludes))
        else:
            return False
        self._at = end
        return True

    def _is_neither(self, end: int) -> bool:
        """Whether it says so of what follows: it goes on with what is not wanted, or comes again (`ni fn ni mw`).

        A filler of other languages is meant only where it has an accent (`né`), or before qualities (`ne st ne sv`).
        """
        letters, typed = self._letters[self._at], self._words[self._at].typed.lower()
        if letters in self._vocabulary.ignored and typed == letters:
            is_value = end < len(self._words) and bool(self._term_at(end)[0].fields & ONE_VALUE)
            return is_value and letters in self._letters[end:]
        return self._at == self._excluded_until > 0 or letters in self._letters[end:]

    def _ends_with_name(self) -> bool:
        """Whether what was read last may be the name of what is on an item: `スタトラ付き` has no sticker."""
        last = [term for term in self._parsed.terms[-2:] if not term.count][-1:]
        return bool(last) and not (last[0].fields or last[0].is_filler or last[0].is_attached)

    def _read_exclusion(self, end: int, *, before_quantity: bool) -> bool:
        """Reads a word of exclusion with what it excludes; false if nothing follows.

        An order that is not wanted is none, and beside a filler that is not of grammar (`no swap ak`) nothing else is.
        """
        is_last = end == len(self._words) and not before_quantity
        if (is_last or PART_END.match(self._gaps[end])) and self._is_of_amount():
            self._parsed.excludes_before, self._at = True, end  # `超过50刀不要`, `más de 40 no`
            return True
        if self._ends_part(end - 1) and all(term.is_filler for term in self._parsed.terms):
            self._add_fillers(end)  # `i got nothing, ak redline`
            return True
        after = self._after_exclusions(end)
        if after == len(self._words):
            self._parsed.excludes_next = before_quantity and not self._gaps[after].strip()
            if self._parsed.excludes_next or self._at == self._excluded_until > 0:  # `sem adesivo nenhum`
                self._at = after
            elif after > end:
                self._add_fillers(after)  # `not on a gun`
            return self._at == after
        if self._is_order(after):
            self._at = self._excluded_until = after + self._spelling_at(after)[0]
        elif (after_filler := self._after_filler(after)) > after:
            self._add_fillers(after_filler)
        else:
            self._exclude(after)
        length, entry = self._spelling_at(self._at) if self._at + 1 < len(self._words) else (0, None)
        if entry is not None and entry.role is Role.ALTERNATIVE and not entry.meanings:
            self._read_exclusion(self._at + length, before_quantity=False)  # `no st or high float`
        return True

    def _add_fillers(self, end: int) -> None:
        self._parsed.terms += [Term((word,), is_filler=True) for word in self._words[self._at : end]]
        self._at = self._excluded_until = end

    def _is_of_what_follows(self, end: int, role: Role, *, before_quantity: bool) -> bool:
        """Whether an exclusion is of what stands behind it."""
        if role is Role.EXCLUSION:
            return not self._excludes_last(end, before_quantity=before_quantity)
        if role is Role.NEITHER:
            return self._is_neither(end)
        if "".join(self._letters[self._at : end]) not in self._vocabulary.exclusions_beside:
            return False
        if self._parsed.terms and self._last_wanted().fields & ONE_VALUE:
            return False
        after = self._after_exclusions(end)
        if after == len(self._words):
            return before_quantity and not self._is_of_amount()  # `no pago más de 40`
        return _QUALITY in self._term_at(after)[0].fields  # `ак не интересует статтрек`

    def _is_of_amount(self) -> bool:
        """Whether an exclusion there may be of the amount before it: nothing but grammar stands between."""
        return self._after_quantity and all(self._is_grammar(term) for term in self._parsed.terms)

    def _excludes_last(self, end: int, *, before_quantity: bool) -> bool:
        """Whether it is of what stands before it: a quality at the end of the text, or behind kana (`スタトラ不要 ak`).

        So it is at the end of a clause, of values of which an item has one. Several words (`не нужен`) are of the
        quality beside them where only one side has one.
        """
        is_numbered = end < len(self._words) and "." in self._gaps[end] and self._letters[end].isdecimal()
        ends_part = bool(PART_END.match(self._gaps[end])) and not is_numbered  # `souvenir no, p2000`, no `ft no.661`
        after = self._after_exclusions(end)
        is_last = ends_part or (after == len(self._words) and not before_quantity)
        if self._at == self._order_until > 0 or not self._parsed.terms:
            return is_last and self._at == self._order_until > 0
        if end > self._at + 1:
            is_quality = _QUALITY in self._parsed.terms[-1].fields
            if after == len(self._words):  # in `non voglio spendere più di 50` it is of the amount
                return not before_quantity or (is_quality and after == end)
            begins_part = not ends_part and bool(PART_END.match(self._gaps[self._at]))  # `stattrak, byle nie bs`
            return is_quality and not begins_part and _QUALITY not in self._term_at(after)[0].fields
        last = self._last_wanted()
        if not UNSPACED.match(self._letters[self._at]):
            is_alone = bool(last.fields) and self._starts_part(last)
            is_said_so = (ends_part or after > end) and bool(last.fields & ONE_VALUE)  # `ak redline bs nicht, …`
            is_said_so = is_said_so or ":" in self._gaps[self._at]  # `stickers: none`
            return is_last and (_QUALITY in last.fields or is_alone or is_said_so)  # `faca, gut não`
        is_other = after < len(self._words) and not self._term_at(after)[0].fields & ONE_VALUE  # `暗金不要 ak`
        is_joined = not self._gaps[self._at] and bool(last.fields & ONE_VALUE)
        is_joined = is_joined and (is_other or self._excludes_more(end))
        is_of_last = is_joined or bool(_KANA.search(self._letters[self._at - 1][-1:]))
        return is_last or (is_of_last and self._gaps[end][:1].isspace())

    def _last_wanted(self) -> Term:
        """The last term; in scripts without blanks not the filler behind it (`暗金也不要`)."""
        terms = self._parsed.terms
        if not UNSPACED.match(self._letters[self._at]):
            return terms[-1]
        return next((term for term in reversed(terms) if not term.is_filler), terms[-1])

    def _is_of_last_alone(self) -> bool:
        """Whether a word of exclusion is of the last value alone: in `ft bs no, …` the values before it are wanted."""
        last = self._last_wanted()
        if self._starts_part(last):
            return True
        is_value = bool(last.fields & ONE_VALUE) and _QUALITY not in last.fields
        if not UNSPACED.match(self._letters[self._at]):
            return is_value
        return is_value and not self._gaps[self._at] and bool(self._gaps[self._at - len(last.words)])

    def _exclude(self, at: int, *, lists: bool = True) -> None:
        """Reads what is not wanted from there on, with `lists` of it."""
        term, end = self._on_item_at(at) or self._excluded_at(at)
        self._exclude_term(term)
        while end < len(self._words) and self._term_at(end)[0].is_within(term):
            _, end = self._term_at(end)  # the same in other words: `without counter stattrak`
        while (connection := self._connection_at(end) or (self._listed_at(end, term) if lists else None)) is not None:
            start, of_same_field = connection
            other, other_end = self._excluded_at(start)
            other = self._with_first_words(other, term)
            if of_same_field and not self._is_of_same_field(term, other):
                break
            self._exclude_term(other)
            term, end = other, other_end
        while end < len(self._words) and self._goes_on_at_once(end, term):
            other, other_end = self._term_at(end)
            if other.fields != term.fields or not term.fields & ONE_VALUE:
                break
            self._exclude_term(other)  # `不要战痕破损`, `exclude ruby sapphire`
            end = other_end
        self._at, self._excluded_until, self._is_known = end, end, True

    def _on_item_at(self, at: int) -> tuple[Term, int] | None:
        """What is not wanted on the item that the text names, with its type behind it: `ak, no navi stickers`."""
        named = attached_named(self._terms_from(at), self._vocabulary)
        others = (*self._parsed.terms, *(term for term, _ in self._terms_from(named[1]))) if named else ()
        is_attached = any(self._vocabulary.is_attached(each.meanings) for each in others)
        return named if not is_attached and any(names_thing(each, self._vocabulary) for each in others) else None

    def _terms_from(self, at: int) -> Iterator[tuple[Term, int]]:
        """The terms from there on to the end of the part, each with where it ends."""
        while at < len(self._words):
            term, at = self._term_at(at)
            yield term, at
            if PART_END.match(self._gaps[at]):
                break

    def _is_ordered_thing(self) -> bool:
        """Whether the text is of a thing that goes together with the order before it, and ends here."""
        length, _ = self._spelling_at(self._at)
        is_alone = len(self._parsed.terms) == 1 and not self._after_quantity and self._at + length == len(self._words)
        if not is_alone or not 0 < self._order_until < self._at:
            return False
        gap = self._gaps[self._order_until]
        goes_on = not gap or (gap.isspace() and not UNSPACED.match(self._letters[self._order_until]))
        return goes_on and bool(self._parsed.terms[0].fields & self._vocabulary.narrowing)

    def _starts_part(self, last: Term) -> bool:
        """Whether the last term, in letters with blanks between words, begins a part of a text: `ww or bs (ft no)`."""
        letters, start = self._letters[self._at], self._at - len(last.words)
        return not UNSPACED.match(letters) and bool(_PART_START.fullmatch(self._gaps[start]))

    def _exclude_last(self, *, alone: bool) -> None:
        """What stands before is not wanted, with the values of the same field before it (`ww and bs not wanted`)."""
        terms = self._parsed.terms
        while len(terms) > 1 and self._is_grammar(terms[-1]):  # the particle of `gut knife는 제외`
            terms.pop()
        if terms[-1].is_filler:
            return  # `ak redline takas yok`
        if self._is_ordered_thing():
            self._parsed.sorts.pop()  # `高いナイフは除外`
            return
        last = self._exclude_term(with_names_before(terms.pop(), terms, self._vocabulary))
        if alone:
            return
        while len(terms) > 1 and self._is_conjunction(terms[-1]):
            if not self._is_of_same_field(self._translated(terms[-2]), last):
                break
            terms.pop()
            self._exclude_term(terms.pop())
        while len(terms) > 1 and terms[-1].fields == last.fields and last.fields & ONE_VALUE:
            if terms[-1].alternatives:
                break  # a list of its own: `p2 or p4, p1 and p3 no thanks`
            self._exclude_term(terms.pop())  # `BS WW 제외`, of which an item has only one

    def _exclude_term(self, term: Term) -> Term:
        """Reads a term and its alternatives as not wanted; the term as it is read."""
        excluded = [each for option in term.options for each in self._with_respelt(self._translated(option))]
        for each in excluded:
            meanings = self._vocabulary.excludable(each.meanings)
            is_attached = self._vocabulary.is_attached(meanings)
            words = finished(each.words)
            read = replace(each, words=words, meanings=meanings, alternatives=(), is_attached=is_attached)
            self._parsed.excluded.append(replace(read, on_item=read.on_item or is_on_items(read, self._vocabulary)))
        return excluded[0]

    def _listed_at(self, at: int, term: Term) -> tuple[int, bool] | None:
        """As `_connection_at` behind a comma: a list of one field, or of finishes, goes on to its last value.

        So it is in `no gut, navaja or daggers`, and in `a knife, not a gut, a navaja or daggers`. In `not bs, fn or mw`
        and in `not a gut, a navaja` what follows may be wanted.
        """
        is_wanted = self._after_quantity or any(each.fields & self._vocabulary.narrowing for each in self._parsed.terms)
        with_articles = is_wanted and self._is_article(at - len(term.words) - 1)
        start, end = at + (with_articles and self._is_article(at)), at
        while end < len(self._words) and _COMMA.fullmatch(self._gaps[end]) and not term.fields & ONE_VALUE:
            other, end = self._term_at(end + (with_articles and self._is_article(end)))
            if not self._is_of_same_field(term, other):
                break
            if self._connection_at(end) is not None:
                return start, True
        return None

    def _is_either(self, start: int, *, names: bool = True, fields: frozenset[str] | None = None) -> bool:
        """Reads the term from there on as an alternative to the last one, if both are of one field, or mere `names`.

        `fields`: only if both are values of one of these, or names of finishes.
        """
        terms = self._parsed.terms
        count = words_of_last_name(terms, self._letters_of, self._vocabulary.phrases)
        last = Term(tuple(word for term in terms[-count:] for word in term.words)) if count else terms[-1]
        other, end = self._term_at(start)
        other = self._with_first_words(other, last)
        last = self._with_last_word(last, other)
        is_word = names and is_named(last) and is_named(other)
        if fields is not None:
            is_joined = last.fields <= fields and self._is_of_same_field(last, other)
        else:
            is_joined = is_word or bool(last.fields & other.fields)
        if not is_joined or len(last.alternatives) == MAX_ALTERNATIVES:
            return False
        terms[-max(1, count) :] = [replace(last, alternatives=(*last.alternatives, other))]
        self._at, self._is_known = end, bool(other.meanings)
        return True

    def _add(self, length: int, entry: Entry | None) -> None:
        """Reads the spelling there as a term, or as an alternative to the last one."""
        end = self._at + length
        gap = self._gaps[self._at]
        for joint, names, fields in _JOINTS if self._parsed.terms else ():
            if joint.fullmatch(gap) and self._is_either(self._at, names=names, fields=fields):
                return
        part = tuple(self._words[self._at : end])
        if entry is not None and entry.meanings:
            letters = "".join(self._letters[self._at : end])
            otherwise = self._vocabulary.second_meanings.get(letters, ())
            # what greets may be a name, too (`selam`)
            is_filler = letters in self._vocabulary.ignored and not any(each.filters for each in entry.meanings)
            self._parsed.terms.append(Term(finished(part), entry.meanings, otherwise, is_filler=is_filler))
        else:
            role = Role.VALUE if entry is None else entry.role
            self._parsed.terms += [self._word_term(at, role) for at in range(self._at, end)]
        self._at = end
