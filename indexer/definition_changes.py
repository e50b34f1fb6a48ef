"""Changes of a definition: an index's mapping and the one to come in, the fields that differ out. Pure."""

from collections.abc import Iterator
from typing import Any

_BELOW = ("properties", "fields")


def field_changes(present: dict[str, Any], coming: dict[str, Any]) -> dict[str, list[str]]:
    """The names in which two mappings differ; a changed one says from what to what, one parameter after the other."""
    before, after = dict(_fields(present)), dict(_fields(coming))
    changed = []
    for name in sorted(before.keys() & after.keys()):
        old, new = before[name], after[name]
        different = [key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key)]
        if different:
            parts = (f"{key} {_shown(old.get(key))} -> {_shown(new.get(key))}" for key in different)
            changed.append(f"{name} ({', '.join(parts)})")
    return {
        "added": sorted(after.keys() - before.keys()),
        "removed": sorted(before.keys() - after.keys()),
        "changed": changed,
    }


def _fields(mapping: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for below in _BELOW:
        for name, body in mapping.get(below, {}).items():
            yield f"{prefix}{name}", {key: _comparable(value) for key, value in body.items() if key not in _BELOW}
            yield from _fields(body, f"{prefix}{name}.")


def _comparable(value: Any) -> Any:
    """The engine gives a list of one back where one word was set."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _shown(value: Any) -> str:
    return "unset" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
