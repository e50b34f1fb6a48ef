"""The command group of gear-indexer, and the arguments and help of its commands."""

from pathlib import Path
from typing import Any

import click

from indexer.cli.options import (
    ANY_PLATFORM,
    AS_JSON,
    MAP,
    MAX_PRICE_CHANGE,
    OUTPUT,
    PLATFORM,
    QUIET,
    REJECTS_OF_CHANGES,
    RETRY_TIMEOUT,
    WITHOUT_ORDERS,
    file_option,
    keep_option,
    percent_option,
)


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
@file_option(
    "--rejects", text="Where refused items go, in the place of an older file.  [default: <index>.rejects.ndjson]"
)
@percent_option("--max-rejects", 1.0, "Swap nothing in when more than this share of the items is refused.")
@percent_option("--min-share", 50.0, "Swap nothing in that has less than this share of the items that serve now.")
@MAX_PRICE_CHANGE
@click.option("--allow-empty", is_flag=True, help="Swap in an index without items, too.")
@WITHOUT_ORDERS
@keep_option("How many generations to keep in all, the new one included.")
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
    "--resume", is_flag=True, help="Resume an interrupted load: read the same sources again, send only what is missing."
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Validate everything and say what a load would do; write nothing but the file of --rejects.",
)
@file_option(
    "--metrics",
    "metrics_file",
    text="Write progress and result to this file, for the textfile collector of Prometheus' node_exporter.",
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
    from indexer.cli.run_sources import run_dry_load, run_load

    if options["resume"] and (dry_run or "-" in files):
        message = "--dry-run has nothing to resume" if dry_run else "stdin (-) cannot be read again: name files"
        raise click.UsageError(f"--resume: {message}")
    if dry_run:
        options.pop("without_orders")
        options.pop("metrics_file")
        run_dry_load(files, **options)
    else:
        run_load(files, **options)


@main.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@PLATFORM
@MAP
@REJECTS_OF_CHANGES
@WITHOUT_ORDERS
@RETRY_TIMEOUT
@QUIET
@AS_JSON
def upsert(files: tuple[str, ...], **options: Any) -> None:
    """Puts new and changed items into the index that serves, and into any that is being loaded.

    FILE is what load takes; `-` is stdin. Each item replaces the one with its id, unless a later change is there
    (superseded). The exit code is not 0 where an item was refused; all others are done.

    \b
    gear-indexer upsert changes.ndjson --platform 730
    """
    from indexer.cli.run_sources import run_changes

    run_changes("upsert", files, **options)


@main.command()
@click.argument("what", nargs=-1, required=True, metavar="ID|FILE...")
@PLATFORM
@REJECTS_OF_CHANGES
@RETRY_TIMEOUT
@QUIET
@AS_JSON
def delete(what: tuple[str, ...], **options: Any) -> None:
    """Removes items from the index that serves, and from any that is being loaded.

    A whole number is an item's id (a negative one after `--`); anything else is a FILE, `-` stdin, plain or compressed,
    with one id or one JSON object with an `id` a line. Items that are not there count as missing, which is no error.

    \b
    gear-indexer delete 4711 4712 --platform 730
    gear-indexer delete gone.txt --platform 730 --json
    """
    from indexer.cli.run_sources import run_changes

    run_changes("delete", what, without_orders=True, map_file=None, **options)


@main.command()
@click.argument("source", metavar="SOURCE")
@PLATFORM
@click.option("--group", metavar="NAME", help="The Kafka consumer group.  [default: the platform's alias, gear-730]")
@file_option(
    "--properties",
    text="A file of name=value lines for the Kafka client (librdkafka), such as security.protocol and sasl.password.",
)
@click.option("--metrics-port", type=click.IntRange(1, 65535), help="Serve metrics for Prometheus on this port.")
@click.option("--metrics-host", default="127.0.0.1", show_default=True, help="The address to serve them on.")
@file_option("--rejects", text="Where refused messages are appended.  [default: <alias>-<time>.rejects.ndjson]")
@WITHOUT_ORDERS
@RETRY_TIMEOUT
@QUIET
@AS_JSON
def follow(source: str, **options: Any) -> None:
    """Writes the changes of a stream as they come, until it ends or is stopped.

    SOURCE is `-`, NDJSON on stdin (`"deleted": true` deletes), or a Kafka topic: the key is the item's id, the value
    the item, no value deletes, the message's time is when it changed. Positions are committed once the engine has
    acknowledged; several followers of one group share the partitions. Messages that break a rule go to the rejects
    file and stop nothing. SIGTERM ends after the batch at hand. --json prints an object for each batch: `line` is the
    last line that is acknowledged.

    \b
    gear-indexer follow kafka://127.0.0.1:9092/listings --platform 730 --metrics-port 9108
    tail -F changes.ndjson | gear-indexer follow - --platform 730 --json
    """
    from indexer.cli.run_follow import run_follow

    run_follow(source, **options)


@main.command()
@PLATFORM
@OUTPUT
@QUIET
@AS_JSON
def export(**options: Any) -> None:
    """Writes a platform's items as NDJSON that can be loaded again, by ascending id.

    The items are those of one moment, whatever is loaded meanwhile. The exit code is not 0 where they are not complete;
    a file appears under its name only when it is. With --output, --json prints what was written.

    \b
    gear-indexer export --platform 730 --output items.ndjson.zst
    gear-indexer export --platform 730 | gear-indexer load - --platform 730 --dry-run
    """
    from indexer.cli.run_output import run_export

    _check_stdout(options, "items")
    run_export(**options)


@main.command()
@ANY_PLATFORM
@AS_JSON
def status(**options: Any) -> None:
    """Shows what serves: items, definition, settings, and the other generations.

    The definition is `equal` to this version's, `differs` (load again), or `missing` (nothing is loaded). With
    --platform, --json prints that platform's object, else one object with the list `platforms`.

    \b
    gear-indexer status
    gear-indexer status --platform 730 --json
    """
    from indexer.cli.run_maintenance import run_status

    run_status(**options)


@main.command()
@PLATFORM
@click.option("--to", metavar="INDEX", help="This generation.  [default: the one before the serving one]")
@click.option("--yes", is_flag=True, help="Do not ask, also on a terminal.")
@click.option("--dry-run", is_flag=True, help="Say what would change, and change nothing.")
@MAX_PRICE_CHANGE
@WITHOUT_ORDERS
@AS_JSON
def rollback(**options: Any) -> None:
    """Has the previous generation serve again.

    Says first how many items would serve, which live changes are lost and in which fields the generation differs; on a
    terminal it asks then. Items of active orders are marked in it, and the alias moves in one call. What served until
    then is kept until it is pruned, so a rollback can be taken back by --to.

    \b
    gear-indexer rollback --platform 730
    gear-indexer rollback --platform 730 --dry-run --json
    gear-indexer rollback --platform 730 --to gear-730-20261120101500000-72ff78c6
    """
    from indexer.cli.run_maintenance import run_rollback

    run_rollback(**options)


@main.command()
@PLATFORM
@keep_option("How many finished generations to keep, the serving one included.")
@AS_JSON
def prune(**options: Any) -> None:
    """Removes old generations and what interrupted loads have left behind; never the serving one.

    While a load runs this is refused: what is unfinished without one was left by an interrupted load.

    \b
    gear-indexer prune --platform 730 --keep 2
    """
    from indexer.cli.run_maintenance import run_prune

    run_prune(**options)


@main.command()
@ANY_PLATFORM
@click.option("--fix", is_flag=True, help="Repair what can be repaired without losing anything, then look again.")
@click.option(
    "--older-than",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    metavar="HOURS",
    help="Take a load on another machine for crashed when its lock was not renewed for so long.",
)
@keep_option("How many finished generations are meant to be kept, the serving one included.")
@click.option("--without-orders", is_flag=True, help="Leave out the orders' database and what is compared with it.")
@AS_JSON
def doctor(**options: Any) -> None:
    """Finds what is wrong with the index, says what to do about it, and repairs what is safe.

    Looks at the engine, the alias, its indices, their settings and mapping, and whether the index and the orders agree
    on what is sold; docs/doctor.md lists every finding. The exit code is 1 when errors are found, with --fix only when
    some are left. Warnings alone are 0.

    \b
    gear-indexer doctor
    gear-indexer doctor --platform 730 --fix --json
    """
    from indexer.cli.run_maintenance import run_doctor

    run_doctor(**options)


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
@OUTPUT
@AS_JSON
def sample(**options: Any) -> None:
    """Makes listings of single items from the catalogue, as NDJSON.

    The first listings take every row of the catalogue once, in a shuffled order. With --output, --json prints what was
    written.

    \b
    gear-indexer sample --count 60000 --seed 1 | gear-indexer load - --platform 730
    gear-indexer sample --count 10000000 --seed 1 --output listings.ndjson.zst
    """
    from indexer.cli.run_output import run_sample

    _check_stdout(options, "listings")
    run_sample(**options)


def _check_stdout(options: dict[str, Any], content: str) -> None:
    if options["as_json"] and options["output"] is None:
        raise click.UsageError(f"--json needs --output: without it the {content} themselves go to stdout")


if __name__ == "__main__":
    main()
