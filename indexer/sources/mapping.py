"""Mapping: the values of one item in its source's shape and a map in, the values of our item out, or why not. Pure."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Any

import orjson

from indexer.documents.document import Fault, ItemRefusedError, readable_id, shortened
from indexer.documents.timestamps import EPOCH
from indexer.sources.csv import typed_cell
from indexer.sources.item_map import ItemMap, Rule, Rules
from indexer.sources.record import Record

_NUMBER = re.compile(r"[+-]?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,2})?", re.ASCII)
# More digits than any number that _NUMBER or a double can have, so that a scale or rounding is exact.
_EXACT = Context(prec=1000)
_LATEST_SECONDS = 10**11
_NOWHERE = object()  # a path that leads to nothing, not even to a null


class _UnfitError(ValueError):
    """A value that a rule cannot be applied to; the message is the rule's."""


@dataclass
class Mapper:
    """Applies one map; `found` are the paths that at least one item had."""

    item_map: ItemMap
    found: set[str] = field(default_factory=set)

    def mapped(self, record: Record) -> Record:
        """The record with the values of our item, or with the faults that kept them from being made."""
        content = record.content
        if isinstance(content, bytes):
            try:
                content = orjson.loads(content)
            except orjson.JSONDecodeError as error:
                refused = ItemRefusedError((Fault(None, shortened(record.content), f"Invalid JSON: {error}"),))
                return Record(record.line, refused)
        if isinstance(content, ItemRefusedError):
            return Record(record.line, content)
        if not isinstance(content, dict):
            return Record(record.line, ItemRefusedError((Fault(None, shortened(content), "is no object"),)))
        values, faults = self._values(content, self.item_map.fields)
        return Record(record.line, ItemRefusedError(faults, readable_id(values)) if faults else values)

    def never_found(self) -> list[str]:
        """The paths that no item had, in the map's order: most often a misspelt name."""
        paths = [path for rule in self.item_map.fields.values() for path in rule.reads]
        return [path for path in dict.fromkeys(paths) if path not in self.found]

    def explained(self, faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
        """The faults, each with the source's own name for its field."""
        return tuple(self._explained(fault) for fault in faults)

    def _explained(self, fault: Fault) -> Fault:
        name = fault.field or ""
        rule = self.item_map.fields.get(name) or self.item_map.fields.get(name.partition(".")[0])
        if rule is None or not rule.reads:
            return fault
        return replace(fault, reason=f"{fault.reason} (from {' or '.join(rule.reads)})")

    def _values(self, content: Mapping[str, Any], rules: Rules) -> tuple[dict[str, Any], tuple[Fault, ...]]:
        values: dict[str, Any] = {}
        faults: list[Fault] = []
        for name, rule in rules.items():
            taken = self._taken(content, rule)
            try:
                value = self._changed(name, taken, rule)
            except _UnfitError as error:
                faults.append(Fault(name, shortened(taken), str(error)))
                continue
            if value is None:
                continue
            part, dot, inner = name.partition(".")
            if dot:
                values.setdefault(part, {})[inner] = value
            else:
                values[part] = value
        return values, tuple(faults)

    def _taken(self, content: Mapping[str, Any], rule: Rule) -> Any:
        """What the rule begins with; None where the source has nothing."""
        if rule.constant is not None:
            return rule.constant
        found = []
        for path in rule.reads:
            value = _at(content, path)
            if value is _NOWHERE:
                continue
            self.found.add(path)
            if value is not None and not _is_one_of(value, rule.absent):
                if rule.source is not None:
                    return value
                found.append(value)
        return found if rule.hash is not None and len(found) == len(rule.hash) else None

    def _changed(self, name: str, value: Any, rule: Rule) -> Any:
        """The value after each step that the rule names; raises _UnfitError."""
        if value is not None and rule.hash is not None:
            return hashed(value, rule.bits)
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
            value = _moment(value, rule.time)
        if value is None or value == "":
            value = rule.default
        if isinstance(value, str):
            value = _typed(name, value)
        if value is not None and rule.each is not None:
            value = self._each(name, value, rule.each)
        return value

    def _looked_up(self, value: Any, rule: Rule) -> Any:
        known = self.item_map.lookups[rule.lookup or ""]
        text = _text(value)
        if text in known or rule.unknown == "absent":
            return known.get(text)
        if rule.unknown == "keep":
            return value
        message = f"is not in the table {rule.lookup}"
        raise _UnfitError(message)

    def _each(self, name: str, value: Any, rules: Rules) -> list[Any]:
        if not isinstance(value, list):
            message = "is no list, which each needs"
            raise _UnfitError(message)
        made = []
        for number, one in enumerate(value):
            if not isinstance(one, dict):
                message = f"its element {number} is no object, which each needs"
                raise _UnfitError(message)
            values, faults = self._values(one, rules)
            if faults:
                message = f"its element {number}: {faults[0].field} {faults[0].reason}"
                raise _UnfitError(message)
            made.append(values)
        return made


def _typed(name: str, text: str) -> Any:
    try:
        return typed_cell(name, text)
    except orjson.JSONDecodeError as error:
        message = f"Invalid JSON: {error}"
        raise _UnfitError(message) from error


def hashed(parts: Sequence[Any], bits: int) -> int:
    """An id made of texts: the first `bits` bits of the SHA-256 of their UTF-8, with a NUL between two of them."""
    text = "\0".join(_text(part) for part in parts)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - bits)


def _at(content: Any, path: str) -> Any:
    """The value at a path: the column of that very name, else down the path's parts; numbers count in lists from 0."""
    if isinstance(content, Mapping) and path in content:
        return content[path]
    for part in path.split("."):
        if isinstance(content, Mapping):
            content = content.get(part, _NOWHERE)
        elif isinstance(content, list) and part.isdecimal() and len(part) < 10:
            content = content[int(part)] if int(part) < len(content) else _NOWHERE
        else:
            return _NOWHERE
    return content


def _is_one_of(value: Any, absent: Sequence[Any]) -> bool:
    return any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in absent)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | dict):
        message = "is no plain value"
        raise _UnfitError(message)
    return orjson.dumps(value).decode() if isinstance(value, bool) else str(value)


def _decimal(value: Any, what: str) -> Decimal:
    text = str(value) if isinstance(value, str | int | float | Decimal) and not isinstance(value, bool) else ""
    if not _NUMBER.fullmatch(text):
        message = f"is no number, which {what} needs"
        raise _UnfitError(message)
    return Decimal(text)


def _number(value: Any, rule: Rule) -> float:
    number = _decimal(value, "scale" if rule.scale is not None else "round")
    if rule.scale is not None:
        number = number.scaleb(rule.scale, _EXACT)
    if rule.round is not None:
        number = number.quantize(Decimal(1).scaleb(-rule.round), ROUND_HALF_EVEN, _EXACT)
    return int(number) if number == number.to_integral_value() else float(number)


def _moment(value: Any, unit: str) -> str:
    number = _decimal(value, "time")
    seconds = number if unit == "seconds" else number.scaleb(-3, _EXACT)
    whole = int(seconds.to_integral_value(ROUND_FLOOR, _EXACT))
    if not 0 <= whole < _LATEST_SECONDS:
        message = f"is no time in {unit} since 1970"
        raise _UnfitError(message)
    fraction = format(_EXACT.subtract(seconds, whole), "f")[1:].rstrip("0").rstrip(".")
    return f"{EPOCH + timedelta(seconds=whole):%Y-%m-%dT%H:%M:%S}{fraction}Z"
