"""Judged texts: what buyers type, which items they mean, and the filters that every hit must keep."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

Item = dict[str, Any]
Group = Literal["exact", "slang", "typo", "prefix", "order", "mixed", "stickers", "numbers", "nonsense"]
# exclusions, order words, texts with more than an item, what else an item can be said to be; then languages
OwnWordsGroup = Literal[
    "exclusion", "sorting", "extras", "details", "keyboard",
    "ru", "uk", "zh", "zh-tw", "de", "fr", "es", "pt", "it", "pl", "tr", "ja", "ko",
]  # fmt: skip
RequiredField = Literal[
    "weapon", "exterior", "quality", "phase", "type", "rarity", "tournament", "set", "price", "float", "seed", "finish"
]
Order = Literal["price_asc", "price_desc", "float_asc", "float_desc"]
GROUPS: tuple[Group, ...] = get_args(Group)
OWN_WORDS_GROUPS: tuple[OwnWordsGroup, ...] = get_args(OwnWordsGroup)
FOLDER = Path(__file__).parent / "sets"
ALL_SETS = {str(file.relative_to(FOLDER).with_suffix("")): file for file in sorted(FOLDER.rglob("*.ndjson"))}
SETS = {name: ALL_SETS[name] for name in ("judged", "held_out")}
OWN_WORDS, PUBLISHED, IN_ROLE = (
    {name: file for name, file in ALL_SETS.items() if name.startswith(kind)}
    for kind in ("own_words", "published/", "in_role/")
)
_DETAILS = ("weapon", "exterior", "quality", "phase", "type", "rarity", "tournament", "set")
_FIELDS = ("name", "words", "stickers", "attached", "finish", *_DETAILS, "seed", "price", "float")
_FINISH = re.compile(r"\| (.+?)(?: \((?:Factory New|Minimal Wear|Field-Tested|Well-Worn|Battle-Scarred)\))?$")
_WORD = re.compile(r"[^\W_]+")


class Span(BaseModel):
    """A range of prices or floats; `below` and `above` are exclusive."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    min: float | None = None
    max: float | None = None
    below: float | None = None
    above: float | None = None

    def holds(self, value: float | None) -> bool:
        """Whether a value is inside; no value never is."""
        if value is None:
            return False
        lower = (self.min is None or value >= self.min) and (self.above is None or value > self.above)
        return lower and (self.max is None or value <= self.max) and (self.below is None or value < self.below)

    def intersection(self, other: "Span") -> "Span":
        """The range of both."""
        lows = [
            (bound, at) for span in (self, other) for at in ("min", "above") if (bound := getattr(span, at)) is not None
        ]
        highs = [
            (bound, at) for span in (self, other) for at in ("max", "below") if (bound := getattr(span, at)) is not None
        ]
        both: dict[str, float] = {}
        if lows:
            bound, at = max(lows)
            both[at] = bound
        if highs:
            bound, at = min(highs)
            both[at] = bound
        return Span(**both)

    def middle(self) -> float:
        """A value between the ends; where one is open, one that is near the other."""
        low = next((bound for bound in (self.min, self.above) if bound is not None), 0.0)
        high = next((bound for bound in (self.max, self.below) if bound is not None), low + 1.0)
        return (low + high) / 2


class Meaning(BaseModel):
    """What a buyer means, in the fields of items: any of the values of a field, and all fields together."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    name: tuple[str, ...] = ()
    words: tuple[str, ...] = ()  # all in the name, `br*` for the beginning of one
    finish: tuple[str, ...] = ()
    weapon: tuple[str, ...] = ()
    exterior: tuple[str, ...] = ()
    quality: tuple[str, ...] = ()
    phase: tuple[str, ...] = ()
    type: tuple[str, ...] = ()
    rarity: tuple[str, ...] = ()
    tournament: tuple[str, ...] = ()
    set: tuple[str, ...] = ()
    stickers: tuple[str, ...] = ()  # all in the name of one that is on it
    attached: bool = False  # a sticker is on it
    seed: tuple[int, ...] = ()
    price: Span | None = None
    wear: Span | None = Field(default=None, alias="float")

    def holds(self, field: str, item: Item) -> bool:
        """Whether an item has what is meant in one field; a field without a meaning always holds."""
        if field == "words":
            return has_words(words_of(item["name"]), [part for word in self.words for part in _parts(word)])
        if field == "stickers":
            return not self.stickers or any(has_words(words_of(name), self.stickers) for name in _stickers_on(item))
        if field == "attached":
            return not self.attached or bool(_stickers_on(item))
        if field in ("price", "float"):
            span = self.price if field == "price" else self.wear
            return span is None or span.holds(item["price"] if field == "price" else item["paint"]["float"])
        expected = getattr(self, field)
        return not expected or value_of(field, item) in expected

    def fields(self) -> frozenset[str]:
        """The fields that have a meaning."""
        return frozenset(self.model_dump(exclude_defaults=True, by_alias=True))

    def whole_words(self) -> list[str]:
        """The words that the name must have as they are."""
        return [part for word in self.words for part in _parts(word) if not part.endswith("*")]

    def fits(self, item: Item, leave_out: tuple[str, ...] = ()) -> bool:
        """Whether an item is what is meant."""
        return all(self.holds(field, item) for field in _FIELDS if field not in leave_out)


class Judgment(BaseModel):
    """A text, its group, what it may mean (nothing: no item), and the fields that every hit must keep.

    `never` is what no hit may be, `order` the order in which hits must come, `source` where others wrote it, or the
    role in which it was written.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: str = Field(min_length=1, max_length=200)
    group: Group | OwnWordsGroup
    means: tuple[Meaning, ...]
    keeps: tuple[RequiredField, ...] = ()
    never: tuple[Meaning, ...] = ()
    order: Order | None = None
    source: str = ""

    @property
    def is_strict(self) -> bool:
        """Whether it says what every hit must be, or must not."""
        return bool(self.keeps or self.never or self.order)

    def fits(self, item: Item) -> bool:
        """Whether an item is a right one."""
        return any(meaning.fits(item) for meaning in self.means) and not any(bad.fits(item) for bad in self.never)

    def is_broken_by(self, item: Item) -> bool:
        """Whether an item of the first page has not what every hit must have."""
        broken = not all(any(meaning.holds(field, item) for meaning in self.means) for field in self.keeps)
        return broken or any(meaning.fits(item) for meaning in self.never)

    def is_in_order(self, items: Sequence[Item]) -> bool:
        """Whether the items come in the order that is meant, those without the number last."""
        if self.order is None:
            return True
        by_price = self.order.startswith("price")
        numbers = [item["price"] if by_price else item["paint"]["float"] for item in items]
        present = [number for number in numbers if number is not None]
        expected = sorted(present, reverse=self.order.endswith("desc"))
        return numbers == expected + [None] * (len(numbers) - len(present))


@dataclass(frozen=True)
class Verdict:
    """How a text was answered: the place of the first right item (from 1; 0: none), and whether a filter was broken."""

    judgment: Judgment
    place: int
    is_broken: bool
    first: str  # the first item's name; empty: an empty page

    @property
    def is_violated(self) -> bool:
        """Whether an item is shown that is not what the text states, or out of order: an empty page shows none."""
        return self.is_broken and bool(self.first)


def judge(judgment: Judgment, page: Iterable[Item]) -> Verdict:
    """A page against its judgment. Where nothing is meant, an empty page is right and counts as the first place."""
    items = list(page)
    first = items[0]["name"] if items else ""
    if not judgment.means:
        return Verdict(judgment, 0 if items else 1, False, first)
    place = next((at for at, item in enumerate(items, 1) if judgment.fits(item)), 0)
    is_broken = judgment.is_strict and (
        not items or any(judgment.is_broken_by(item) for item in items) or not judgment.is_in_order(items)
    )
    return Verdict(judgment, place, is_broken, first)


def read(file: Path) -> list[Judgment]:
    """The judgments of a file; raises ValueError where one is wrong or a text stands twice."""
    adapter = TypeAdapter(Judgment)
    judgments = [adapter.validate_json(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    texts = [judgment.query for judgment in judgments]
    duplicates = {text for text in texts if texts.count(text) > 1}
    if duplicates:
        message = f"{file.name} judges these texts twice, keep one of each: {sorted(duplicates)}"
        raise ValueError(message)
    return judgments


def words_of(name: str) -> list[str]:
    """A name's words as judgments write them: lower case, without accents, ™ and ★."""
    decomposed = unicodedata.normalize("NFKD", name.replace("™", "").replace("★", ""))
    return _WORD.findall("".join(letter for letter in decomposed if not unicodedata.combining(letter)).lower())


def _parts(word: str) -> list[str]:
    parts = words_of(word)
    return [*parts[:-1], f"{parts[-1]}*"] if word.endswith("*") else parts


def _stickers_on(item: Item) -> list[str]:
    """The names of the stickers on an item; what has no type is one."""
    return [each["name"] for each in item["attachments"] if (each["type"] or "sticker").lower() == "sticker"]


def has_words(words: list[str], expected: Iterable[str]) -> bool:
    """Whether a name with these words has all that are expected, `br*` as a beginning."""
    return all(
        any(candidate.startswith(word[:-1]) for candidate in words) if word.endswith("*") else word in words
        for word in expected
    )


def value_of(field: str, item: Item) -> Any:
    """What an item has in a field of a meaning, by its name where items have no such field."""
    if field == "name":
        return item["name"]
    if field == "seed":
        return item["paint"]["seed"]
    details: Mapping[str, Any] = item["details"]
    if field == "finish":
        finish = _FINISH.search(item["name"]) if details["weapon"] else None
        return finish[1] if finish else None
    return details[field]
