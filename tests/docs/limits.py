"""Types and limits of a JSON schema in words, as a table shows them."""

from typing import Any

Schema = dict[str, Any]
_MIN = -(2**63)
_MAX = (2**63 - 1, 2**63)  # the second where the bound went through a float
_PLAIN_PATTERN = r"^[^\x00]*$"  # every text but for a NUL


def resolve(schema: Schema, described: Schema) -> Schema:
    """The schema that a reference names; any other schema is itself."""
    if "$ref" not in described:
        return described
    target: Schema = schema["components"]["schemas"][described["$ref"].rsplit("/", 1)[-1]]
    return target


def type_of(schema: Schema, described: Schema) -> str:
    """The type without null, or the few values that are allowed."""
    target = _not_null(schema, described)
    if "const" in target:
        return f"`{target['const']}`"
    if "enum" in target:
        return ", ".join(f"`{value}`" for value in target["enum"])
    if target.get("type") == "array":
        item = type_of(schema, target["items"])
        return f"list of {item}" if item.startswith("`") else f"list of {item}s"
    return str(target["type"])


def limits_of(schema: Schema, described: Schema) -> str:
    """Bounds, lengths, numbers of values, formats and patterns; empty where there are none."""
    target = _not_null(schema, described)
    limits = [_bounds(target), _between(target.get("minLength"), target.get("maxLength"), "character")]
    limits.append(f"format `{target['format']}`" if "format" in target else "")
    pattern = target.get("pattern", _PLAIN_PATTERN)
    limits.append("" if pattern == _PLAIN_PATTERN else f"matches `{pattern}`")
    limits.append(_between(target.get("minItems"), target.get("maxItems"), "value"))
    if target.get("type") == "array":
        each = limits_of(schema, target["items"])
        limits.append(f"each {each}" if each else "")
    return ", ".join(limit for limit in limits if limit)


def _not_null(schema: Schema, described: Schema) -> Schema:
    for choice in described.get("anyOf", ()):
        if choice.get("type") != "null":
            return resolve(schema, choice)
    return resolve(schema, described)


def _bounds(target: Schema) -> str:
    minimum, maximum = target.get("minimum"), target.get("maximum")
    if minimum == _MIN and maximum in _MAX:
        return "64-bit"
    return _between(minimum, None if maximum in _MAX else maximum, "")


def _between(minimum: float | None, maximum: float | None, unit: str) -> str:
    if minimum is None and maximum is None:
        return ""
    if maximum is None:
        return f"at least {minimum:,.0f}{_units(unit, minimum)}"
    return f"{'up to' if minimum is None else f'{minimum:,.0f} to'} {maximum:,.0f}{_units(unit, maximum)}"


def _units(unit: str, number: float | None) -> str:
    return unit and f" {unit}{'' if number == 1 else 's'}"
