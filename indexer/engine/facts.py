"""Facts: an engine in, what it says about itself and a platform's indices out, without any judgement."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError, RequestError

from indexer.doctor.disks import Disk, Watermarks
from mappings.names import Generation, generation_pattern, parse_generation

# An idle shard is flushed by the engine after 5 minutes (indices.memory.shard_inactive_time), looked at every 5 seconds
# (indices.memory.interval): what still has unflushed changes was written within that time, whatever its files' age.
FLUSHED_AFTER = 310.0


@dataclass(frozen=True)
class Template:
    """An index template, and the path at which it is."""

    name: str
    path: str
    patterns: tuple[str, ...]


@dataclass(frozen=True)
class EngineFacts:
    """What is true of the whole cluster."""

    distribution: str
    version: str
    status: str  # green, yellow or red
    data_nodes: int
    disks: tuple[Disk, ...]
    watermarks: Watermarks | None  # None where the engine does not mind its disks
    auto_create: str
    templates: tuple[Template, ...]


@dataclass(frozen=True)
class IndexFacts:
    """One index; `generation` is None for what no load has made, `idle_seconds` where it is not known."""

    name: str
    generation: Generation | None
    aliases: frozenset[str]
    settings: dict[str, Any]  # flat, below `index`
    mappings: dict[str, Any]
    items: int
    bytes: int
    idle_seconds: float | None

    @property
    def closed(self) -> bool:
        """Whether somebody closed it: it answers nothing, and nothing can be asked of it but its settings."""
        return str(self.settings.get("verified_before_close")).lower() == "true"

    @property
    def result_window(self) -> int:
        """How many items a page and all before it may have; 10,000 is the engine's default."""
        return int(self.settings.get("max_result_window", 10_000))


@dataclass(frozen=True)
class LostShard:
    """A shard, or a copy of one, that is on no node."""

    index: str
    shard: int
    primary: bool
    reason: str


def engine_facts(client: OpenSearch) -> EngineFacts:
    """Asks the cluster about itself."""
    version = client.info()["version"]
    health = client.cluster.health()
    settings = _cluster_settings(client)
    disk = "cluster.routing.allocation.disk."
    minds = str(settings.get(f"{disk}threshold_enabled", "true")).lower() == "true"
    marks = [str(settings.get(f"{disk}watermark.{name}", default)) for name, default in _MARKS]
    return EngineFacts(
        distribution=version.get("distribution", "elasticsearch"),
        version=version["number"],
        status=health["status"],
        data_nodes=health["number_of_data_nodes"],
        disks=_disks(client),
        watermarks=Watermarks(*marks) if minds else None,
        auto_create=_listed(settings.get("action.auto_create_index", "true")),
        templates=_templates(client),
    )


# The engine's own defaults.
_MARKS = (("low", "85%"), ("high", "90%"), ("flood_stage", "95%"))


def _cluster_settings(client: OpenSearch) -> dict[str, Any]:
    """Every setting as it is in force: transient before persistent before default."""
    answer = client.cluster.get_settings(params={"include_defaults": "true", "flat_settings": "true"})
    return {**answer.get("defaults", {}), **answer.get("persistent", {}), **answer.get("transient", {})}


def _listed(value: Any) -> str:
    return ",".join(value) if isinstance(value, list) else str(value)


def _disks(client: OpenSearch) -> tuple[Disk, ...]:
    nodes = client.nodes.stats(node_id="data:true", metric="fs")["nodes"]
    return tuple(
        Disk(node["name"], node["fs"]["total"]["total_in_bytes"], node["fs"]["total"]["available_in_bytes"])
        for node in nodes.values()
    )


def _templates(client: OpenSearch) -> tuple[Template, ...]:
    new = client.indices.get_index_template()["index_templates"]
    old: dict[str, Any] = client.indices.get_template()
    found = [
        Template(one["name"], f"_index_template/{one['name']}", tuple(one["index_template"]["index_patterns"]))
        for one in new
    ]
    found += [Template(name, f"_template/{name}", tuple(body["index_patterns"])) for name, body in old.items()]
    return tuple(found)


def index_facts(client: OpenSearch, alias: str) -> tuple[IndexFacts, ...]:
    """Every index that has the alias, its name or a generation's name: oldest generation first, others before."""
    bodies: dict[str, Any] = client.indices.get(
        index=f"{alias},{generation_pattern(alias)}",
        params={
            "ignore_unavailable": "true",
            "allow_no_indices": "true",
            "flat_settings": "true",
            "expand_wildcards": "all",
        },
    )
    ours = {
        name: body
        for name, body in bodies.items()
        if name == alias or alias in body["aliases"] or parse_generation(alias, name) is not None
    }
    if not ours:
        return ()
    stats = client.indices.stats(
        index=",".join(ours),
        metric="docs,store,translog",
        params={"expand_wildcards": "all", "ignore_unavailable": "true"},
    )["indices"]
    found = [_index(alias, name, body, stats.get(name, {}).get("primaries", {})) for name, body in ours.items()]
    return tuple(sorted(found, key=lambda one: (one.generation is not None, one.name)))


def _index(alias: str, name: str, body: dict[str, Any], stats: dict[str, Any]) -> IndexFacts:
    return IndexFacts(
        name=name,
        generation=parse_generation(alias, name),
        aliases=frozenset(body["aliases"]),
        settings={key.removeprefix("index."): value for key, value in body["settings"].items()},
        mappings=body["mappings"],
        items=stats.get("docs", {}).get("count", 0),
        bytes=stats.get("store", {}).get("size_in_bytes", 0),
        idle_seconds=_idle(stats.get("translog")),
    )


def _idle(translog: dict[str, Any] | None) -> float | None:
    """Seconds since the last change, or fewer: unflushed changes may be younger than the oldest file of them."""
    if translog is None:
        return None
    age: float = translog["earliest_last_modified_age"] / 1000
    return min(age, FLUSHED_AFTER) if translog["uncommitted_operations"] else age


def lost_shards(client: OpenSearch, indices: Sequence[IndexFacts]) -> tuple[LostShard, ...]:
    """The shards of these indices that are on no node and should be, primaries first, each with why."""
    names = [one.name for one in indices if not one.closed]
    if not names:
        return ()
    rows = client.cat.shards(index=",".join(names), params={"format": "json", "h": "index,shard,prirep,state"})
    lost = sorted(
        ((row["prirep"] != "p", row["index"], int(row["shard"])) for row in rows if row["state"] == "UNASSIGNED"),
    )
    return tuple(
        LostShard(index, shard, not copy, _explanation(client, index, shard, primary=not copy))
        for copy, index, shard in lost
    )


def _explanation(client: OpenSearch, index: str, shard: int, *, primary: bool) -> str:
    try:
        told = client.cluster.allocation_explain(body={"index": index, "shard": shard, "primary": primary})
    except (NotFoundError, RequestError):  # it has found its place, or its index is gone
        return "the engine was just placing it"
    deciders = [
        decider["explanation"]
        for node in told.get("node_allocation_decisions", ())
        for decider in node.get("deciders", ())
        if decider.get("decision") == "NO"
    ]
    reasons = [told.get("unassigned_info", {}).get("reason"), told.get("allocate_explanation"), *deciders[:1]]
    return ": ".join(reason for reason in reasons if reason)
