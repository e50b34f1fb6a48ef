"""A worker's memory: an index and a number of requests in; what one worker holds while it answers them out.

It is asked for a mixture as fast as it answers: bodies that nobody asked before, the same ones again and again, texts,
facets and groups, each a fifth. What a worker holds is not of the index's size, so a small index does, which answers
more requests.
"""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Final

import click
import orjson
from rich.console import Console
from rich.table import Table

from bench import data
from bench.peers.services import Service, gear_api
from bench.report import results
from bench.runs import wrk
from bench.workloads.bodies import bodies_of, workloads

Json = dict[str, Any]

MIXED: Final = ("cold", "hot", "text", "facets", "groups")
BODIES: Final = 2_000  # of each in one run
WARM_UP: Final = 0.05  # of the samples, before the first tenth
FLAT: Final = 0.02  # the last tenth holds no more than this above the first
MOST_BYTES: Final = 150_000_000  # the goal for one worker
TENTHS: Final = 10
PATH: Final = "/v1/gear/search"


@dataclass(frozen=True)
class Sample:
    """The bytes that the worker held after so many answers, and the requests a second of the last run."""

    requests: int
    resident: int
    rate: float


def mixed(number: int) -> Iterator[Json]:
    """The bodies of one run in turn; those that repeat are the same in each run, the distinct ones its own."""
    known = workloads()
    held = []
    for name in MIXED:
        seed = number + 1 if known[name].draw == "distinct" else 1
        held.append(bodies_of(known[name], seed)[:BODIES])
    return chain.from_iterable(zip(*held, strict=True))


def drive(service: Service, requests: int, clients: int, seconds: float, folder: Path) -> Iterator[Sample]:
    """Runs of so many seconds until so many requests are answered, and what is held after each of them."""
    file = folder / "memory.ndjson"
    answered, number = 0, 0
    while answered < requests:
        file.write_bytes(b"".join(orjson.dumps(body) + b"\n" for body in mixed(number)))
        run = wrk.run(service.address, PATH, file, first=0, clients=clients, seconds=seconds, headers=service.headers)
        answered += run.requests
        number += 1
        yield Sample(answered, service.resident(), round(run.rate, 1))


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
        {"requests": part[-1].requests, "resident": round(statistics.median(one.resident for one in part))}
        for part in parts
    ]
    first, last, most = tenths[0]["resident"], tenths[-1]["resident"], max(one.resident for one in samples)
    return {
        "first": first,
        "last": last,
        "most": most,
        "flat": last <= first * (1 + FLAT),
        "within": most <= MOST_BYTES,
        "tenths": tenths,
    }


def show(told: Json) -> None:
    """Prints the tenths and the verdict."""
    table = Table("requests", "MiB")
    for one in told["tenths"]:
        table.add_row(f"{one['requests']:,}", f"{one['resident'] / 2**20:.1f}")
    Console().print(table)
    Console().print(f"flat: {told['flat']}, within {MOST_BYTES:,} bytes: {told['within']}")


@click.command()
@click.option("--items", default=100_000, show_default=True, help="Listings in the index: few are asked quicker.")
@click.option("--requests", default=1_080_000, show_default=True, help="Answered in all: 300 a second for an hour.")
@click.option("--clients", default=8, show_default=True, help="Connections at once.")
@click.option("--seconds", default=10.0, show_default=True, help="From one sample to the next.")
@click.option("--opensearch-url", default="http://127.0.0.1:9200", show_default=True, help="The engine.")
@click.option("--folder", type=click.Path(path_type=Path), default=Path("var/bench"), show_default=True)
def command(items: int, requests: int, clients: int, seconds: float, opensearch_url: str, folder: Path) -> None:
    """A worker's memory over an hour's worth of mixed requests."""
    folder = folder.resolve()
    file, prefix, _ = data.indices(items, opensearch_url, folder, with_plain=False)
    samples = []
    with gear_api(opensearch_url, prefix, folder) as service:
        for sample in drive(service, requests, clients, seconds, folder):
            samples.append(sample)
            click.echo(f"{sample.requests:,} {sample.resident / 2**20:.1f} MiB {sample.rate:,.0f}/s", err=True)
    try:
        told = verdict(samples)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    about = results.circumstances(items=items, data=data.digest(file), clients=clients, verdict=told)
    results.write_json(folder / f"memory-{items}.json", about, [asdict(sample) for sample in samples])
    show(told)
