"""The requests of each workload, drawn by a seed from the values of the real catalogue."""

import gzip
import json
import random
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

import orjson

FOLDER = Path(__file__).parent
CATALOGUE = Path(__file__).parents[2] / "data" / "catalogue.ndjson.gz"
PRICES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
# The k-th most frequent combination has a share of 1/k, as words in a text have (Zipf 1949).
ZIPF_EXPONENT = 1.0

Json = dict[str, Any]
Pools = dict[str, list[Any]]


@dataclass(frozen=True)
class Workload:
    """One file of this folder: what it is, how its requests are drawn, and the template of their bodies.

    With a `path` the requests are GETs there, and each body is a query string.
    """

    name: str
    description: str
    draw: Literal["distinct", "zipf", "typed"]
    bodies: int
    template: Json
    path: str = ""
    combinations: int = 0
    max_clients: int = 1000  # at once, which one worker takes
    changes: int = 0  # prices changed a second beside the searches
    orders: float = 0.0  # items ordered beside them, as a share of the searches, where the peer takes orders

    @property
    def is_paged(self) -> bool:
        """Whether each body is read from its first page to its last."""
        return "cursor" in self.template

    @property
    def has_facets(self) -> bool:
        """Whether the values of facets are counted."""
        return "facets" in self.template


def workloads() -> dict[str, Workload]:
    """All workloads by name."""
    files = sorted(FOLDER.glob("*.json"))
    return {file.stem: Workload(name=file.stem, **json.loads(file.read_text(encoding="utf-8"))) for file in files}


@cache
def pools() -> Pools:
    """The values that templates are filled with; cached, since reading the catalogue takes a while."""
    with gzip.open(CATALOGUE) as lines:
        rows = [orjson.loads(line) for line in lines]
    return {
        "exteriors": sorted({row["exterior"] for row in rows if row["exterior"]}),
        "types": sorted({row["type"] for row in rows if row["exterior"]}),
        "names": sorted({row["name"] for row in rows}),
        "prices": list(PRICES),
        "pages": [1, 1, 1, 1, 2, 3],
    }


def bodies_of(workload: Workload, seed: int) -> list[Json]:
    """The bodies of a workload, the same for the same seed."""
    chance = random.Random(f"{workload.name}-{seed}")
    values = pools()
    match workload.draw:
        case "distinct":
            return [_filled(workload.template, values, chance) for _ in range(workload.bodies)]
        case "zipf":
            combinations = [_filled(workload.template, values, chance) for _ in range(workload.combinations)]
            weights = list(accumulate(1 / rank**ZIPF_EXPONENT for rank in range(1, len(combinations) + 1)))
            return chance.choices(combinations, cum_weights=weights, k=workload.bodies)
        case "typed":
            return _typed(workload, values, chance)


def _typed(workload: Workload, values: Pools, chance: random.Random) -> list[Json]:
    """Each text letter by letter, from the second one on."""
    field = "q" if workload.path else "query"
    bodies: list[Json] = []
    while len(bodies) < workload.bodies:
        body = _filled(workload.template, values, chance)
        bodies += [{**body, field: body[field][:end]} for end in range(2, len(body[field]) + 1)]
    return bodies[: workload.bodies]


def line_of(workload: Workload, body: Json) -> str:
    """A body as the load generator sends it."""
    return urlencode(body) if workload.path else json.dumps(body)


def _filled(template: Any, values: Pools, chance: random.Random) -> Any:
    """The template with its places filled: `$one` of a pool, `$some` of a pool, a `$range` of money."""
    if not isinstance(template, dict):
        return template
    if "$one" in template:
        return chance.choice(values[template["$one"][0]])
    if "$some" in template:
        pool, count = template["$some"]
        return chance.sample(values[pool], count)
    if "$range" in template:
        low, high = template["$range"]
        cents = sorted(chance.randrange(low * 100, high * 100) for _ in range(2))
        return {"min": cents[0] / 100, "max": (cents[1] + 1) / 100}
    return {key: _filled(inner, values, chance) for key, inner in template.items()}
