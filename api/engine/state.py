"""Reads the engine's state for operators: its health, the indices of a platform, and who is at work on them."""

from contextlib import suppress
from typing import Any, Final

from msgspec.json import Decoder

from api.engine.client import Engine
from api.engine.errors import ForbiddenError, MissingError, NotLoadedError
from api.engine.responses import HitsResponse, Json, hits_of
from mappings.names import generation_pattern, locks_alias, parse_generation, products_of, tombstones_alias
from mappings.platforms import Platform
from mappings.timestamps import rfc3339

_HEALTH: Final = "status,number_of_nodes,unassigned_shards"
_CHECKPOINT: Final = "checkpoint"
_MAX_RECORDS: Final = 1000  # of all platforms
_locks: Final = Decoder(HitsResponse[Json])


async def health(engine: Engine) -> Json:
    """The health of the cluster; raises ApiError `search_unavailable`."""
    response = await engine.request(lambda client: client.cluster.health(params={"filter_path": _HEALTH}))
    return {
        "status": response["status"],
        "nodes": response["number_of_nodes"],
        "unassignedShards": response["unassigned_shards"],
    }


async def generations(engine: Engine, platform: Platform, serving: str | None) -> list[Json]:
    """The indices of a platform, the newest first; raises ApiError `search_unavailable`."""
    alias = engine.alias(platform)
    params = {"filter_path": "indices.*.primaries.docs.count,indices.*.primaries.store.size_in_bytes"}
    response = await engine.request(
        lambda client: client.indices.stats(index=generation_pattern(alias), metric="docs,store", params=params)
    )
    primaries = {index: stats["primaries"] for index, stats in response.get("indices", {}).items()}
    sizes = {index: each["store"]["size_in_bytes"] for index, each in primaries.items()}
    return [
        {
            "index": index,
            "createdAt": rfc3339(generation.created_at),
            "fingerprint": generation.fingerprint,
            "serving": index == serving,
            "items": primaries[index]["docs"]["count"],
            "bytes": sizes[index] + sizes.get(products_of(index), 0),
        }
        for index in sorted(primaries, reverse=True)
        if (generation := parse_generation(alias, index)) is not None
    ]


async def work(engine: Engine, platform: Platform) -> Json | None:
    """Which command holds the lock of a platform, and how far a load is acknowledged; raises `search_unavailable`."""
    alias = engine.alias(platform)
    lock = await _document(engine, locks_alias(alias), alias)
    if lock is None:
        return None
    document = await _document(engine, tombstones_alias(alias), _CHECKPOINT) or {}
    checkpoint = document.get("checkpoint", {})
    if checkpoint.get("index") != lock["index"]:  # of an earlier load
        checkpoint = {}
    return {
        "command": lock["command"],
        "host": lock["owner"]["host"],
        "index": lock["index"],
        "since": lock["since"],
        "heartbeat": lock["heartbeat"],
        "read": checkpoint.get("read"),
        "indexed": checkpoint.get("items"),
    }


async def progress_records(engine: Engine, platform: Platform) -> list[Json]:
    """What became of the last load of a platform and of its followers, by what they wrote down, the last heard of
    first; raises ApiError `search_unavailable`.
    """
    alias = engine.alias(platform)
    with suppress(MissingError, NotLoadedError, ForbiddenError):
        response = await engine.send_search(_locks, {"size": _MAX_RECORDS}, index=locks_alias(alias))
        records = [hit["_source"].get("intake", {}) for hit in hits_of(response)]
        entries = [_progress_entry(record) for record in records if record.get("alias") == alias]
        return sorted(entries, key=lambda entry: str(entry["heartbeat"]), reverse=True)
    return []


def _progress_entry(record: Json) -> Json:
    copied = ("command", "source", "host", "since", "heartbeat", "ended", "read", "rejected", "lag")
    reasons = sorted(record["reasons"].items(), key=lambda reason: (-reason[1], reason[0]))
    return {
        **{name: record[name] for name in copied},
        "ageSeconds": record["age"],
        "reasons": [{"reason": reason, "count": count} for reason, count in reasons],
    }


async def _document(engine: Engine, index: str, document_id: str) -> dict[str, Any] | None:
    """A document by its id; None where there is none, or where the engine's user may not read it."""
    with suppress(MissingError, NotLoadedError, ForbiddenError):
        response = await engine.request(lambda client: client.get(index=index, id=document_id))
        source: dict[str, Any] = response["_source"]
        return source
    return None
