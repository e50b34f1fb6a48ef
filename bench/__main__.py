"""`python -m bench`: measures this service and its peers, and writes tables and JSON files."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from bench.clients import wrk
from bench.peers import services
from bench.peers.checkout import Checkout
from bench.peers.data import Data
from bench.peers.search_peers import Selection, start_peers
from bench.relevance import judged, score
from bench.relevance.listings import listings_for
from bench.relevance.peers import start_peers as start_relevance_peers
from bench.report import page as benchmarks_page
from bench.report import results, terminal
from bench.runs import changes as changing
from bench.runs import feed
from bench.runs import load as loading
from bench.runs import orders as ordering
from bench.runs.search import Plan, Series, measure
from bench.workloads.bodies import workloads


def engine_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of every command that measures: the engine, and the folder of what is prepared and measured."""
    for option in (
        click.option("--folder", type=click.Path(path_type=Path), default=Path("var/bench"), show_default=True),
        click.option("--opensearch-url", default="http://127.0.0.1:9200", show_default=True, help="The engine."),
    ):
        command = option(command)
    return command


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
@click.option("--no-response-cache", is_flag=True, help="Also this service without its response cache.")
@click.option(
    "--beside",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Another checkout of this repository, with its environment in .venv: only the two services are measured.",
)
@engine_options
def search(
    items: int,
    names: tuple[str, ...],
    clients: tuple[int, ...],
    rounds: int,
    seconds: float,
    workers: int,
    no_response_cache: bool,
    beside: Path | None,
    opensearch_url: str,
    folder: Path,
) -> None:
    """Searches: this service, a plain service, and the engine with requests written by hand."""
    all_workloads = workloads()
    checkout = None if beside is None else Checkout.at(beside)
    selection = Selection(no_cache=no_response_cache, beside=checkout, workers=workers)
    plan = Plan(
        workloads=tuple(all_workloads[name] for name in names or all_workloads),
        clients=clients,
        rounds=rounds,
        seconds=seconds,
        opensearch_url=opensearch_url,
    )
    data = Data(items, opensearch_url, folder.resolve())
    wrk.program()  # before the loads, which take minutes
    data.load(with_plain=checkout is None, beside=checkout)
    circumstances = results.circumstances(items=items, data=data.digest(), workers=workers)
    measured, circumstances["memory"] = _measure_searches(data, selection, plan)
    file = f"search-{items}" + (f"-{workers}-workers" if workers > 1 else "")
    if checkout is not None:
        circumstances["beside"] = checkout.commit()
        file += f"-beside-{checkout.commit()}"
    written = results.write(data.folder / f"{file}.json", circumstances, [series.as_json() for series in measured])
    if checkout is None:
        terminal.show_section(benchmarks_page.searches([written]))
    else:
        terminal.show_beside(measured, selection.beside_name)


def _measure_searches(data: Data, selection: Selection, plan: Plan) -> tuple[list[Series], dict[str, int]]:
    """The series, and this service's resident bytes before and after."""
    measured = []
    with start_peers(data, selection) as (peers, ours):
        memory = {"before": ours.resident_bytes()}
        for series in measure(plan, peers, data.folder):
            measured.append(series)
            click.echo(f"{series.workload} {series.clients} {series.peer}: {series.median('rate'):,.0f}/s", err=True)
        memory["after"] = ours.resident_bytes()
    return measured, memory


@main.command()
@click.option("--items", default=200_000, show_default=True, help="Listings in each load.")
@click.option("--rounds", default=5, show_default=True, help="Loads of each peer, in turn.")
@engine_options
def load(items: int, rounds: int, opensearch_url: str, folder: Path) -> None:
    """Loads: prepared bytes, this project's indexer, and the client library's `parallel_bulk`."""
    data = Data(items, opensearch_url, folder.resolve())
    measured: dict[str, loading.Loads] = {}
    for loads, run in loading.measure(data, rounds):
        measured[loads.peer] = loads
        click.echo(f"{loads.peer}: {items / run.seconds:,.0f}/s", err=True)
    circumstances = results.circumstances(items=items, data=data.digest())
    series = [loads.as_json() for loads in measured.values()]
    written = results.write(data.folder / f"load-{items}.json", circumstances, series)
    terminal.show_section(benchmarks_page.loads([written]))


@main.command()
@click.option("--items", default=500_000, show_default=True, help="Listings in the index; each is ordered once.")
@click.option("--part", "parts", multiple=True, type=click.Choice(ordering.PARTS), default=ordering.PARTS)
@click.option("--database", "kinds", multiple=True, type=click.Choice(services.DATABASES), default=services.DATABASES)
@click.option("--workers", multiple=True, type=int, default=(1, 2), show_default=True, help="Processes that serve.")
@click.option("--clients", multiple=True, type=int, default=(1, 8, 32), show_default=True, help="Connections at once.")
@click.option("--rounds", default=3, show_default=True, help="Runs of each.")
@click.option("--seconds", default=5.0, show_default=True, help="How long one run lasts.")
@click.option("--lag-orders", default=60, show_default=True, help="Orders whose items are watched until they are gone.")
@engine_options
def orders(
    items: int,
    parts: tuple[str, ...],
    kinds: tuple[str, ...],
    workers: tuple[int, ...],
    clients: tuple[int, ...],
    rounds: int,
    seconds: float,
    lag_orders: int,
    opensearch_url: str,
    folder: Path,
) -> None:
    """Orders: how many a second, how soon callbacks come, and how soon items are gone."""
    shop = ordering.open_shop(Data(items, opensearch_url, folder.resolve()))
    circumstances = results.circumstances(items=items)

    def write(name: str, series: list[dict[str, Any]]) -> None:
        results.write(shop.data.folder / f"{name}.json", circumstances, series)

    if "rates" in parts:
        measured = list(ordering.rates(shop, kinds, workers, clients, rounds, seconds))
        write("orders", [rate.as_json() for rate in measured])
        terminal.show_order_rates(measured)
    if "lags" in parts:
        lags = {kind: ordering.lags(shop, kind, lag_orders) for kind in kinds}
        write("orders-lags", [{"database": kind, "seconds": seconds} for kind, seconds in lags.items()])
        terminal.show_lags(lags)


@main.command()
@click.option(
    "--items", default=60_000, show_default=True, help="Listings that are written, and then are in the index."
)
@click.option("--part", "parts", multiple=True, type=click.Choice(changing.PARTS), default=changing.PARTS)
@click.option("--database", "kinds", multiple=True, type=click.Choice(services.DATABASES), default=services.DATABASES)
@click.option("--rounds", default=3, show_default=True, help="Runs of each, in turn.")
@click.option("--read", default=20, show_default=True, help="Changes that a reader waits for, in each round.")
@click.option("--beside", multiple=True, type=int, default=(0, 500), show_default=True, help="Items a second beside.")
@click.option("--clients", default=8, show_default=True, help="Connections at once that order.")
@click.option("--seconds", default=5.0, show_default=True, help="How long one run of orders lasts.")
@click.option("--readers", multiple=True, type=int, default=(10, 1_000, 10_000), show_default=True, help="Who wait.")
@click.option("--kafka", help="A broker, host:port: also the stream of a topic.")
@engine_options
def changes(
    items: int,
    parts: tuple[str, ...],
    kinds: tuple[str, ...],
    rounds: int,
    read: int,
    beside: tuple[int, ...],
    clients: int,
    seconds: float,
    readers: tuple[int, ...],
    kafka: str | None,
    opensearch_url: str,
    folder: Path,
) -> None:
    """Changes: writes over HTTP and by streams, how soon a reader has them, and orders of the cheapest."""
    place = changing.Place(Data(items, opensearch_url, folder.resolve()), kafka)
    place.data.sample()
    circumstances = results.circumstances(items=items, data=place.data.digest(), clients=clients)

    def measured() -> Iterator[changing.Measured]:
        yield from changing.writes(place, rounds) if "writes" in parts else ()
        for kind in kinds:
            yield from changing.latency(place, kind, rounds, read, beside) if "latency" in parts else ()
            yield from feed.burst(place, kind, rounds) if "burst" in parts else ()
            yield from feed.waiting(place, kind, readers) if "waiting" in parts else ()
            yield from changing.cheapest(place, kind, rounds, clients, seconds) if "cheapest" in parts else ()

    series = []
    for row in measured():
        series.append(row.as_json())
        # kept where a later part fails
        written = results.write(place.data.folder / f"changes-{items}.json", circumstances, series)
    terminal.show_section(benchmarks_page.changes([written]))


@main.command()
@click.option("--items", default=60_000, show_default=True, help="Listings; each row of the catalogue comes first.")
@click.option("--texts", type=click.Choice(list(judged.ALL_SETS)), default="judged", show_default=True, help="Which.")
@click.option("--prefix", default="bench-relevance", show_default=True, help="The prefix of the indices.")
@engine_options
def relevance(items: int, texts: str, prefix: str, opensearch_url: str, folder: Path) -> None:
    """Relevance: judged texts, answered by this service and the plain engine."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    judgments = judged.read(judged.ALL_SETS[texts])
    listings = listings_for(items, judgments)
    with start_relevance_peers(listings, opensearch_url, prefix, folder) as peers:
        verdicts = {
            peer: [judged.judge(judgment, first_page(judgment.query)) for judgment in judgments]
            for peer, first_page in peers.items()
        }
    circumstances = results.circumstances(items=len(listings), texts=texts)
    results.write(
        folder / f"relevance-{texts}.json", circumstances, [score.as_json(*peer) for peer in verdicts.items()]
    )
    terminal.show(score.table(verdicts))


@main.command()
def page() -> None:
    """Write the measured parts of docs/benchmarks.md, and its picture, from the files in docs/measured."""
    try:
        benchmarks_page.write(results.read(sorted(benchmarks_page.MEASURED.glob("*.json"))))
    except results.PageError as error:
        raise click.ClickException(str(error)) from error


if __name__ == "__main__":
    main()
