"""The map of a source in another shape: a TOML file in, a checked description of where each field comes from out."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from indexer.engine.failures import CommandError
from indexer.sources.csv import columns
from mappings.item import Attachment

MOST_SCALE = 12
ID_BITS = 63


def _compiles(pattern: str) -> str:
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        message = f"is no regular expression: {error}"
        raise ValueError(message) from error
    if groups != 1:
        message = f"needs one group in parentheses, which is what is taken; it has {groups}"
        raise ValueError(message)
    return pattern


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _spelled_out(value: Any) -> Any:
    return {"from": value} if isinstance(value, str | list) else value


Paths = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_listed), Field(min_length=1)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Split(_Part):
    """Takes one part of a text: the parts between `at` are counted from 1, from the end with negative numbers."""

    at: str = Field(min_length=1)
    part: int

    @model_validator(mode="after")
    def _counts_from_one(self) -> "Split":
        if self.part == 0:
            message = "parts are counted from 1, or from the end with negative numbers"
            raise ValueError(message)
        return self


class Rule(_Part):
    """Where one field of an item comes from, and what is done to it, in the order of these fields."""

    source: Paths | None = Field(default=None, alias="from")
    constant: Any = None
    hash: Paths | None = None
    bits: int = Field(default=ID_BITS, ge=32, le=ID_BITS)
    absent: tuple[str | int | float | bool, ...] = ()
    pattern: Annotated[str, AfterValidator(_compiles)] | None = None
    split: Split | None = None
    lookup: str | None = None
    unknown: Literal["refuse", "keep", "absent"] = "refuse"
    scale: int | None = Field(default=None, ge=-MOST_SCALE, le=MOST_SCALE)
    round: int | None = Field(default=None, ge=0, le=MOST_SCALE)
    time: Literal["seconds", "milliseconds"] | None = None
    default: Any = None
    each: "Rules | None" = None

    @model_validator(mode="after")
    def _one_origin(self) -> "Rule":
        given = [name for name, value in self._origins() if value is not None]
        if len(given) != 1:
            message = f"needs one of from, constant and hash; it has {' and '.join(given) or 'none'}"
            raise ValueError(message)
        return self

    def _origins(self) -> Iterator[tuple[str, Any]]:
        yield from (("from", self.source), ("constant", self.constant), ("hash", self.hash))

    @property
    def reads(self) -> tuple[str, ...]:
        """The paths in the source that this rule looks at."""
        return self.source or self.hash or ()


Rules = dict[str, Annotated[Rule, BeforeValidator(_spelled_out)]]
Rule.model_rebuild()


class Place(_Part):
    """Where the items are within a JSON object: `items` is the way to them, `key` names the column of their names."""

    items: tuple[str, ...] = ()
    key: str | None = Field(default=None, min_length=1)


class ItemMap(_Part):
    """A whole map: the place of the items, each field's rule, and the lookup tables."""

    source: Place = Place()
    fields: Rules
    lookups: dict[str, dict[str, str | int | float]] = {}

    @model_validator(mode="after")
    def _holds_together(self) -> "ItemMap":
        faults = [*_names(self.fields, columns(), ("id", "name"), ""), *self._lookups(self.fields)]
        faults += [f"fields.{name}: hash is for id alone" for name, rule in self.fields.items() if _hashed(name, rule)]
        if faults:
            raise ValueError("; ".join(faults))
        return self

    def _lookups(self, rules: Rules) -> Iterator[str]:
        for name, rule in rules.items():
            if rule.lookup is not None and rule.lookup not in self.lookups:
                yield f"fields.{name}: there is no table [lookups.{rule.lookup}]"
            yield from self._lookups(rule.each or {})


def _hashed(name: str, rule: Rule) -> bool:
    return rule.hash is not None and name != "id"


def _names(rules: Rules, known: tuple[str, ...], needed: tuple[str, ...], below: str) -> Iterator[str]:
    for name, rule in rules.items():
        if name not in known:
            yield f"fields.{below}{name} is no field of an item; these are: {', '.join(known)}"
        if rule.each is not None:
            inner = tuple(field.alias or key for key, field in Attachment.model_fields.items())
            if below or name != "attachments":
                yield f"fields.{below}{name}: each is for attachments alone"
            yield from _names(rule.each, inner, ("name",), "attachments.each.")
    yield from (f"fields.{below}{name} is missing: every item needs it" for name in needed if name not in rules)


def read_item_map(path: Path) -> ItemMap:
    """Reads a map; raises CommandError that names the file and what is wrong in it."""
    try:
        return ItemMap.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        message = f"the map {path} cannot be read: {error.strerror}"
        raise CommandError(message) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"the map {path} is no TOML: {error}"
        raise CommandError(message) from error
    except ValidationError as error:
        faults = (f"{_place(one['loc'])}{one['msg'].removeprefix('Value error, ')}" for one in error.errors())
        message = f"the map {path} cannot be used: {'; '.join(faults)}; docs/sources.md describes maps"
        raise CommandError(message) from error


def _place(location: tuple[int | str, ...]) -> str:
    return f"{'.'.join(str(part) for part in location)}: " if location else ""
