"""The memory of one worker while it answers a mixture of searches as fast as it can.

A fifth each are distinct bodies, repeated bodies, texts, facets and groups. A worker's memory does not depend on the
size of the index, so a small one does, which answers more requests.
"""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Final

import orjson

from bench.clients import wrk
from bench.peers.search_peers import SEARCH_PATH
from bench.peers.services import Service
from bench.workloads.bodies import bodies_of, workloads

Json = dict[str, Any]

MIXED: Final = ("cold", "hot", "text", "facets", "groups")
BODIES: Final = 2_000  # of each in one run
WARM_UP: Final = 0.05  # of the samples, before the first tenth
MAX_GROWTH: Final = 0.02  # of the last tenth above the first
MAX_BYTES: Final = 150_000_000  # the goal for one worker
TENTHS: Final = 10


@dataclass(frozen=True)
class Sample:
    """The worker's resident bytes after so many responses, and the requests a second of the last run."""

    requests: int
    resident: int
    rate: float


def mixed_bodies(number: int, count: int = BODIES) -> Iterator[Json]:
    """The bodies of one run in turn; those that repeat are the same in each run, distinct ones are new."""
    known = workloads()
    mixed = [replace(known[name], bodies=count) for name in MIXED]
    drawn = [bodies_of(workload, seed=number + 1 if workload.draw == "distinct" else 1) for workload in mixed]
    return chain.from_iterable(zip(*drawn, strict=True))


def measure(service: Service, requests: int, clients: int, seconds: float, folder: Path) -> Iterator[Sample]:
    """A sample after each run of so many seconds, until so many requests are answered."""
    file = folder / "memory.ndjson"
    answered, number = 0, 0
    while answered < requests:
        file.write_bytes(b"".join(orjson.dumps(body) + b"\n" for body in mixed_bodies(number)))
        run = wrk.run(
            service.address, SEARCH_PATH, file, first=0, clients=clients, seconds=seconds, headers=service.headers
        )
        answered += run.requests
        number += 1
        yield Sample(answered, service.resident_bytes(), round(run.rate, 1))


def verdict(samples: Sequence[Sample]) -> Json:
    """Whether the memory stays: the median bytes of each tenth of the samples after the warm-up.

    Raises ValueError for too few samples.
    """
    counted = samples[max(1, round(len(samples) * WARM_UP)) :]
    if len(counted) < TENTHS:
        message = f"{len(samples)} samples have no ten tenths: ask for more requests, or for shorter runs"
        raise ValueError(message)
    ends = [len(counted) * part // TENTHS for part in range(TENTHS + 1)]
    parts = [counted[start:end] for start, end in pairwise(ends)]
    tenths = [
        {"requests": part[-1].requests, "resident": round(statistics.median(sample.resident for sample in part))}
        for part in parts
    ]
    first, last = tenths[0]["resident"], tenths[-1]["resident"]
    highest = max(sample.resident for sample in samples)
    return {
        "first": first,
        "last": last,
        "max": highest,
        "flat": last <= first * (1 + MAX_GROWTH),
        "within": highest <= MAX_BYTES,
        "tenths": tenths,
    }
