"""Judged queries: texts whose right items an operator knows, and what a change of the vocabulary does to them. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Self

from pydantic import ConfigDict, Field, ValidationError, model_validator

from api.http.fields import Strict
from api.search.schemas.search import MAX_QUERY_CHARACTERS, ItemName
from api.vocabulary.schemas import TermFilters
from mappings.folding import fold
from mappings.strict_model import describe_errors
from mappings.vocabulary.words import words_of

Item = dict[str, Any]
PAGE: Final = 20


class JudgedQuery(Strict):
    """A text with what is right: one of `ids` or `names`, or what has all `words` in its name and all `filters`.

    `nothing`: it must find no item. `every`: no item of the first page may be wrong.
    """

    model_config = ConfigDict(frozen=True)

    query: Annotated[str, Field(strict=True, min_length=1, max_length=MAX_QUERY_CHARACTERS)]
    ids: tuple[int, ...] = ()
    names: tuple[ItemName, ...] = ()
    words: str = ""
    filters: TermFilters | None = None
    nothing: bool = False
    every: bool = False

    @model_validator(mode="after")
    def _says_what_is_right(self) -> Self:
        if bool(self.ids or self.names or self._has_conditions) == self.nothing:
            raise ValueError("say what is right by `ids`, `names`, `words` or `filters`, or that `nothing` is")
        return self

    @property
    def _values(self) -> dict[str, list[str]]:
        return {} if self.filters is None else self.filters.model_dump(exclude_none=True)

    @property
    def _has_conditions(self) -> bool:
        return bool(words_of(self.words) or self._values)

    def is_right(self, item: Item) -> bool:
        """Whether an item is a right one; words and values are compared without case and accents."""
        if item["id"] in self.ids or item["name"] in self.names:
            return True
        has_words = set(words_of(fold(item["name"]))).issuperset(words_of(fold(self.words)))
        values = [(item["details"].get(field), wanted) for field, wanted in self._values.items()]
        has_values = all(value is not None and fold(value) in map(fold, wanted) for value, wanted in values)
        return self._has_conditions and has_words and has_values


@dataclass(frozen=True)
class JudgedPage:
    """A first page, judged: `place` is that of the first right item, 0 where there is none."""

    ids: tuple[Any, ...]
    first: str | None
    place: int
    is_right: bool

    def as_json(self) -> dict[str, Any]:
        return {"first": self.first, "place": self.place or None, "right": self.is_right}


def judged(judgment: JudgedQuery, page: Sequence[Item]) -> JudgedPage:
    """A first page against what is right."""
    right = [judgment.is_right(item) for item in page]
    place = right.index(True) + 1 if any(right) else 0
    is_right = not page if judgment.nothing else place == 1 and (all(right) or not judgment.every)
    return JudgedPage(tuple(item["id"] for item in page), page[0]["name"] if page else None, place, is_right)


@dataclass(frozen=True)
class Change:
    """What a judged query finds before and after a change of the vocabulary."""

    judgment: JudgedQuery
    before: JudgedPage
    after: JudgedPage

    @property
    def is_visible(self) -> bool:
        return self.before.ids != self.after.ids

    @property
    def verdict(self) -> str:
        """`worse` where a right page is no longer right, or the first right item comes later; the reverse `better`."""
        before, after = _rank(self.before), _rank(self.after)
        return "same" if before == after else "worse" if after > before else "better"

    def as_json(self) -> dict[str, Any]:
        pages = {"before": self.before.as_json(), "after": self.after.as_json()}
        return {"query": self.judgment.query, "verdict": self.verdict, **pages}


def _rank(page: JudgedPage) -> tuple[bool, int]:
    return not page.is_right, page.place or PAGE + 1


@dataclass(frozen=True)
class Report:
    """What a change of the vocabulary does to judged queries."""

    queries: int
    changes: tuple[Change, ...]

    @property
    def worse(self) -> int:
        return sum(change.verdict == "worse" for change in self.changes)

    def as_json(self) -> dict[str, Any]:
        return {"queries": self.queries, "worse": self.worse, "changed": [each.as_json() for each in self.changes]}


def read_judged(lines: Iterable[str]) -> list[JudgedQuery]:
    """The judged queries of a file, one a line; raises ValueError that names the wrong line, or for a file of none."""
    judgments: list[JudgedQuery] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                judgments.append(JudgedQuery.model_validate_json(line))
            except ValidationError as error:
                raise ValueError(f"line {number} is no judged query: {describe_errors(error)}") from None
    if not judgments:
        raise ValueError("the file has no judged query")
    return judgments
