"""Drift: the fields and settings in which an index differs from the definition. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mappings.definition import Definition

# Set only when an index is made; every other setting of the definition can be put on a live index.
_AT_CREATION = (
    "number_of_shards",
    "number_of_routing_shards",
    "routing_partition_size",
    "codec",
    "sort.",
    "soft_deletes.",
    "similarity.",
    "analysis.",
)
_BELOW = ("properties", "fields")


@dataclass(frozen=True)
class Differences:
    """Names of fields, or of settings, as seen from the definition."""

    added: tuple[str, ...]  # the index has them, the definition has not
    removed: tuple[str, ...]  # the definition has them, the index has not
    changed: tuple[str, ...]  # `price: long instead of integer`

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def of_a_load(self) -> dict[str, list[str]]:
        """What a load with the definition would add to the index, remove from it and change."""
        return {"added": list(self.removed), "removed": list(self.added), "changed": list(self.changed)}

    def sentence(self) -> str:
        """`added x; removed y; changed z`, each only where there are some."""
        parts = (("added", self.added), ("removed", self.removed), ("changed", self.changed))
        return "; ".join(f"{kind} {', '.join(names)}" for kind, names in parts if names)


def flat(nested: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings as one level of names with dots; lists stay lists."""
    settings: dict[str, Any] = {}
    for name, value in nested.items():
        if isinstance(value, dict):
            settings |= flat(value, f"{prefix}{name}.")
        else:
            settings[prefix + name] = value
    return settings


def same(defined: Any, live: Any) -> bool:
    """Whether two values of a setting mean the same: the engine answers `"10"` for 10 and `"true"` for true."""
    return bool(_plain(defined) == _plain(live))


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(element) for element in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


def at_creation(setting: str) -> bool:
    """Whether a setting can be given only to a new index."""
    return setting.startswith(_AT_CREATION)


def defined_settings(definition: Definition) -> dict[str, Any]:
    """Every setting of service of the definition, flat below `index`."""
    return flat(definition.index_settings())


def field_differences(definition: Definition, live: dict[str, Any]) -> Differences:
    """Compares the definition's mapping with an index's."""
    mappings = definition.body["mappings"]
    defined = {"(dynamic)": {"dynamic": mappings.get("dynamic")}, **dict(_fields(mappings.get("properties", {})))}
    actual = {"(dynamic)": {"dynamic": live.get("dynamic")}, **dict(_fields(live.get("properties", {})))}
    return _differences(defined, actual)


def analysis_differences(definition: Definition, live: dict[str, Any]) -> Differences:
    """Compares the definition's analysis with an index's flat settings."""
    defined = flat(definition.body["settings"].get("analysis", {}), "analysis.")
    actual = {name: value for name, value in live.items() if name.startswith("analysis.")}
    return _differences(
        {name: {"": _plain(value)} for name, value in defined.items()},
        {name: {"": _plain(value)} for name, value in actual.items()},
    )


def _fields(properties: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, body in properties.items():
        own = {key: value for key, value in body.items() if key not in _BELOW}
        own.setdefault("type", "object")
        if isinstance(own.get("copy_to"), str):  # the engine always answers a list
            own["copy_to"] = [own["copy_to"]]
        yield prefix + name, own
        for key in _BELOW:
            yield from _fields(body.get(key, {}), f"{prefix}{name}.")


def _differences(defined: dict[str, dict[str, Any]], actual: dict[str, dict[str, Any]]) -> Differences:
    changed = []
    for name in sorted(defined.keys() & actual.keys()):
        parts = sorted(defined[name].keys() | actual[name].keys())
        differing = [part for part in parts if defined[name].get(part) != actual[name].get(part)]
        if differing:
            parts_shown = [
                f"{part} {actual[name].get(part)} instead of {defined[name].get(part)}".strip() for part in differing
            ]
            changed.append(f"{name} ({', '.join(parts_shown)})")
    return Differences(
        added=tuple(sorted(actual.keys() - defined.keys())),
        removed=tuple(sorted(defined.keys() - actual.keys())),
        changed=tuple(changed),
    )
