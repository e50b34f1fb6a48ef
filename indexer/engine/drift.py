"""Drift: the fields and settings in which an index differs from the definition. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mappings.definition import FILES, Definition

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
class DefinedIndex:
    """What one of the two indices of a generation is defined as, and the file that says so."""

    file: str
    settings: dict[str, Any]  # of service, flat below `index`
    analysis: dict[str, Any]
    mappings: dict[str, Any]


@dataclass(frozen=True)
class Differences:
    """Names of fields, or of settings, as seen from the definition."""

    unexpected: tuple[str, ...]  # the index has them, the definition has not
    missing: tuple[str, ...]  # the definition has them, the index has not
    changed: tuple[str, ...]  # `price: long instead of integer`

    def __bool__(self) -> bool:
        return bool(self.unexpected or self.missing or self.changed)

    def of_a_load(self) -> dict[str, list[str]]:
        """What a load with the definition would add to the index, remove from it and change."""
        return {"added": list(self.missing), "removed": list(self.unexpected), "changed": list(self.changed)}

    def sentence(self) -> str:
        """`unexpected x; missing y; changed z`, each only where there are some."""
        parts = (("unexpected", self.unexpected), ("missing", self.missing), ("changed", self.changed))
        return "; ".join(f"{kind} {', '.join(names)}" for kind, names in parts if names)

    def with_products(self, products: "Differences") -> "Differences":
        """These of listings and those of their products, `products.name`."""
        both = ((vars(self)[kind], vars(products)[kind]) for kind in ("unexpected", "missing", "changed"))
        return Differences(*((*ours, *(f"products.{name}" for name in theirs)) for ours, theirs in both))


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
    return setting.startswith(_AT_CREATION)


def defined_listings(definition: Definition) -> DefinedIndex:
    body = definition.body
    analysis = body["settings"].get("analysis", {})
    return DefinedIndex(FILES[0], flat(body["settings"]["index"]), analysis, body["mappings"])


def defined_products(definition: Definition) -> DefinedIndex:
    body = definition.products
    return DefinedIndex(FILES[1], flat(body["settings"]["index"]), definition.analysis(), body["mappings"])


def field_differences(defined: DefinedIndex, live: dict[str, Any]) -> Differences:
    mappings = defined.mappings
    fields = {"(dynamic)": {"dynamic": mappings.get("dynamic")}, **dict(_fields(mappings.get("properties", {})))}
    actual = {"(dynamic)": {"dynamic": live.get("dynamic")}, **dict(_fields(live.get("properties", {})))}
    return _differences(fields, actual)


def analysis_differences(defined: DefinedIndex, live: dict[str, Any]) -> Differences:
    """Compares the defined analysis with an index's flat settings."""
    settings = {name: {"": _plain(value)} for name, value in flat(defined.analysis, "analysis.").items()}
    actual = {name: {"": _plain(value)} for name, value in live.items() if name.startswith("analysis.")}
    return _differences(settings, actual)


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
        unexpected=tuple(sorted(actual.keys() - defined.keys())),
        missing=tuple(sorted(defined.keys() - actual.keys())),
        changed=tuple(changed),
    )
