"""The engine's request cache: its sizes in; how many repeated searches it answers, and how fast, out."""

import json
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from bench import means, nodes
from bench.peers.connection import Connection
from bench.questions import found_by, recorded
from bench.runs import load as loading
from bench.runs.load import engine_seconds
from bench.runs.search import forget
from bench.workloads.bodies import Workload, bodies_of

SIZES: Final = ("1%", "5%", "10%")
HEAP: Final = "512m"


def measure(
    items: int, folder: Path, asking: Sequence[Workload], sizes: Sequence[str], searches: int
) -> Iterator[dict[str, Any]]:
    """For each size a node of its own, filled anew, and each workload: searches, the first half of them not counted."""
    for size in sizes:
        address = nodes.ALONE.address(1)
        with nodes.ALONE.running({"indices.requests.cache.size": size}):
            place = loading.place(items, address, folder)
            means.fill(place, items, means.AS_IT_IS)
            means.serve(place.client, items, means.AS_IT_IS)
            for workload in asking:
                found = _asked(place, items, address, folder, workload, searches)
                yield {"size": size, "heap": HEAP, "workload": workload.name, **found}


def _asked(
    place: loading.Place, items: int, address: str, folder: Path, workload: Workload, searches: int
) -> dict[str, Any]:
    asked = [json.dumps(body).encode() for body in bodies_of(workload, seed=1)[: searches * 2]]
    bodies = list(dict.fromkeys(asked))
    requests = dict(zip(bodies, recorded(address, means.prefix_of(items), folder, bodies), strict=True))
    forget(address)
    with closing(Connection(address, means.JSON)) as connection:
        for body in asked[:searches]:
            found_by(connection.ask("POST", "/_msearch", requests[body])[0])
        before, used = _stats(place), means.busy(place.client)
        took = [connection.ask("POST", "/_msearch", requests[body])[1] for body in asked[searches:]]
        after = _stats(place)
        time.sleep(means.LOOK_SECONDS)
        used = engine_seconds(place.client) - used
    return {
        "distinct": len(bodies),
        "kept": after["memory_size_in_bytes"],
        **{key: after[key] - before[key] for key in ("hit_count", "miss_count", "evictions")},
        "p50": round(statistics.median(took) * 1000, 3),
        "mean": round(statistics.mean(took) * 1000, 3),
        "processor": round(used / searches * 1000, 3),
    }


def _stats(place: loading.Place) -> dict[str, int]:
    found: dict[str, int] = place.client.indices.stats(metric="request_cache")["_all"]["total"]["request_cache"]
    return found
