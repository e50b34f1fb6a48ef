"""Workloads: a file of `workloads/` and a seed in, search bodies as they are sent out."""

import gzip
import json
import random
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import orjson

FOLDER = Path(__file__).parent
CATALOGUE = Path(__file__).parents[2] / "data" / "catalogue.ndjson.gz"
PRICES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
# The share of the k-th most asked combination goes with 1/k, as of words in a text (Zipf 1949).
ZIPF_EXPONENT = 1.0

Json = dict[str, Any]


@dataclass(frozen=True)
class Workload:
    """One file: what it is, how bodies are drawn, and the body with its places to fill."""

    name: str
    about: str
    draw: str  # distinct, zipf, typed
    bodies: int
    template: Json
    combinations: int = 0
    changes: int = 0  # prices changed a second meanwhile
    orders: float = 0.0  # items ordered meanwhile, as a share of the searches, where the peer takes orders

    @property
    def is_walk(self) -> bool:
        """Whether each body is walked from its first page to its last."""
        return "cursor" in self.template

    @property
    def counts(self) -> bool:
        """Whether its answers count the values of facets."""
        return "facets" in self.template


def workloads() -> dict[str, Workload]:
    """All workload files by name."""
    found = {}
    for file in sorted(FOLDER.glob("*.json")):
        found[file.stem] = Workload(name=file.stem, **json.loads(file.read_text(encoding="utf-8")))
    return found


def pools() -> dict[str, list[Any]]:
    """What places are filled with, taken from the real catalogue."""
    with gzip.open(CATALOGUE) as lines:
        rows = [orjson.loads(line) for line in lines]
    return {
        "exteriors": sorted({row["exterior"] for row in rows if row["exterior"]}),
        "types": sorted({row["type"] for row in rows if row["exterior"]}),
        "names": sorted({row["name"] for row in rows}),
        "prices": list(PRICES),
        "pages": [1, 1, 1, 1, 2, 3],
        "deep": list(range(50, 101)),
    }


def bodies_of(workload: Workload, seed: int) -> list[Json]:
    """The bodies of a workload, the same for the same seed."""
    chance = random.Random(f"{workload.name}-{seed}")
    held = pools()
    if workload.draw == "zipf":
        kinds = [_filled(workload.template, held, chance) for _ in range(workload.combinations)]
        weights = list(accumulate(1 / rank**ZIPF_EXPONENT for rank in range(1, len(kinds) + 1)))
        return chance.choices(kinds, cum_weights=weights, k=workload.bodies)
    if workload.draw == "typed":
        return _typed(workload, held, chance)
    return [_filled(workload.template, held, chance) for _ in range(workload.bodies)]


def _typed(workload: Workload, held: dict[str, list[Any]], chance: random.Random) -> list[Json]:
    """Each text letter by letter, from the second one on."""
    found: list[Json] = []
    while len(found) < workload.bodies:
        whole = _filled(workload.template, held, chance)
        found += [{**whole, "query": whole["query"][:end]} for end in range(2, len(whole["query"]) + 1)]
    return found[: workload.bodies]


def _filled(value: Any, held: dict[str, list[Any]], chance: random.Random) -> Any:
    """A template with its places filled: `$one` of a pool, `$some` of a pool, a `$range` of money."""
    if not isinstance(value, dict):
        return value
    if "$one" in value:
        return chance.choice(held[value["$one"][0]])
    if "$some" in value:
        pool, count = value["$some"]
        return chance.sample(held[pool], count)
    if "$range" in value:
        low, high = value["$range"]
        cents = sorted(chance.randrange(low * 100, high * 100) for _ in range(2))
        return {"min": cents[0] / 100, "max": (cents[1] + 1) / 100}
    return {key: _filled(inner, held, chance) for key, inner in value.items()}
