"""`python -m tests.scale`: runs the phases and writes what was measured, with the machine's load."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from bench.report import results
from tests.scale import phases
from tests.scale.phases import Phase
from tests.scale.place import NODES, Scale, running


def measured(scale: Scale, seconds: float, rate: int, searches: int) -> Iterator[Phase]:
    """Every phase, in the order in which they build on each other."""
    yield phases.loaded(scale)
    with scale.serving() as service:
        yield phases.alone(service, seconds)
        yield from phases.beside_changes(scale, service, seconds, rate, searches)
        yield phases.database_lost(scale, service, seconds)
    yield from phases.restored(scale, scale.node.servers[0].folders.snapshots)


@click.command()
@click.option("--items", default=1_000_000, show_default=True, help="Listings.")
@click.option("--shards", default=3, show_default=True, help="Primary shards.")
@click.option("--heap", default="1g", show_default=True, help="Of each of the three nodes.")
@click.option("--seconds", default=30.0, show_default=True, help="How long traffic is measured.")
@click.option("--changes", default=1_000, show_default=True, help="Changes a second.")
@click.option("--searches", default=20, show_default=True, help="Searches a second beside the changes.")
@click.option("--folder", type=click.Path(path_type=Path), default=Path("var/bench"), show_default=True)
def main(items: int, shards: int, heap: str, seconds: float, changes: int, searches: int, folder: Path) -> None:
    """Measure the service at size on this machine: three secured nodes, two copies."""
    rows: list[dict[str, Any]] = []
    file = folder / f"at-size-{items}.json"
    with running(items, shards, folder.resolve(), heap) as scale:
        circumstances = results.circumstances(
            items=items, nodes=NODES, shards=shards, heap=heap, data=scale.data.digest()
        )
        for phase in measured(scale, seconds, changes, searches):
            rows.append({"phase": phase.name, "load": round(os.getloadavg()[0], 1), "figures": phase.figures})
            click.echo(rows[-1])
            results.write(file, circumstances, rows)  # what was measured before a phase fails is kept


if __name__ == "__main__":
    main()
