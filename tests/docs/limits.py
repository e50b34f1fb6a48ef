"""Limits: a JSON schema in, its type and its limits as a table tells them out."""

from typing import Any

Schema = dict[str, Any]
_LEAST = -(2**63)
_MOST = (2**63 - 1, 2**63)  # the second where the bound went through a float
_PLAIN_PATTERN = r"^[^\x00]*$"  # every text but for a NUL


def held_in(schema: Schema, described: Schema) -> Schema:
    """What a reference leads to; anything else is itself."""
    if "$ref" not in described:
        return described
    found: Schema = schema["components"]["schemas"][described["$ref"].rsplit("/", 1)[-1]]
    return found


def type_of(schema: Schema, described: Schema) -> str:
    """The type without null; for a few values these."""
    held = _chosen(schema, described)
    if "const" in held:
        return f"`{held['const']}`"
    if "enum" in held:
        return ", ".join(f"`{value}`" for value in held["enum"])
    if held.get("type") == "array":
        of = type_of(schema, held["items"])
        return f"list of {of}" if of.startswith("`") else f"list of {of}s"
    return str(held["type"])


def limits_of(schema: Schema, described: Schema) -> str:
    """Bounds, lengths, numbers of values, formats and patterns; empty where there are none."""
    held = _chosen(schema, described)
    found = [_bounds(held), _between(held.get("minLength"), held.get("maxLength"), "character")]
    found.append(f"format `{held['format']}`" if "format" in held else "")
    pattern = held.get("pattern", _PLAIN_PATTERN)
    found.append("" if pattern == _PLAIN_PATTERN else f"matches `{pattern}`")
    found.append(_between(held.get("minItems"), held.get("maxItems"), "value"))
    if held.get("type") == "array":
        each = limits_of(schema, held["items"])
        found.append(f"each {each}" if each else "")
    return ", ".join(one for one in found if one)


def _chosen(schema: Schema, described: Schema) -> Schema:
    for choice in described.get("anyOf", ()):
        if choice.get("type") != "null":
            return held_in(schema, choice)
    return held_in(schema, described)


def _bounds(held: Schema) -> str:
    least, most = held.get("minimum"), held.get("maximum")
    if least == _LEAST and most in _MOST:
        return "64-bit"
    return _between(least, None if most in _MOST else most, "")


def _between(least: float | None, most: float | None, unit: str) -> str:
    if least is None and most is None:
        return ""
    if most is None:
        return f"at least {least:,.0f}{_units(unit, least)}"
    return f"{'up to' if least is None else f'{least:,.0f} to'} {most:,.0f}{_units(unit, most)}"


def _units(unit: str, number: float | None) -> str:
    return unit and f" {unit}{'' if number == 1 else 's'}"
