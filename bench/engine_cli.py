"""Commands that measure the engine itself: sizes in, measured tables and JSON files out; for `python -m bench`."""

import time
from pathlib import Path

import click

from bench import data, deaths, means, nodes, request_cache
from bench.questions import distinct, recorded
from bench.report import results
from bench.runs import load as loading
from bench.workloads.bodies import workloads

PARTS = ("fill", "copy", "ask", "remove")


@click.command(name="means")
@click.option("--items", default=1_000_000, show_default=True, help="Listings in each index.")
@click.option("--part", "parts", multiple=True, type=click.Choice(PARTS), default=("fill", "copy", "ask"))
@click.option(
    "--variant",
    "names",
    multiple=True,
    type=click.Choice(list(means.VARIANTS)),
    help="Default: those that fit the engine.",
)
@click.option("--rounds", default=7, show_default=True, help="Rounds in which all are asked in turn.")
@click.option("--bodies", default=25, show_default=True, help="Distinct bodies of each question in a round.")
@click.option(
    "--opensearch-url", default="http://127.0.0.1:9200", show_default=True, help="One node, or several with commas."
)
@click.option("--folder", type=click.Path(path_type=Path), default=Path("var/bench"), show_default=True)
def settings(
    items: int,
    parts: tuple[str, ...],
    names: tuple[str, ...],
    rounds: int,
    bodies: int,
    opensearch_url: str,
    folder: Path,
) -> None:
    """What each setting of the engine does to filling, to disk and to searches.

    `fill` is a load a variant, one more where it is called again; `copy` makes those that need no load; `ask` writes
    the file; `remove` deletes all.
    """
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    several = "," in opensearch_url
    names = names or (means.ON_SEVERAL_NODES if several else means.ON_ONE_NODE)
    place = loading.place(items, opensearch_url, folder, filling="fill" in parts)
    for name in names:
        if "fill" in parts and means.VARIANTS[name].of is None:
            means.fill(place, items, name)
            click.echo(f"{name}: {means.told(place.client, items, name)}", err=True)
    for name in names:
        if "copy" in parts and means.VARIANTS[name].of is not None:
            means.copy(place.client, items, name)
            click.echo(f"{name}: {means.told(place.client, items, name)}", err=True)
    if "ask" in parts:
        means.serve(place.client, items, names[0])
        prefix, count = means.prefix_of(items), (rounds + means.WARM_UP_ROUNDS) * bodies
        first = opensearch_url.partition(",")[0]
        requests = {one: recorded(first, prefix, folder, distinct(one, count)) for one in means.WORKLOADS}
        asking = means.Asking(place, items, names, means.questions_of(requests))
        asking.run(rounds)
        count_of_nodes = opensearch_url.count(",") + 1
        asked = {"bodies": bodies, "turns": means.PROCESSOR_TURNS}
        about = results.circumstances(items=items, data=data.digest(place.listings), nodes=count_of_nodes, **asked)
        file = folder / (f"nodes-{items}.json" if several else f"means-{items}.json")
        results.write_json(file, about, list(means.measured(place, items, asking)))
        click.echo(f"written to {file}", err=True)
    if "remove" in parts:
        place.client.indices.delete(index=f"{means.prefix_of(items)}-*")


@click.command(name="nodes")
@click.argument("action", type=click.Choice(("start", "stop")))
@click.option("--heap", default="512m", show_default=True, help="The Java heap of each.")
def cluster(action: str, heap: str) -> None:
    """Starts three nodes of the bench's own in containers, and says their addresses; or removes them."""
    if action == "stop":
        nodes.SEVERAL.stop()
        return
    began = time.monotonic()
    nodes.SEVERAL.start(heap)
    click.echo(f"a cluster after {time.monotonic() - began:.0f} s", err=True)
    click.echo(",".join(nodes.SEVERAL.addresses))


@click.command(name="deaths")
@click.option("--items", default=1_000_000, show_default=True, help="Listings in the index, filled by `means`.")
@click.option("--variant", "name", default="3 shards, 2 copies", show_default=True, help="Which index serves.")
@click.option("--victim", "victims", multiple=True, type=click.Choice(deaths.VICTIMS), default=deaths.VICTIMS)
@click.option("--folder", type=click.Path(path_type=Path), default=Path("var/bench"), show_default=True)
def dying(items: int, name: str, victims: tuple[str, ...], folder: Path) -> None:
    """What the death of a node does to answers, on the cluster of `nodes start`."""
    folder = folder.resolve()
    about = results.circumstances(items=items, data=data.digest(data.listings(items, folder)))
    found = []
    for one in deaths.measure(items, name, folder, victims):
        found.append(one)  # written after each: a death takes minutes
        results.write_json(folder / f"deaths-{items}.json", about, found)


@click.command(name="request-cache")
@click.option("--items", default=100_000, show_default=True, help="Listings in the index.")
@click.option(
    "--workload",
    "names",
    multiple=True,
    type=click.Choice(sorted(workloads())),
    default=("hot", "text"),
    show_default=True,
    help="What is asked.",
)
@click.option("--size", "sizes", multiple=True, default=request_cache.SIZES, show_default=True, help="Of the cache.")
@click.option("--searches", default=3000, show_default=True, help="Searches that are counted, and as many before.")
@click.option("--folder", type=click.Path(path_type=Path), default=Path("var/bench"), show_default=True)
def caching(items: int, names: tuple[str, ...], sizes: tuple[str, ...], searches: int, folder: Path) -> None:
    """What the engine's request cache answers at each size, each on a node of its own."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    asked = [workloads()[name] for name in names]
    found = list(request_cache.measure(items, folder, asked, sizes, searches))
    about = results.circumstances(items=items, data=data.digest(data.listings(items, folder)))
    results.write_json(folder / f"request-cache-{items}.json", about, found)
