"""`python -m bench`: sizes and durations in, measured tables and JSON files out."""

from pathlib import Path

import click

from bench import attachments as encoding
from bench import data, engine_cli
from bench import profile as profiling
from bench.peers import databases, services
from bench.relevance import judged as judging
from bench.relevance import score
from bench.relevance.peers import asked as asked_about
from bench.relevance.stock import stock
from bench.report import measured as files_of_runs
from bench.report import page as paging
from bench.report import results
from bench.runs import load as loading
from bench.runs import matches as matching
from bench.runs import memory as remembering
from bench.runs import orders as ordering
from bench.runs.search import Plan, measure, peers
from bench.workloads.bodies import CATALOGUE, bodies_of, workloads


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Measure this service and its peers side by side in one run."""


@main.command()
@click.option("--items", default=1_000_000, show_default=True, help="Listings in the index.")
@click.option("--workload", "names", multiple=True, help="A file of bench/workloads; all where left out.")
@click.option("--clients", multiple=True, type=int, default=(1, 8), show_default=True, help="Connections at once.")
@click.option("--rounds", default=3, show_default=True, help="Runs of each peer, in turn.")
@click.option("--seconds", default=5.0, show_default=True, help="How long one run lasts.")
@click.option("--workers", default=1, show_default=True, help="Processes of this service and of the plain one.")
@click.option(
    "--plain/--no-plain", default=True, help="Without: only this service, and the engine asked for its index."
)
@click.option("--unkept/--no-unkept", default=False, help="With: also this service where it keeps no answers.")
@click.option(
    "--stac",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The Python of an environment that has stac-fastapi-opensearch[server]; not asked where left out.",
)
@click.option("--opensearch-url", default="http://127.0.0.1:9200", show_default=True, help="The engine for all peers.")
@click.option("--folder", type=click.Path(path_type=Path), default=Path("var/bench"), show_default=True)
def search(
    items: int,
    names: tuple[str, ...],
    clients: tuple[int, ...],
    rounds: int,
    seconds: float,
    workers: int,
    plain: bool,
    unkept: bool,
    stac: Path | None,
    opensearch_url: str,
    folder: Path,
) -> None:
    """Searches: this service, a plain service and the engine as everyone asks it."""
    known = workloads()
    folder = folder.resolve()
    file, prefix, index = data.indices(items, opensearch_url, folder, with_plain=plain)
    plan = Plan(
        workloads=tuple(known[name] for name in names or known),
        clients=clients,
        rounds=rounds,
        seconds=seconds,
        opensearch_url=opensearch_url,
    )
    independent = None if stac is None else data.independent(stac, file, items, opensearch_url, folder)
    with peers(opensearch_url, prefix, index, folder, workers, independent, unkept=unkept) as (asked, ours):
        before = ours.resident()
        measured = []
        for series in measure(plan, asked, folder):
            measured.append(series)
            click.echo(f"{series.workload} {series.clients} {series.peer}: {series.median('rate'):,.0f}/s", err=True)
        memory = {"before": before, "after": ours.resident()}
    about = results.circumstances(items=items, data=data.digest(file), workers=workers, memory=memory)
    if stac is not None:
        about["stac"] = services.stac_version(stac)
    several = f"-{workers}-workers" if workers > 1 else ""
    results.write(folder / f"search-{items}{several}.json", about, measured)
    results.show(measured)


@main.command()
@click.option("--items", default=200_000, show_default=True, help="Listings in each load.")
@click.option("--rounds", default=5, show_default=True, help="Loads of each peer, in turn.")
@click.option("--only", multiple=True, type=click.Choice(loading.PEERS), help="These peers only.")
@click.option("--opensearch-url", default="http://127.0.0.1:9200", show_default=True, help="The engine for all peers.")
@click.option("--folder", type=click.Path(path_type=Path), default=Path("var/bench"), show_default=True)
def load(items: int, rounds: int, only: tuple[str, ...], opensearch_url: str, folder: Path) -> None:
    """Loads: prepared bytes, this project's indexer, and the client library's `parallel_bulk`."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    where = loading.place(items, opensearch_url, folder)
    measured: dict[str, loading.Loads] = {}
    for loads, run in loading.measure(where, items, rounds, only or loading.PEERS):
        measured[loads.peer] = loads
        click.echo(f"{loads.peer}: {items / run.seconds:,.0f}/s", err=True)
    about = results.circumstances(items=items, data=data.digest(where.listings))
    results.write_json(folder / f"load-{items}.json", about, [one.as_json() for one in measured.values()])
    loading.show(list(measured.values()))


@main.command()
@click.option("--items", default=1_000_000, show_default=True, help="Listings in the index.")
@click.option("--workload", "name", default="hot", show_default=True, help="A file of bench/workloads.")
@click.option("--clients", multiple=True, type=int, default=(1, 8), show_default=True, help="Connections at once.")
@click.option("--seconds", default=10.0, show_default=True, help="How long one run lasts.")
@click.option("--opensearch-url", default="http://127.0.0.1:9200", show_default=True, help="The engine.")
@click.option("--folder", type=click.Path(path_type=Path), default=Path("var/bench"), show_default=True)
def profile(items: int, name: str, clients: tuple[int, ...], seconds: float, opensearch_url: str, folder: Path) -> None:
    """A search's microseconds by whose work they are, and what the service adds to the engine's answer."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    prefix, workload = f"bench-{items}", workloads()[name]
    data.load_ours(data.listings(items, folder), items, opensearch_url, prefix, folder)
    found = [profiling.spent(opensearch_url, prefix, folder, workload, one, seconds) for one in clients]
    bodies = bodies_of(workload, seed=1)[: profiling.BODIES]
    added = profiling.on_top(opensearch_url, prefix, folder, bodies)
    about = results.circumstances(items=items, workload=name)
    results.write_json(folder / f"profile-{items}.json", about, profiling.as_json(found, added))
    profiling.show(found, added)


@main.command()
@click.option("--items", default=60_000, show_default=True, help="Listings; each row of the catalogue comes first.")
@click.option("--texts", type=click.Choice(list(judging.SETS)), default="judged", show_default=True, help="Which.")
@click.option("--opensearch-url", default="http://127.0.0.1:9200", show_default=True, help="The engine.")
@click.option("--prefix", default="bench-relevance", show_default=True, help="What the indices' names begin with.")
@click.option("--typesense", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Its server's program.")
@click.option("--folder", type=click.Path(path_type=Path), default=Path("var/bench"), show_default=True)
def relevance(items: int, texts: str, opensearch_url: str, prefix: str, typesense: Path | None, folder: Path) -> None:
    """Relevance: judged texts, answered by this service, the plain engine, and Typesense where it is given."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    judgments = judging.read(judging.SETS[texts])
    listings = stock(items, judgments)
    with asked_about(listings, opensearch_url, prefix, folder, typesense) as peers_asked:
        answered = {
            peer.name: [judging.judge(one, peer.answer(one.query)) for one in judgments] for peer in peers_asked
        }
    scores = {peer: score.by_group(held) for peer, held in answered.items()}
    told = [
        {"peer": peer, "scores": {group: one.as_json() for group, one in found.items()}}
        | {"misses": score.misses(held)}
        for (peer, found), held in zip(scores.items(), answered.values(), strict=True)
    ]
    about = results.circumstances(items=len(listings), texts=texts)
    results.write_json(folder / f"relevance-{texts}.json", about, told)
    score.show(scores)


@main.command()
@click.option("--items", default=500_000, show_default=True, help="Listings in the index; each is ordered once.")
@click.option("--part", "parts", multiple=True, type=click.Choice(ordering.PARTS), default=ordering.PARTS)
@click.option("--database", "kinds", multiple=True, type=click.Choice(databases.KINDS), default=databases.KINDS)
@click.option("--workers", multiple=True, type=int, default=(1, 2), show_default=True, help="Processes that serve.")
@click.option("--clients", multiple=True, type=int, default=(1, 8, 32), show_default=True, help="Connections at once.")
@click.option("--rounds", default=3, show_default=True, help="Runs of each.")
@click.option("--seconds", default=5.0, show_default=True, help="How long one run lasts.")
@click.option("--lag-orders", default=60, show_default=True, help="Orders whose masks are timed.")
@click.option("--active", multiple=True, type=int, default=(0, 10_000, 100_000), show_default=True)
@click.option("--opensearch-url", default="http://127.0.0.1:9200", show_default=True, help="The engine.")
@click.option("--folder", type=click.Path(path_type=Path), default=Path("var/bench"), show_default=True)
def orders(
    items: int,
    parts: tuple[str, ...],
    kinds: tuple[str, ...],
    workers: tuple[int, ...],
    clients: tuple[int, ...],
    rounds: int,
    seconds: float,
    lag_orders: int,
    active: tuple[int, ...],
    opensearch_url: str,
    folder: Path,
) -> None:
    """Orders: how many a second, how soon told and hidden, and what they cost searches."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    shop = ordering.opened(items, opensearch_url, folder)
    about = results.circumstances(items=items)
    if "rates" in parts:
        measured = []
        for one in ordering.rates(shop, kinds, workers, clients, rounds, seconds):
            measured.append(one)
            click.echo(f"{one.database} {one.workers} {one.clients}: {one.median('rate'):,.0f}/s", err=True)
        results.write_json(folder / "orders.json", about, [one.as_json() for one in measured])
        ordering.show_rates(measured)
    if "lags" in parts:
        lags = {kind: ordering.lags(shop, kind, lag_orders) for kind in kinds}
        results.write_json(folder / "orders-lags.json", about, [{"database": k, "seconds": v} for k, v in lags.items()])
        ordering.show_lags(lags)
    if "searches" in parts:
        found = list(ordering.searches(shop, kinds[0], sorted(active), clients[-1], (rounds, seconds)))
        told = [{"active": count, **series.as_json()} for count, series in found]
        results.write_json(folder / "orders-searches.json", about, told)
        ordering.show_searches(found)


@main.command()
@click.option("--items", default=1_000_000, show_default=True, help="Listings in each index.")
@click.option("--variant", "variants", multiple=True, type=click.Choice(list(encoding.VARIANTS)), help="Default: all.")
@click.option("--seed", default=data.SEED, show_default=True, help="Which listings are made.")
@click.option("--opensearch-url", default="http://127.0.0.1:9200", show_default=True, help="The engine.")
@click.option("--folder", type=click.Path(path_type=Path), default=Path("var/bench"), show_default=True)
def attachments(items: int, variants: tuple[str, ...], seed: int, opensearch_url: str, folder: Path) -> None:
    """Attachments: nested, or flat in two ways; loading, sizes and times of the same questions."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    asked = variants or tuple(encoding.VARIANTS)
    measured = list(encoding.measure(opensearch_url, asked, items, seed, CATALOGUE))
    about = results.circumstances(items=items, seed=seed)
    results.write_json(folder / f"attachments-{items}.json", about, measured)
    encoding.show(measured)


@main.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def page(files: tuple[Path, ...]) -> None:
    """Rewrite the marked regions of docs/benchmarks.md from FILES, the JSON files of runs."""
    text = paging.PAGE.read_text(encoding="utf-8")
    try:
        made = paging.written(text, files_of_runs.read(files))
    except files_of_runs.PageError as error:
        raise click.ClickException(str(error)) from error
    paging.PAGE.write_text(made, encoding="utf-8")


main.add_command(matching.command, "matches")
main.add_command(remembering.command, "memory")
for command in (engine_cli.settings, engine_cli.cluster, engine_cli.dying, engine_cli.caching):
    main.add_command(command)


if __name__ == "__main__":
    main()
