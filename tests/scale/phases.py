"""The phases of a run at size, each a row of figures; every one checks what it must not lose."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.peers.services import Service
from mappings.names import products_of
from tests.scale.place import ALIAS, NODES, Scale
from tests.scale.traffic import changing, ordering, searching
from tests.support.traffic import client_of

LOST_NODE = 2  # the first one is what the administrator asks
REPOSITORY = "/_snapshot/scale"
RESTORED = {"indices": "gear-*,-gear-locks-*", "include_global_state": False}
Figures = dict[str, Any]


@dataclass(frozen=True)
class Phase:
    """What was done, and what was measured of it."""

    name: str
    figures: Figures


def loaded(scale: Scale) -> Phase:
    """A load by the loader, into an index with two copies."""
    started = time.monotonic()
    scale.indexer("load", str(scale.data.file), "--quiet")
    seconds = time.monotonic() - started
    scale.data.file.unlink()  # the disk is the engine's from here on
    copies = scale.until(_is_settled, ALIAS)
    check(scale.ask("GET", f"/{ALIAS}/_count")["count"], scale.data.count)
    total = scale.ask("GET", f"/{ALIAS},{products_of(ALIAS)}/_stats/store")["_all"]
    return Phase(
        "load",
        {
            "s": round(seconds, 1),
            "items a second": round(scale.data.count / seconds),
            "s until green": round(copies, 1),
            "bytes an item, one copy": round(total["primaries"]["store"]["size_in_bytes"] / scale.data.count),
            "bytes an item, both copies": round(total["total"]["store"]["size_in_bytes"] / scale.data.count),
        },
    )


def alone(service: Service, seconds: float) -> Phase:
    """Searches with nothing beside them, after as long to warm up."""
    with searching(service) as responses:
        time.sleep(seconds)
        start = time.monotonic()
        time.sleep(seconds)
    return Phase("searches alone", responses.since(start).figures())


def beside_changes(scale: Scale, service: Service, seconds: float, rate: int, searches: int) -> Iterator[Phase]:
    """So many searches and changes a second, then a node lost and back beside both."""
    with changing(scale, rate) as changes:
        with searching(service, searches) as responses:
            time.sleep(seconds)
            start = time.monotonic()
            time.sleep(seconds)
            yield Phase(
                f"{searches} searches a second beside {rate:,} changes a second", responses.since(start).figures()
            )
            yield Phase(f"{rate:,} changes a second beside {searches} searches a second", changes.figures(start))
            start = time.monotonic()
            yield from _node_lost(scale)
        lost = responses.since(start)
        yield Phase("searches meanwhile", {**lost.figures(), "longest gap s": round(lost.longest_gap(), 1)})
        yield Phase("changes meanwhile", changes.figures(start))
    last = changes.reports[-1][1]
    check(last["read"], changes.sent)
    check(last["rejected"], 0)


def _node_lost(scale: Scale) -> Iterator[Phase]:
    """A node ends without a word and comes back with its disk."""
    lost = scale.node.servers[LOST_NODE - 1]
    before = _shards(scale)
    lost.kill()
    noticed = scale.until(lambda health: health["number_of_nodes"] == NODES - 1)
    green = scale.until(_is_settled)
    again = {"s until it is noticed": round(noticed, 1), "s until both copies are there again": round(green, 1)}
    yield Phase("a node killed", {"copies on it": before, **again})
    started = time.monotonic()
    lost.start(scale.node.secrets / "ca.pem")
    back = scale.until(lambda health: health["number_of_nodes"] == NODES and _is_settled(health))
    yield Phase(
        "the node back", {"s": round(time.monotonic() - started, 1), "s of that after its start": round(back, 1)}
    )


def _is_settled(health: dict[str, Any]) -> bool:
    """Whether every copy is there, and none is moved to another node."""
    return health.get("status") == "green" and not health["relocating_shards"]


def _shards(scale: Scale) -> int:
    """The copies of the catalogue that are on the node that will be lost."""
    shards = scale.ask("GET", f"/_cat/shards/{ALIAS}?format=json")
    return sum(shard["node"] == f"opensearch-{LOST_NODE}" for shard in shards)


def database_lost(scale: Scale, service: Service, seconds: float) -> Phase:
    """The primary ends without a word, the standby is promoted: every acknowledged order is there."""
    priced = [item["id"] for item in scale.listings if item["price"]]
    with ordering(service, priced[::-1]) as responses:
        time.sleep(seconds)
        killed = time.monotonic()
        scale.primary.process.get_postmaster_info().process.kill()
        scale.standby.promote()
        promoted = time.monotonic() - killed
        time.sleep(max(seconds, 10))
    gap = responses.since(killed - 1).longest_gap()
    placed = [response.read for response in responses.all if response.succeeded]
    with client_of(service.address, service.headers) as client:
        statuses = [client.get(f"/v1/orders/{order}").status_code for order in placed]
    check(set(statuses), {200})
    check(responses.all[-1].succeeded, True)
    return Phase(
        "the database failed over",
        {
            "s to promote the standby": round(promoted, 1),
            "s without an order": round(gap, 1),
            "orders acknowledged": len(placed),
            "of these lost": 0,
        },
    )


def restored(scale: Scale, folder: Path) -> Iterator[Phase]:
    """A snapshot, the loss of every index, and the way back as docs/recovery.md has it."""
    scale.ask("PUT", REPOSITORY, {"type": "fs", "settings": {"location": "scale"}})
    started = time.monotonic()
    taken = scale.ask("PUT", f"{REPOSITORY}/first?wait_for_completion=true", RESTORED)["snapshot"]
    check(taken["state"], "SUCCESS")
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    yield Phase("a snapshot", {"s": round(time.monotonic() - started, 1), "MB": round(size / 1e6)})
    count = scale.ask("GET", f"/{ALIAS}/_count")["count"]
    for index in scale.ask("GET", "/gear-*?expand_wildcards=all"):
        scale.ask("DELETE", f"/{index}")
    started = time.monotonic()
    body = {**RESTORED, "include_aliases": True}
    scale.ask("POST", f"{REPOSITORY}/first/_restore?wait_for_completion=true", body)
    serves = time.monotonic() - started
    green = scale.until(_is_settled)
    check(scale.ask("GET", f"/{ALIAS}/_count")["count"], count)
    started = time.monotonic()
    scale.indexer("doctor", "--fix")
    doctor = time.monotonic() - started
    figures = {"s until it serves": round(serves, 1), "s more until green": round(green, 1)}
    yield Phase("a restore", {**figures, "s of the doctor": round(doctor, 1)})


def check(actual: object, expected: object) -> None:
    """Ends the run where something was lost."""
    if actual != expected:
        message = f"{actual!r} is not {expected!r}"
        raise RuntimeError(message)
