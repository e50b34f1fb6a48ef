"""The commands of live changes, upsert and delete: their arguments and help."""

from typing import Any

import click

from indexer.cli.options import AS_JSON, MAP, PLATFORM, QUIET, REJECTS_OF_CHANGES, RETRY_TIMEOUT, WITHOUT_ORDERS


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@PLATFORM
@MAP
@REJECTS_OF_CHANGES
@WITHOUT_ORDERS
@RETRY_TIMEOUT
@QUIET
@AS_JSON
def upsert(files: tuple[str, ...], *, as_json: bool, **options: Any) -> None:
    """Puts new and changed items into the index that serves, and into any that is being loaded.

    FILE is what load takes; `-` is stdin. Each item replaces the one with its id, unless a later change is there
    (superseded). The exit code is not 0 where an item was refused; all others are done.

    \b
    gear-indexer upsert changes.ndjson --platform 730
    """
    from indexer.cli.run_changes import run_changes

    run_changes("upsert", files, as_json=as_json, **options)


@click.command()
@click.argument("what", nargs=-1, required=True, metavar="ID|FILE...")
@PLATFORM
@REJECTS_OF_CHANGES
@RETRY_TIMEOUT
@QUIET
@AS_JSON
def delete(what: tuple[str, ...], *, as_json: bool, **options: Any) -> None:
    """Removes items from the index that serves, and from any that is being loaded.

    A whole number is an item's id (a negative one after `--`); anything else is a FILE, `-` stdin, plain or compressed,
    with one id or one JSON object with an `id` a line. Items that are not there count as missing, which is no error.

    \b
    gear-indexer delete 4711 4712 --platform 730
    gear-indexer delete gone.txt --platform 730 --json
    """
    from indexer.cli.run_changes import run_changes

    run_changes("delete", what, without_orders=True, map_file=None, as_json=as_json, **options)
