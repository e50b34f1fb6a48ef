"""The parts of a text as trade posts and lists are read: names, what is said of them, and words of trade. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from api.search.parsing.quantities import ASKING_PRICE, PLAIN_AMOUNT, Quantity, text_between
from api.search.parsing.spellings import ONE_VALUE
from api.search.parsing.words import is_count, segmented
from mappings.vocabulary.entries import Entry, Role
from mappings.vocabulary.vocabulary import Vocabulary
from mappings.vocabulary.words import letters_of, letters_of_text, words_and_gaps, words_of

_NUMBER = re.compile(r"\d{1,9}k?")
SEPARATORS = re.compile(r"[,;+\n\u3001\uff0c\uff1b\u2605]|\]\s*\[|\s/|/\s|\s&\s")  # of a list
_SEEDS = range(100, 1000)  # of numbers that do not say that they are seeds
_JOINTS = re.compile(r"[.,*=\u00d7]")  # of a sum (`2100*4.4=9200`)


class Kind(Enum):
    NAME = auto()
    NAMED_TYPE = auto()
    DETAIL = auto()
    WEAPON = auto()
    TYPE = auto()
    ATTACHED = auto()  # the type of what is put on items
    EITHER = auto()
    NUMBER = auto()
    PRICE = auto()
    QUANTITY = auto()
    SELLING = auto()
    BUYING = auto()
    SEEKING = auto()
    EXCHANGING = auto()
    RETURN = auto()
    EXCLUSION = auto()
    EXCLUSION_AFTER = auto()
    OTHER = auto()


@dataclass(frozen=True)
class Part:
    """A part of a post, with what stands before it."""

    kind: Kind
    gap: str
    text: str


Parts = Sequence[Part]
_KINDS_OF_ROLES = {
    Role.NAME: Kind.NAME,
    Role.ALTERNATIVE: Kind.EITHER,
    Role.CONJUNCTION: Kind.EITHER,
    Role.EXCLUSION: Kind.EXCLUSION,
    Role.EXCLUSION_AFTER: Kind.EXCLUSION_AFTER,
}
THINGS = (Kind.NAMED_TYPE, Kind.WEAPON, Kind.TYPE, Kind.ATTACHED)  # a market name begins with one
EXCLUSIONS = (Kind.EXCLUSION, Kind.EXCLUSION_AFTER)
ITEMS = (Kind.NAME, *THINGS)
NAMES = (*ITEMS, Kind.DETAIL)


def parts_in(text: str, quantities: Sequence[Quantity], vocabulary: Vocabulary) -> Iterator[Part]:
    for piece, quantity in zip(text_between(text, quantities), (*quantities, None), strict=True):
        words, gaps = segmented(*words_and_gaps(piece), vocabulary)
        yield from _parts_of(words, gaps, vocabulary)
        if quantity is not None:
            yield Part(_kind_of_quantity(quantity), gaps[-1], quantity.typed)


def text_of(parts: Parts) -> str:
    """The text that the parts were read from."""
    return "".join(part.gap + part.text for part in parts)


def has(parts: Parts, *kinds: Kind) -> bool:
    return any(part.kind in kinds for part in parts)


def is_bound(part: Part) -> bool:
    """Whether it is a price with more than its amount: `under 50`, `50 or less`, `20-50`."""
    amount = part.text.replace(ASKING_PRICE, "").strip()
    return part.kind is Kind.PRICE and not PLAIN_AMOUNT.fullmatch(amount)


def is_separated(parts: Parts, at: int) -> bool:
    """Whether a separator stands before the part there, not the slash of `w/`."""
    is_with = parts[at].gap.strip() == "/" and len(parts[at - 1].text) == 1
    return SEPARATORS.search(parts[at].gap) is not None and not is_with


def names_finish(parts: Parts, vocabulary: Vocabulary, *kinds: Kind) -> bool:
    """Whether the words of these kinds are together the name of a finish, or stand for it."""
    words = [_name_of(part, vocabulary) for part in parts if part.kind in kinds]
    return letters_of_text(" ".join(words)) in vocabulary.finishes


def _name_of(part: Part, vocabulary: Vocabulary) -> str:
    """The words of a name that a part stands for: `dlore` for those of Dragon Lore."""
    _, entry = vocabulary.spelling_at([letters_of([word]) for word in words_of(part.text)], 0)
    return entry.meanings[0].words if entry and entry.meanings else part.text


def _kind_of_quantity(quantity: Quantity) -> Kind:
    if quantity.field != "price":
        # `#123`, not the second of them or the number of an order
        is_seed = bool(quantity.values) and max(quantity.values) in _SEEDS
        return Kind.QUANTITY if quantity.certain or is_seed else Kind.OTHER
    return Kind.PRICE if quantity.certain or quantity.low else Kind.NUMBER  # `14.50`


def _parts_of(words: list[str], gaps: list[str], vocabulary: Vocabulary) -> Iterator[Part]:
    letters = [letters_of([word]) for word in words]
    last = Kind.OTHER
    for at, length, entry in vocabulary.longest_spellings(letters):
        kind = _kind_at(letters, gaps, at, vocabulary) if entry is None else _kind_of_entry(entry, vocabulary)
        is_more = kind is last is Kind.NUMBER and _JOINTS.fullmatch(gaps[at])
        if not is_more:
            text = words[at] + "".join(gaps[position] + words[position] for position in range(at + 1, at + length))
            yield Part(kind, gaps[at], text)
        last = kind


def _kind_of_entry(entry: Entry, vocabulary: Vocabulary) -> Kind:
    if not entry.meanings:
        return _KINDS_OF_ROLES.get(entry.role, Kind.OTHER)
    fields = {name for meaning in entry.meanings for name, _ in meaning.filters}
    if "weapon" in fields:
        return Kind.WEAPON
    if fields == {"type"} and vocabulary.is_attached(entry.meanings):
        return Kind.ATTACHED
    if fields == {"type"}:
        return Kind.NAMED_TYPE if all(" " in meaning.words for meaning in entry.meanings) else Kind.TYPE
    if fields and fields <= ONE_VALUE:
        return Kind.DETAIL
    is_year = all(meaning.words.isnumeric() for meaning in entry.meanings)
    return Kind.NUMBER if is_year else Kind.NAME  # `20` may be 2020


def _kind_at(letters: list[str], gaps: list[str], at: int, vocabulary: Vocabulary) -> Kind:
    kinds = {
        Kind.BUYING: vocabulary.buying,
        Kind.SELLING: vocabulary.selling,
        Kind.SEEKING: vocabulary.seeking,
        Kind.EXCHANGING: vocabulary.exchanging,
        Kind.RETURN: vocabulary.returns,
        Kind.OTHER: vocabulary.ignored,
    }
    if (kind := next((kind for kind, words in kinds.items() if letters[at] in words), None)) is not None:
        return kind
    if is_count(letters, gaps, at, vocabulary.ignored):
        return Kind.OTHER
    is_number = _NUMBER.fullmatch(letters[at]) and letters[at] not in vocabulary.words
    return Kind.NUMBER if is_number else Kind.NAME
