"""Applies a map: turns the values of an item in its source's shape into the values of our item, or refuses it. Pure."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any

import orjson

from indexer.documents.refusal import ItemRefusedError, Refusal, readable_id, shortened
from indexer.documents.timestamps import iso_without_offset
from indexer.sources.csv import typed_cell
from indexer.sources.item_map import ItemMap, Rule, Rules
from indexer.sources.records import Record, nest

_NUMBER = re.compile(r"[+-]?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,2})?", re.ASCII)
# More digits than _NUMBER or a double can have, so that scaling and rounding are exact.
_EXACT = Context(prec=1000)
_PLACES = 150  # after the point
_END_SECONDS = 10**11
_MISSING = object()  # no value at all, not even a null


class _RuleError(ValueError):
    """A rule cannot be applied to a value; the message says why."""


@dataclass
class Mapper:
    """Applies one map; `matched` are the paths that at least one item had."""

    item_map: ItemMap
    matched: set[str] = field(default_factory=set)

    def apply(self, record: Record) -> Record:
        """The record with the values of our item, or with what refuses it."""
        content = record.content
        if isinstance(content, bytes):
            try:
                content = orjson.loads(content)
            except orjson.JSONDecodeError as error:
                content = ItemRefusedError.of_item(f"Invalid JSON: {error}", shortened(record.content))
        if isinstance(content, ItemRefusedError):
            return Record(record.line, content)
        if not isinstance(content, dict):
            return Record(record.line, ItemRefusedError.of_item("is no object", shortened(content)))
        values, refusals = self._values(content, self.item_map.fields)
        if refusals:
            return Record(record.line, ItemRefusedError(refusals, readable_id(values)))
        return Record(record.line, values)

    def unmatched_paths(self) -> list[str]:
        """The paths that no item had, in the map's order: most often a misspelt name."""
        paths = [path for rule in self.item_map.fields.values() for path in rule.reads]
        return [path for path in dict.fromkeys(paths) if path not in self.matched]

    def with_source_names(self, refusals: tuple[Refusal, ...]) -> tuple[Refusal, ...]:
        """The refusals, each with the source's own name for its field."""
        return tuple(self._with_source_name(refusal) for refusal in refusals)

    def _with_source_name(self, refusal: Refusal) -> Refusal:
        name = refusal.field or ""
        rule = self.item_map.fields.get(name) or self.item_map.fields.get(name.partition(".")[0])
        if rule is None or not rule.reads:
            return refusal
        return replace(refusal, reason=f"{refusal.reason} (from {' or '.join(rule.reads)})")

    def _values(self, content: Mapping[str, Any], rules: Rules) -> tuple[dict[str, Any], tuple[Refusal, ...]]:
        values: dict[str, Any] = {}
        refusals: list[Refusal] = []
        for name, rule in rules.items():
            origin = self._origin(content, rule)
            try:
                value = self._converted(name, origin, rule)
            except _RuleError as error:
                refusals.append(Refusal(name, shortened(origin), str(error)))
                continue
            if value is not None:
                values[name] = value
        return nest(values), tuple(refusals)

    def _origin(self, content: Mapping[str, Any], rule: Rule) -> Any:
        """The value that the rule begins with; None where the source has none."""
        if rule.constant is not None:
            return rule.constant
        values = []
        for path in rule.reads:
            value = _at(content, path)
            if value is _MISSING:
                continue
            self.matched.add(path)
            if value is not None and not _is_any_of(value, rule.absent):
                if rule.source is not None:
                    return value
                values.append(value)
        return values if rule.hash is not None and len(values) == len(rule.hash) else None

    def _converted(self, name: str, value: Any, rule: Rule) -> Any:
        """The value after every step of the rule; raises _RuleError."""
        if value is not None and rule.hash is not None:
            return hashed_id(value, rule.bits)
        if value is not None and rule.pattern is not None:
            match = re.search(rule.pattern, _text(value))
            value = match.group(1) if match else None
        if value is not None and rule.split is not None:
            parts = _text(value).split(rule.split.at)
            at = rule.split.part - (rule.split.part > 0)
            value = parts[at].strip() or None if -len(parts) <= at < len(parts) else None
        if value is not None and rule.lookup is not None:
            value = self._looked_up(value, rule)
        if value is not None and (rule.scale is not None or rule.round is not None):
            value = _number(value, rule)
        if value is not None and rule.time is not None:
            value = _timestamp(value, rule.time)
        if value is None or value == "":
            value = rule.default
        if isinstance(value, str):
            value = _typed(name, value)
        if value is not None and rule.each is not None:
            value = self._each(value, rule.each)
        return value

    def _looked_up(self, value: Any, rule: Rule) -> Any:
        table = self.item_map.lookups[rule.lookup or ""]
        text = _text(value)
        if text in table or rule.unknown == "absent":
            return table.get(text)
        if rule.unknown == "keep":
            return value
        raise _RuleError(f"is not in the table {rule.lookup}")

    def _each(self, value: Any, rules: Rules) -> list[Any]:
        if not isinstance(value, list):
            raise _RuleError("is no list, which each needs")
        elements = []
        for number, element in enumerate(value):
            if not isinstance(element, dict):
                raise _RuleError(f"its element {number} is no object, which each needs")
            values, refusals = self._values(element, rules)
            if refusals:
                raise _RuleError(f"its element {number}: {refusals[0].field} {refusals[0].reason}")
            elements.append(values)
        return elements


def _typed(name: str, text: str) -> Any:
    try:
        return typed_cell(name, text)
    except orjson.JSONDecodeError as error:
        raise _RuleError(f"Invalid JSON: {error}") from error


def hashed_id(parts: Sequence[Any], bits: int) -> int:
    """An id derived from texts: the first `bits` bits of the SHA-256 of their UTF-8, joined by NUL."""
    text = "\0".join(_text(part) for part in parts)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - bits)


def _at(content: Any, path: str) -> Any:
    """The value at a path: the column of exactly that name, else one part after the other; lists count from 0."""
    if isinstance(content, Mapping) and path in content:
        return content[path]
    for part in path.split("."):
        if isinstance(content, Mapping):
            content = content.get(part, _MISSING)
        elif isinstance(content, list) and part.isdecimal() and len(part) < 10:
            content = content[int(part)] if int(part) < len(content) else _MISSING
        else:
            return _MISSING
    return content


def _is_any_of(value: Any, absent: Sequence[Any]) -> bool:
    return any(value == marker and isinstance(value, bool) == isinstance(marker, bool) for marker in absent)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | dict | bytes):
        raise _RuleError("is no plain value")
    return orjson.dumps(value).decode() if isinstance(value, bool) else str(value)


def _decimal(value: Any, step: str) -> Decimal:
    text = str(value) if isinstance(value, str | int | float | Decimal) and not isinstance(value, bool) else ""
    if not _NUMBER.fullmatch(text):
        raise _RuleError(f"is no number, which {step} needs")
    return Decimal(text)


def _number(value: Any, rule: Rule) -> float:
    number = _decimal(value, "scale" if rule.scale is not None else "round")
    if rule.scale is not None:
        number = number.scaleb(rule.scale, _EXACT)
    if rule.round is not None:
        number = number.quantize(Decimal(1).scaleb(-rule.round), ROUND_HALF_EVEN, _EXACT)
    return int(number) if number == number.to_integral_value() else float(number)


def _timestamp(value: Any, unit: str) -> str:
    ticks = int(_decimal(value, "time").scaleb(_PLACES if unit == "seconds" else _PLACES - 3, _EXACT))
    if not 0 <= ticks < _END_SECONDS * 10**_PLACES:
        raise _RuleError(f"is no time in {unit} since 1970")
    return f"{iso_without_offset(ticks, 10**_PLACES)}Z"
