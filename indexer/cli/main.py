"""The command group of gear-indexer, and the arguments and help of its commands."""

from pathlib import Path
from typing import Any

import click

from indexer.cli.changes import delete, upsert
from indexer.cli.options import AS_JSON, MAP, PLATFORM, QUIET, RETRY_TIMEOUT, WITHOUT_ORDERS


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def main() -> None:
    """Fills the search index and looks after it.

    The engine's address is GEAR_OPENSEARCH_URL (default http://127.0.0.1:9200), the orders' database is
    GEAR_DATABASE_URL; both are read from the environment and from a file .env.

    Example: gear-indexer load catalogue.ndjson.gz --platform 730
    """


@main.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@PLATFORM
@click.option(
    "--rejects",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where refused items go, in the place of an older file.  [default: <index>.rejects.ndjson]",
)
@click.option(
    "--max-rejects",
    type=click.FloatRange(0, 100),
    default=1.0,
    show_default=True,
    metavar="PERCENT",
    help="Swap nothing in when more than this share of the items is refused.",
)
@click.option(
    "--min-share",
    type=click.FloatRange(0, 100),
    default=50.0,
    show_default=True,
    metavar="PERCENT",
    help="Swap nothing in that has less than this share of the items that serve now.",
)
@click.option("--allow-empty", is_flag=True, help="Swap in an index without items, too.")
@WITHOUT_ORDERS
@click.option(
    "--keep",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="How many generations to keep in all, the new one included.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 16),
    default=2,
    show_default=True,
    help="Bulk requests at once; fewer while the engine has too much to do.",
)
@click.option(
    "--chunk-items", type=click.IntRange(min=1), default=10_000, hidden=True, help="Items a bulk request, at most."
)
@RETRY_TIMEOUT
@MAP
@click.option(
    "--resume",
    is_flag=True,
    help="Resume an interrupted load: read the same sources again, send only what is missing.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Validate everything and say what a load would do; write nothing but the file of --rejects.",
)
@QUIET
@AS_JSON
def load(files: tuple[str, ...], *, dry_run: bool, **options: Any) -> None:
    """Rebuilds a platform's index from the whole catalogue and swaps it in.

    FILE is NDJSON, a JSON array, CSV or Parquet, the first three plain or compressed by gzip or zstd: a file, a quoted
    pattern of files, an http(s) address, or `-` for stdin. Items are validated; refused ones are listed in the rejects
    file with line, id, field and reason. The old index serves until the new one is complete and checked, and stays as
    it is when anything fails. One load runs at a time; what an interrupted one has left is removed by the next, or
    resumed by --resume.

    \b
    gear-indexer load listings.ndjson.gz --platform 730
    gear-indexer load 'export/part-*.parquet' --platform 730 --dry-run
    gear-indexer load https://example.org/prices.json --map prices.toml --platform 730
    gear-indexer load listings.ndjson.gz --platform 730 --resume
    zcat part-*.gz | gear-indexer load - --platform cs2 --json
    """
    from indexer.cli.run_load import run_dry_load, run_load

    if options["resume"] and (dry_run or "-" in files):
        message = "--dry-run has nothing to resume" if dry_run else "stdin (-) cannot be read again: name files"
        raise click.UsageError(f"--resume: {message}")
    if dry_run:
        options.pop("without_orders")
        run_dry_load(files, **options)
    else:
        run_load(files, **options)


@main.command()
@PLATFORM
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file instead of stdout; compressed when named .gz or .zst.",
)
@QUIET
@AS_JSON
def export(platform: str, *, output: Path | None, quiet: bool, as_json: bool) -> None:
    """Writes a platform's items as NDJSON that can be loaded again, by ascending id.

    The items are those of one moment, whatever is loaded meanwhile. The exit code is not 0 where they are not complete;
    a file appears under its name only when it is. With --output, --json prints what was written.

    \b
    gear-indexer export --platform 730 --output items.ndjson.zst
    gear-indexer export --platform 730 | gear-indexer load - --platform 730 --dry-run
    """
    from indexer.cli.run_load import run_export

    if as_json and output is None:
        message = "--json needs --output: without it the items themselves go to stdout"
        raise click.UsageError(message)
    run_export(platform, output=output, quiet=quiet, as_json=as_json)


@main.command()
@click.option("--platform", metavar="ID", help="One platform only, by id or slug.")
@AS_JSON
def status(platform: str | None, *, as_json: bool) -> None:
    """Shows what serves: items, definition, settings, and the other generations.

    The definition is `equal` to this version's, `differs` (load again), or `missing` (nothing is loaded). With
    --platform, --json prints that platform's object, else one object with the list `platforms`.

    \b
    gear-indexer status
    gear-indexer status --platform 730 --json
    """
    from indexer.cli.run_load import run_status

    run_status(platform, as_json=as_json)


@main.command()
@PLATFORM
@click.option("--to", metavar="INDEX", help="This generation.  [default: the one before the serving one]")
@click.option("--yes", is_flag=True, help="Do not ask, also on a terminal.")
@click.option("--dry-run", is_flag=True, help="Say what would change, and change nothing.")
@WITHOUT_ORDERS
@AS_JSON
def rollback(platform: str, to: str | None, *, yes: bool, dry_run: bool, without_orders: bool, as_json: bool) -> None:
    """Has the previous generation serve again.

    Says first how many items would serve, which live changes are lost and in which fields the generation differs; on a
    terminal it asks then. Items of active orders are marked in it, and the alias moves in one call. What served until
    then is kept until it is pruned, so a rollback can be taken back by --to.

    \b
    gear-indexer rollback --platform 730
    gear-indexer rollback --platform 730 --dry-run --json
    gear-indexer rollback --platform 730 --to gear-730-20261120101500000-72ff78c6
    """
    from indexer.cli.run_load import run_rollback

    run_rollback(platform, to, yes=yes, dry_run=dry_run, without_orders=without_orders, as_json=as_json)


@main.command()
@PLATFORM
@click.option(
    "--keep",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="How many finished generations to keep, the serving one included.",
)
@AS_JSON
def prune(platform: str, keep: int, *, as_json: bool) -> None:
    """Removes old generations and what interrupted loads have left behind; never the serving one.

    While a load runs this is refused: what is unfinished without one was left by an interrupted load.

    \b
    gear-indexer prune --platform 730 --keep 2
    """
    from indexer.cli.run_load import run_prune

    run_prune(platform, keep, as_json=as_json)


@main.command()
@click.option("--platform", metavar="ID", help="One platform only, by id or slug.")
@click.option("--fix", is_flag=True, help="Repair what can be repaired without losing anything, then look again.")
@click.option(
    "--older-than",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    metavar="HOURS",
    help="Call an unfinished load dead when nothing was written to its index for so long.",
)
@click.option(
    "--keep",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="How many finished generations are meant to be kept, the serving one included.",
)
@click.option("--without-orders", is_flag=True, help="Leave out the orders' database and what is compared with it.")
@AS_JSON
def doctor(
    platform: str | None, *, fix: bool, older_than: float, keep: int, without_orders: bool, as_json: bool
) -> None:
    """Finds what is wrong with the index, says what to do about it, and repairs what is safe.

    Looks at the engine, the alias, its indices, their settings and mapping, and whether the index and the orders agree
    on what is sold; docs/doctor.md lists every finding. The exit code is 1 when errors are found, with --fix only when
    some are left. Warnings alone are 0.

    \b
    gear-indexer doctor
    gear-indexer doctor --platform 730 --fix --json
    """
    from indexer.cli.run_load import run_doctor

    run_doctor(
        platform, fix=fix, older_than=older_than * 3600, keep=keep, without_orders=without_orders, as_json=as_json
    )


@main.command()
@click.option("--count", required=True, type=click.IntRange(min=0), help="How many listings.")
@click.option("--seed", required=True, type=int, help="The same seed gives the same bytes.")
@click.option(
    "--catalogue",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=Path("data/catalogue.ndjson.gz"),
    show_default=True,
    help="The rows to make listings of.",
)
@click.option("--platform", default="730", show_default=True, metavar="ID", help="The platform's id or slug.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file instead of stdout; compressed when named .gz or .zst.",
)
@AS_JSON
def sample(count: int, seed: int, *, catalogue: Path, platform: str, output: Path | None, as_json: bool) -> None:
    """Makes listings of single items from the catalogue, as NDJSON.

    The first listings take every row of the catalogue once, in a shuffled order. With --output, --json prints what was
    written.

    \b
    gear-indexer sample --count 60000 --seed 1 | gear-indexer load - --platform 730
    gear-indexer sample --count 10000000 --seed 1 --output listings.ndjson.zst
    """
    from indexer.cli.run_load import run_sample

    if as_json and output is None:
        message = "--json needs --output: without it the listings themselves go to stdout"
        raise click.UsageError(message)
    run_sample(count, seed, catalogue=catalogue, platform=platform, output=output, as_json=as_json)


main.add_command(upsert)
main.add_command(delete)

if __name__ == "__main__":
    main()
