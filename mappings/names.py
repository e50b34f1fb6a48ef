"""Names the alias that readers know, and its generations. Pure.

A generation is a platform's complete catalogue in two indices: the listings, `<alias>-<UTC timestamp>-<fingerprint>`,
and their products, the same name and `-products`. The timestamp has milliseconds, as 17 digits, so that names sort by
age and two loads in one second do not collide.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

_GENERATION = re.compile(r"(?P<alias>.+)-(?P<stamp>\d{17})-(?P<fingerprint>[0-9a-f]{8})")


@dataclass(frozen=True, order=True)
class Generation:
    """A platform's two indices, named by the listings': when its load began, and its definition's fingerprint."""

    created_at: datetime
    fingerprint: str
    index: str


def generation_name(alias: str, created_at: datetime, fingerprint: str) -> str:
    """The name of the index that a load begun at `created_at` fills."""
    utc = created_at.astimezone(UTC)
    return f"{alias}-{utc:%Y%m%d%H%M%S}{utc.microsecond // 1000:03d}-{fingerprint}"


def generation_pattern(alias: str) -> str:
    """A wildcard that matches every generation, and names that `parse_generation` rejects."""
    return f"{alias}-*"


def products_of(name: str) -> str:
    """The index of products of a generation, such as `gear-730-<...>-products`, or the alias of the serving one."""
    return f"{name}-products"


def generation_of(products: str) -> str:
    return products.removesuffix("-products")


def alias_of_generation(index: str) -> str | None:
    """The alias whose generation has this name; None for a name that no generation has."""
    match = _GENERATION.fullmatch(index)
    return None if match is None else match["alias"]


def locks_alias(alias: str) -> str:
    """The alias of the locks of all platforms, such as `gear-locks`."""
    return f"{alias.rpartition('-')[0]}-locks"


def locks_index(alias: str) -> str:
    """The index of the locks; no platform's alias or generation can have its name."""
    return f"{locks_alias(alias)}-v1"


def tombstones_alias(alias: str) -> str:
    """The alias of the tombstones, the record of live deletes: `gear-730-deletes`."""
    return f"{alias}-deletes"


def tombstones_index(alias: str) -> str:
    """The index of the tombstones; no generation can have its name."""
    return f"{tombstones_alias(alias)}-v1"


def parse_generation(alias: str, index: str) -> Generation | None:
    """Parses the name of an index; None where it is no generation of this alias."""
    match = _GENERATION.fullmatch(index)
    if match is None or match["alias"] != alias:
        return None
    try:
        created_at = datetime.strptime(match["stamp"] + "000", "%Y%m%d%H%M%S%f").replace(tzinfo=UTC)
    except ValueError:
        return None
    return Generation(created_at, match["fingerprint"], index)
