"""Reads a map: a TOML file that says from where in a source each field of an item comes."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from indexer.documents.checked_item import json_names
from indexer.errors import CommandError
from indexer.sources.csv import columns
from mappings.items.item import Attachment
from mappings.strict_model import StrictModel, describe_errors

MAX_SCALE = 12
ID_BITS = 63


def _compiles(pattern: str) -> str:
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from error
    if groups != 1:
        raise ValueError(f"needs one group in parentheses, which is what is taken; it has {groups}")
    return pattern


_LISTED = BeforeValidator(lambda value: [value] if isinstance(value, str) else value)
_SPELLED_OUT = BeforeValidator(lambda value: {"from": value} if isinstance(value, str | list) else value)

Paths = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], _LISTED, Field(min_length=1)]


class Split(StrictModel):
    """Takes one part of a text that `at` separates, counted from 1, or from the end with negative numbers."""

    at: str = Field(min_length=1)
    part: int

    @model_validator(mode="after")
    def _counts_from_one(self) -> "Split":
        if self.part == 0:
            raise ValueError("parts are counted from 1, or from the end with negative numbers")
        return self


class Rule(StrictModel):
    """Where one field of an item comes from, and the steps that convert it, in the order of these fields."""

    source: Paths | None = Field(default=None, alias="from")
    constant: Any = None
    hash: Paths | None = None
    bits: int = Field(default=ID_BITS, ge=32, le=ID_BITS)
    absent: tuple[str | int | float | bool, ...] = ()
    pattern: Annotated[str, AfterValidator(_compiles)] | None = None
    split: Split | None = None
    lookup: str | None = None
    unknown: Literal["refuse", "keep", "absent"] = "refuse"
    scale: int | None = Field(default=None, ge=-MAX_SCALE, le=MAX_SCALE)
    round: int | None = Field(default=None, ge=0, le=MAX_SCALE)
    time: Literal["seconds", "milliseconds"] | None = None
    default: Any = None
    each: "Rules | None" = None

    @model_validator(mode="after")
    def _one_origin(self) -> "Rule":
        origins = {"from": self.source, "constant": self.constant, "hash": self.hash}
        named = [name for name, value in origins.items() if value is not None]
        if len(named) != 1:
            raise ValueError(f"needs one of from, constant and hash; it has {' and '.join(named) or 'none'}")
        return self

    @property
    def reads(self) -> tuple[str, ...]:
        """The paths in the source that this rule reads."""
        return self.source or self.hash or ()


Rules = dict[str, Annotated[Rule, _SPELLED_OUT]]
Rule.model_rebuild()


class Place(StrictModel):
    """Where the items are within a JSON object: `items` is the path to them, `key` the column for their names."""

    items: tuple[str, ...] = ()
    key: str | None = Field(default=None, min_length=1)


class ItemMap(StrictModel):
    """A map: the place of the items, a rule for each field, and the lookup tables."""

    source: Place = Place()
    fields: Rules
    lookups: dict[str, dict[str, str | int | float]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _is_consistent(self) -> "ItemMap":
        errors = [*_name_errors(self.fields, columns(), ("id", "name"), ""), *self._lookup_errors(self.fields)]
        for name, rule in self.fields.items():
            if rule.hash is not None and name != "id":
                errors.append(f"fields.{name}: hash is for id alone")
        if errors:
            raise ValueError("; ".join(errors))
        return self

    def _lookup_errors(self, rules: Rules) -> Iterator[str]:
        for name, rule in rules.items():
            if rule.lookup is not None and rule.lookup not in self.lookups:
                yield f"fields.{name}: there is no table [lookups.{rule.lookup}]"
            yield from self._lookup_errors(rule.each or {})


def _name_errors(rules: Rules, names: tuple[str, ...], needed: tuple[str, ...], below: str) -> Iterator[str]:
    for name, rule in rules.items():
        if name not in names:
            yield f"fields.{below}{name} is no field of an item; these are: {', '.join(names)}"
        if rule.each is not None:
            if below or name != "attachments":
                yield f"fields.{below}{name}: each is for attachments alone"
            yield from _name_errors(rule.each, json_names(Attachment), ("name",), "attachments.each.")
    yield from (f"fields.{below}{name} is missing: every item needs it" for name in needed if name not in rules)


def read_item_map(path: Path) -> ItemMap:
    """Reads a map; raises CommandError, which names the file and what is wrong in it."""
    try:
        return ItemMap.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise CommandError(f"the map {path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CommandError(f"the map {path} is no TOML: {error}") from error
    except ValidationError as error:
        message = f"the map {path} cannot be used: {describe_errors(error)}; docs/sources.md describes maps"
        raise CommandError(message) from error
