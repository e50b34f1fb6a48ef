"""Which saved searches a batch of changes may concern, evaluated before the engine is asked. Pure.

A clause is evaluated as the engine would, for all changes of a batch at once: a set of changes is an integer with a
bit for each. What cannot be evaluated here, such as similar words, may match and may not. So every answer is two sets:
what surely matches, and what possibly does.
"""

import operator
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from itertools import accumulate, pairwise
from typing import Any, Final

from api.engine.clauses import Clause
from mappings.folding import DROPPED_MARKS, fold

MatchBounds = tuple[int, int]  # what surely matches, and what possibly does
Prefilter = Callable[["Batch"], MatchBounds]

_WORD: Final = re.compile("[a-z0-9]+")
_UNMARKED: Final = str.maketrans("", "", DROPPED_MARKS)
_BOUNDS: Final = {"gte", "lte"}
_BOOL: Final = {"must", "filter", "should", "must_not", "minimum_should_match"}


class Fields:
    """How the fields of an index are compared, read from its definition."""

    def __init__(self, properties: Mapping[str, Clause]) -> None:
        stored = {name: each for name, each in properties.items() if _has_values(each)}
        # a field and what is read for it; numbers are compared as they are written
        self.exact = {name: name for name, each in stored.items() if each["type"] != "double"}
        self.folded = {f"{name}.folded": name for name, each in stored.items() if "folded" in each.get("fields", {})}
        self.words: dict[str, tuple[str, ...]]
        self.words = {f"{name}.typed": (name,) for name, each in stored.items() if "typed" in each.get("fields", {})}
        copied = tuple(name for name, each in properties.items() if each.get("copy_to") == "text")
        if all(name in stored for name in copied):
            self.words["text"] = copied
        self.words |= {
            f"{name}.letters": (name,) for name, each in stored.items() if "letters" in each.get("fields", {})
        }
        self.numbers = {name for name, each in stored.items() if each["type"] in ("long", "double")}
        self.numbers |= {f"{name}.ascending" for name, each in stored.items() if "ascending" in each.get("fields", {})}
        self.read = sorted({*stored, *self.numbers})


def _has_values(field: Clause) -> bool:
    kinds = "keyword", "long", "integer", "double", "boolean"
    return field.get("type") in kinds and field.get("doc_values", True) and field.get("index", True)


class Batch:
    """One side of some changes: by a change's position in the batch, what its item has in each field."""

    def __init__(self, fields: Fields, items: Mapping[int, Mapping[str, Sequence[Any]]]) -> None:
        self.fields = fields
        self._items = items
        self.all = sum(1 << position for position in items)
        self._having: dict[str, dict[str, int]] = {}
        self._words: dict[str, tuple[dict[str, int], list[str], int]] = {}
        self._numbers: dict[str, tuple[list[Any], list[int]]] = {}

    def having(self, field: str, values: Iterable[str]) -> MatchBounds:
        """The changes whose item has one of these values."""
        bits_of = self._having.get(field)
        if bits_of is None:
            bits_of = self._having[field] = defaultdict(int)
            source = self.fields.folded.get(field)
            for position, value in self._values(source or field):
                bits_of[fold(value) if source else str(value)] |= 1 << position
        return _certain(_union(bits_of.get(value, 0) for value in values))

    def between(self, field: str, low: Any, high: Any) -> MatchBounds:
        """The changes whose item has a number within inclusive bounds; None: no bound."""
        if field not in self._numbers:
            pairs = sorted((value, position) for position, value in self._values(field))
            below = accumulate((1 << position for _, position in pairs), operator.or_, initial=0)
            self._numbers[field] = [value for value, _ in pairs], list(below)
        values, below_of = self._numbers[field]
        begin = 0 if low is None else bisect_left(values, low)
        end = len(values) if high is None else bisect_right(values, high)
        return _certain(below_of[end] ^ below_of[begin] if begin < end else 0)

    def with_word(self, field: str, word: str, *, is_prefix: bool = False) -> MatchBounds:
        """The changes whose item has a word, or one that begins so; words that are not ASCII are not known."""
        if field not in self._words:
            bits_by_word, unknown = defaultdict[str, int](int), 0
            for source in self.fields.words[field]:
                for position, value in self._values(source):
                    words = _letters(value) if field.endswith(".letters") else _words_and_joins(value)
                    unknown |= (words is None) << position
                    for each in words or ():
                        bits_by_word[each] |= 1 << position
            self._words[field] = bits_by_word, sorted(bits_by_word), unknown
        bits_of, listed, unknown = self._words[field]
        if is_prefix:
            first, end = bisect_left(listed, word), bisect_left(listed, word + "{")  # what follows `z`
            bits = _union(bits_of[each] for each in listed[first:end])
        else:
            bits = bits_of.get(word, 0)
        return bits, bits | unknown

    def _values(self, source: str) -> Iterator[tuple[int, Any]]:
        return ((position, value) for position, item in self._items.items() for value in item.get(source, ()))


def set_bits(bits: int) -> list[int]:
    """The positions of the bits that are set, ascending."""
    positions = []
    while bits:
        lowest = bits & -bits
        positions.append(lowest.bit_length() - 1)
        bits ^= lowest
    return positions


def new_candidates(prefilter: Prefilter, before: Batch, after: Batch) -> int:
    """The changes after which an item may match that did not surely match before."""
    possible = prefilter(after)[1]
    return possible and possible & ~prefilter(before)[0]


def prefilter_of(fields: Fields, clause: Clause) -> Prefilter:
    """The prefilter of a clause of the engine."""
    [(kind, content)] = clause.items()
    if kind == "bool" and content.keys() <= _BOOL:
        return _bool(fields, content)
    if kind == "constant_score":
        return prefilter_of(fields, content["filter"])
    if kind in ("term", "terms", "range", "match", "match_bool_prefix"):
        [(field, condition)] = ((field, condition) for field, condition in content.items() if field != "boost")
        return _LEAVES[kind](fields, field, condition)
    return _unknown


def _bool(fields: Fields, content: Clause) -> Prefilter:
    demanded = [prefilter_of(fields, each) for part in ("filter", "must") for each in content.get(part, ())]
    excluded = [prefilter_of(fields, each) for each in content.get("must_not", ())]
    options = [prefilter_of(fields, each) for each in content.get("should", ())]
    least = content.get("minimum_should_match", 0 if demanded else 1)
    if options and least == 1:
        demanded.append(lambda batch: _either([option(batch) for option in options]))
    elif least > 0 and (options or "minimum_should_match" in content):
        demanded.append(_unknown)

    def prefilter(batch: Batch) -> MatchBounds:
        sure = possible = batch.all
        for each in demanded:
            also_sure, also_possible = each(batch)
            sure, possible = sure & also_sure, possible & also_possible
            if not possible:
                break
        for each in excluded:
            out, perhaps_out = each(batch)
            sure, possible = sure & ~perhaps_out, possible & ~out
        return sure, possible

    return prefilter


def _terms(fields: Fields, field: str, condition: Any) -> Prefilter:
    if field in fields.folded:
        values = [fold(value) for value in condition]
    elif field in fields.exact:
        values = [str(value) for value in condition]
    else:
        return _unknown
    return lambda batch: batch.having(field, values)


def _term(fields: Fields, field: str, condition: Any) -> Prefilter:
    if isinstance(condition, dict):
        return _unknown
    if field in fields.words and (letters := _letters(condition)):
        return lambda batch: batch.with_word(field, *letters)
    return _terms(fields, field, [condition])


def _range(fields: Fields, field: str, condition: Clause) -> Prefilter:
    if field not in fields.numbers or not condition.keys() <= _BOUNDS:
        return _unknown
    low, high = condition.get("gte"), condition.get("lte")
    return lambda batch: batch.between(field, low, high)


def _match(fields: Fields, field: str, condition: Any) -> Prefilter:
    if not isinstance(condition, dict):
        condition = {"query": condition}
    words = _ascii_words(condition["query"])
    if field not in fields.words or not condition.keys() <= {"query", "operator"} or not words:
        return _unknown
    joined = _both if condition.get("operator") == "and" else _either
    return lambda batch: joined([batch.with_word(field, word) for word in words])


def _prefix(fields: Fields, field: str, condition: Any) -> Prefilter:
    words = _ascii_words(condition) if isinstance(condition, str) else None
    if field not in fields.words or not words or len(words) > 1:
        return _unknown
    return lambda batch: batch.with_word(field, words[0], is_prefix=True)


_LEAVES: Final = {"term": _term, "terms": _terms, "range": _range, "match": _match, "match_bool_prefix": _prefix}


def _unknown(batch: Batch) -> MatchBounds:
    return 0, batch.all


def _certain(bits: int) -> MatchBounds:
    return bits, bits


def _either(several: Sequence[MatchBounds]) -> MatchBounds:
    return _union(sure for sure, _ in several), _union(possible for _, possible in several)


def _both(bits_of: Sequence[MatchBounds]) -> MatchBounds:
    return reduce(operator.and_, (sure for sure, _ in bits_of)), reduce(operator.and_, (each for _, each in bits_of))


def _union(bits_of: Iterable[int]) -> int:
    return reduce(operator.or_, bits_of, 0)


def _ascii_words(text: str) -> list[str] | None:
    """The words as the engine has them, where they need no folding but that of case."""
    bare = text.translate(_UNMARKED)
    return _WORD.findall(bare.lower()) if bare.isascii() else None


def _letters(text: str) -> list[str] | None:
    """All letters and digits as one word, as the normalizer `letters` gives them."""
    words = _ascii_words(text)
    return words and ["".join(words)]


@lru_cache(maxsize=8192)  # the same names come again
def _words_and_joins(text: str) -> frozenset[str] | None:
    """The words and what two and three neighbours are as one, as the analyzer `words_and_joins` gives them."""
    words = _ascii_words(text)
    if words is None:
        return None
    pairs = (first + second for first, second in pairwise(words))
    threes = (first + second + third for first, second, third in zip(words, words[1:], words[2:], strict=False))
    return frozenset((*words, *pairs, *threes))
