"""What the doctor reads of a platform, as it is where nothing is wrong."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from indexer.doctor.facts import IndexFacts, PlatformFacts
from indexer.engine.drift import DefinedIndex, defined_listings, defined_products
from mappings.definition import read_definition
from mappings.names import parse_generation, products_of

ALIAS = "gear-730"
DEFINITION = read_definition()
LISTINGS, PRODUCTS = defined_listings(DEFINITION), defined_products(DEFINITION)


def _as_reported(value: Any) -> Any:
    """A setting's value as the engine tells it."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, list) else str(value)


def _as_defined(name: str, generation: str, aliases: Sequence[str], defined: DefinedIndex) -> IndexFacts:
    analysis = {
        f"analysis.{kind}.{entry}.{key}": _as_reported(value)
        for kind, entries in defined.analysis.items()
        for entry, parts in entries.items()
        for key, value in parts.items()
    }
    return IndexFacts(
        name=name,
        generation=parse_generation(ALIAS, generation),
        aliases=frozenset(aliases),
        settings={**{key: _as_reported(value) for key, value in defined.settings.items()}, **analysis},
        mappings={**defined.mappings, "_meta": DEFINITION.meta()},
        items=3,
        bytes=1_000_000,
    )


def an_index(day: int, *aliases: str, **changed: Any) -> IndexFacts:
    """The listings of a generation in perfect order."""
    name = f"{ALIAS}-202601{day:02d}000000000-{DEFINITION.fingerprint}"
    return replace(_as_defined(name, name, aliases, LISTINGS), **changed)


def products_for(index: IndexFacts, **changed: Any) -> IndexFacts:
    """The products of a generation in perfect order."""
    aliases = [products_of(alias) for alias in index.aliases]
    return replace(_as_defined(products_of(index.name), index.name, aliases, PRODUCTS), **{"bytes": 0, **changed})


def platform_facts(*indices: IndexFacts, **changed: Any) -> PlatformFacts:
    """A platform whose generations have their products."""
    products = tuple(products_for(index) for index in indices if index.generation is not None)
    return replace(PlatformFacts(730, ALIAS, DEFINITION, indices, products=products), **changed)


def set_to(index: IndexFacts, **settings: str) -> IndexFacts:
    """The index with other settings; `__` stands for a dot."""
    return replace(
        index, settings={**index.settings, **{name.replace("__", "."): value for name, value in settings.items()}}
    )
