"""Reads what the doctor judges: the engine's settings and disks, and a platform's indices."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from indexer.engine.states import is_closed, is_unfinished, loading_alias
from mappings.definition import Definition
from mappings.names import Generation, generation_of, generation_pattern, parse_generation, products_of

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

    from indexer.locking.record import LockRecord

_UNITS = {"b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50}
_WATERMARK = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmgtp])b?|(b|%))?", re.IGNORECASE)


@dataclass(frozen=True)
class Template:
    """An index template, and the path at which it is."""

    name: str
    path: str
    patterns: tuple[str, ...]


@dataclass(frozen=True)
class EngineFacts:
    """What is true of the whole cluster, as far as our findings need it."""

    distribution: str
    version: str
    data_nodes: int
    has_room: bool  # every disk is below the low watermark, or the engine ignores its disks
    auto_create: str
    templates: tuple[Template, ...]


@dataclass(frozen=True)
class IndexFacts:
    """One index; `generation` is that of its listings or products, None for what no load has made."""

    name: str
    generation: Generation | None
    aliases: frozenset[str]
    settings: dict[str, Any]  # flat, below `index`
    mappings: dict[str, Any]
    items: int
    bytes: int

    @property
    def closed(self) -> bool:
        return is_closed(self.settings)

    @property
    def readable(self) -> bool:
        """Whether searches can read it: it is neither closed nor blocked for them, which are findings of their own."""
        return not self.closed and str(self.settings.get("blocks.read")).lower() != "true"

    @property
    def meta(self) -> dict[str, Any]:
        """What was noted when it was made: the `fingerprint` of its definition, the `owner` of its load's lock."""
        meta: dict[str, Any] = self.mappings.get("_meta", {})
        return meta

    @property
    def result_window(self) -> int:
        """How many items a page and all before it may have; 10,000 is the engine's default."""
        return int(self.settings.get("max_result_window", 10_000))


@dataclass(frozen=True)
class LockFacts:
    """A lock, and whether its owner lives; None where that cannot be told from here."""

    record: "LockRecord"
    alive: bool | None

    def is_dead(self, older_than: float) -> bool:
        """Whether its owner is dead, or was not heard of for so many seconds by this machine's clock.

        Clocks may differ, so the second is a guess; no repair relies on it, each takes the lock as every command does.
        """
        return self.alive is False or (self.alive is None and self.record.age() >= older_than)


@dataclass(frozen=True)
class PlatformFacts:
    """One platform's indices, and what they are measured by."""

    platform: int
    alias: str
    definition: Definition
    indices: tuple[IndexFacts, ...]
    older_than: float = 3600.0  # seconds without a heartbeat, after which the owner of a lock counts as dead
    keep: int = 2  # finished generations
    data_nodes: int = 1
    locks: tuple[LockFacts, ...] = ()  # as seen before and after everything else; the last is that of now
    room: bool = False  # every disk is known to be below the low watermark
    products: tuple[IndexFacts, ...] = ()  # with what has the name or the alias of the serving products

    @property
    def serving(self) -> list[IndexFacts]:
        """The indices behind the alias."""
        return [index for index in self.indices if self.alias in index.aliases]

    @property
    def unfinished(self) -> list[IndexFacts]:
        """Generations of loads that run or were interrupted: named so by their alias, or left set up for filling."""
        return [
            index
            for index in self.indices
            if index.generation
            and index not in self.serving
            and is_unfinished(loading_alias(index.name) in index.aliases, index.settings)
        ]

    @property
    def finished(self) -> list[IndexFacts]:
        """Generations that may serve, oldest first."""
        return [
            index for index in self.indices if index.generation and not index.closed and index not in self.unfinished
        ]

    @property
    def comparable(self) -> IndexFacts | None:
        """The one index that can be compared with the orders."""
        ours = [index for index in self.serving if index.generation is not None and not index.closed]
        return ours[0] if len(ours) == len(self.serving) == 1 else None

    def products_of(self, index: IndexFacts) -> IndexFacts | None:
        """The index of products of a generation, where it has one."""
        return next((each for each in self.products if each.name == products_of(index.name)), None)

    def bytes_of(self, index: IndexFacts) -> int:
        """The size of a generation."""
        products = self.products_of(index)
        return index.bytes + (0 if products is None else products.bytes)

    def is_held(self, index: IndexFacts) -> bool:
        """Whether one who may live holds the lock under which an index was made."""
        owner = index.meta.get("owner")
        return any(lock.record.owner.id == owner and not lock.is_dead(self.older_than) for lock in self.locks)


def engine_facts(client: "OpenSearch") -> EngineFacts:
    """Reads the version, settings, disks and index templates of the cluster."""
    version = client.info()["version"]
    health = client.cluster.health()
    response = client.cluster.get_settings(params={"include_defaults": "true", "flat_settings": "true"})
    # as they are in force: transient before persistent before default
    settings = {**response.get("defaults", {}), **response.get("persistent", {}), **response.get("transient", {})}
    auto_create = settings.get("action.auto_create_index", "true")
    return EngineFacts(
        distribution=version.get("distribution", "elasticsearch"),
        version=version["number"],
        data_nodes=health["number_of_data_nodes"],
        has_room=_has_room(client, settings, health["number_of_data_nodes"]),
        auto_create=",".join(auto_create) if isinstance(auto_create, list) else str(auto_create),
        templates=_templates(client),
    )


def _has_room(client: "OpenSearch", settings: dict[str, Any], data_nodes: int) -> bool:
    disk = "cluster.routing.allocation.disk."
    if str(settings.get(f"{disk}threshold_enabled", "true")).lower() != "true":
        return True
    low = str(settings.get(f"{disk}watermark.low", "85%"))  # the engine's own default
    nodes = client.nodes.stats(node_id="data:true", metric="fs")["nodes"]
    disks = [node["fs"]["total"] for node in nodes.values()]
    # a node that did not answer in time is left out
    return len(disks) == data_nodes and have_room(
        [(disk["total_in_bytes"], disk["available_in_bytes"]) for disk in disks], low
    )


def have_room(disks: Sequence[tuple[int, int]], watermark: str) -> bool:
    """Whether every disk, given by its total and free bytes, is below the watermark; not so where none is known."""
    return bool(disks) and all(free >= required_free(watermark, total) for total, free in disks)


def required_free(watermark: str, total: int) -> float:
    """The bytes of a disk that must be free below a watermark (`85%`, `0.85`, `10gb`); raises ValueError."""
    parts = _WATERMARK.fullmatch(watermark.strip())
    if parts is None:
        raise ValueError(f"{watermark!r} is no watermark: a share such as 85% or a size such as 10gb")
    number, unit = float(parts[1]), (parts[2] or parts[3] or "").lower()
    if unit in _UNITS:
        return number * _UNITS[unit]
    return total * (1 - number / (100 if unit else 1))


def _templates(client: "OpenSearch") -> tuple[Template, ...]:
    new = client.indices.get_index_template()["index_templates"]
    old: dict[str, Any] = client.indices.get_template()
    return (
        *(
            Template(row["name"], f"_index_template/{row['name']}", tuple(row["index_template"]["index_patterns"]))
            for row in new
        ),
        *(Template(name, f"_template/{name}", tuple(body["index_patterns"])) for name, body in old.items()),
    )


def index_facts(client: "OpenSearch", alias: str) -> tuple[tuple[IndexFacts, ...], tuple[IndexFacts, ...]]:
    """Every index that has an alias of the platform, its name or that of a generation: those of listings, of products.

    The oldest generation is first, and before it what no load has made.
    """
    bodies: dict[str, Any] = client.indices.get(
        index=f"{alias},{generation_pattern(alias)}",
        params={
            "ignore_unavailable": "true",
            "allow_no_indices": "true",
            "flat_settings": "true",
            "expand_wildcards": "all",
        },
    )
    if not bodies:
        return (), ()
    stats = client.indices.stats(
        index=",".join(bodies),
        metric="docs,store",
        params={"expand_wildcards": "all", "ignore_unavailable": "true"},
    )["indices"]
    facts = [
        _index(alias, name, body, stats.get(name, {}).get("primaries", {})) for name, body in sorted(bodies.items())
    ]
    facts.sort(key=lambda index: index.generation is not None)
    return (
        tuple(index for index in facts if _is_of(index, alias, generation_of(index.name))),
        tuple(index for index in facts if _is_of(index, products_of(alias), products_of(generation_of(index.name)))),
    )


def _is_of(index: IndexFacts, alias: str, generation: str) -> bool:
    """Whether it has the alias or its name, or is the index of a generation that has this name."""
    return alias in (index.name, *index.aliases) or (index.generation is not None and index.name == generation)


def _index(alias: str, name: str, body: dict[str, Any], stats: dict[str, Any]) -> IndexFacts:
    return IndexFacts(
        name=name,
        generation=parse_generation(alias, generation_of(name)),
        aliases=frozenset(body["aliases"]),
        settings={key.removeprefix("index."): value for key, value in body["settings"].items()},
        mappings=body["mappings"],
        items=stats.get("docs", {}).get("count", 0),
        bytes=stats.get("store", {}).get("size_in_bytes", 0),
    )
