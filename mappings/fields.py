"""The one table of filters, sorts and suggestions: from the API's names to index fields and their kinds.

A new filter, facet or sort is a row here and a golden file. Requests, explanations, the page /explore and the oracle of
the tests read the table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from operator import getitem
from typing import Any, Final

# Keeps out items that an active order binds. They are few, so excluding them costs the engine nothing; a clause that
# every item has to meet would be evaluated for every item.
OFFERED: Final = {"bool": {"must_not": [{"term": {"bound": True}}]}}
TIE_BREAKERS: Final = ({"id": "asc"}, {"platform": "asc"})
"""The end of every sort: by id; across platforms two items may have the same id."""


class Kind(StrEnum):
    """How a filter's values are compared."""

    FOLDED = "folded"  # any of these strings, after folding
    EXACT = "exact"  # any of these strings, byte for byte
    INTEGER = "integer"  # any of these integers
    MONEY = "money"  # a range in the currency's main unit, minor units in the index, in its sub-field `ascending`
    RANGE = "range"  # a range of numbers from 0 to 1
    ATTACHMENTS = "attachments"  # conditions that attachments must meet


@dataclass(frozen=True)
class Filter:
    """One filter: its name in `filters`, its index field, its path in an item, its kind, and whether it is a facet."""

    name: str
    field: str
    path: str
    kind: Kind
    max_values: int = 100
    facet: bool = False

    def value_in(self, item: Mapping[str, Any]) -> Any:
        """What an item, as responses show it, has at the filter's path."""
        return reduce(getitem, self.path.split("."), item)


@dataclass(frozen=True)
class Sort:
    """One sort: its name and the index field with its direction; ties always go by id ascending."""

    name: str
    field: str
    descending: bool = False


@dataclass(frozen=True)
class Suggested:
    """One kind of suggestion and the index field of its texts; `several`: an item may have more than one."""

    kind: str
    field: str
    several: bool = False


FILTERS: tuple[Filter, ...] = (
    Filter("price", "price", "price", Kind.MONEY, facet=True),
    Filter("name", "name", "name", Kind.EXACT),
    Filter("weapon", "weapon", "details.weapon", Kind.FOLDED, facet=True),
    Filter("type", "type", "details.type", Kind.FOLDED, facet=True),
    Filter("rarity", "rarity", "details.rarity", Kind.FOLDED, facet=True),
    Filter("exterior", "exterior", "details.exterior", Kind.FOLDED, facet=True),
    Filter("quality", "quality", "details.quality", Kind.FOLDED, facet=True),
    Filter("phase", "phase", "details.phase", Kind.FOLDED, facet=True),
    Filter("set", "set", "details.set", Kind.FOLDED, facet=True),
    Filter("tournament", "tournament", "details.tournament", Kind.FOLDED, facet=True),
    Filter("color", "color", "details.color", Kind.FOLDED, facet=True),
    Filter("float", "float", "paint.float", Kind.RANGE, facet=True),
    Filter("seed", "seed", "paint.seed", Kind.INTEGER, 1000),
    Filter("paintIndex", "paintIndex", "paint.index", Kind.INTEGER),
    Filter("pattern", "pattern", "paint.pattern", Kind.INTEGER),
    Filter("ids", "id", "id", Kind.INTEGER, 1000),
    Filter("attachments", "attachments", "attachments", Kind.ATTACHMENTS, 20),
)

FACETS: tuple[Filter, ...] = tuple(row for row in FILTERS if row.facet)

SORTS: tuple[Sort, ...] = (
    Sort("relevance", "_score", descending=True),
    Sort("price_asc", "price.ascending"),
    Sort("price_desc", "price", descending=True),
    Sort("float_asc", "float"),
    Sort("float_desc", "float", descending=True),
    Sort("name_asc", "name.folded"),
    Sort("name_desc", "name.folded", descending=True),
    Sort("newest", "listedAt", descending=True),
)

# Each field has `folded` and `typed` (its words and their joins) below it in `products.json`.
SUGGESTED: tuple[Suggested, ...] = (
    Suggested("item", "name"),
    Suggested("weapon", "weapon"),
    Suggested("finish", "finish"),
    Suggested("set", "set"),
    Suggested("sticker", "stickers", several=True),
)

# The item's string fields below `details`, in the order in which responses show them.
DETAILS: tuple[str, ...] = ("type", "weapon", "set", "quality", "rarity", "exterior", "phase", "tournament", "color")
