"""The values of the small facets of an item as one, the way the index has them. Pure."""

from collections.abc import Mapping
from functools import lru_cache

import orjson

from mappings.fields import SMALL_FACETS


@lru_cache(maxsize=10_000)
def join_values(*values: str | None) -> str:
    """The values in the order of `SMALL_FACETS`, None where an item has none, as a JSON array."""
    return orjson.dumps(values).decode()


@lru_cache(maxsize=10_000)
def split_values(joined: str) -> Mapping[str, str]:
    """The values by the name of their facet, without those that an item lacks."""
    values = orjson.loads(joined)
    return {row.name: value for row, value in zip(SMALL_FACETS, values, strict=True) if value is not None}
