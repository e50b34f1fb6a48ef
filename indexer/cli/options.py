"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def file_option(*names: str, text: str) -> Decorator:
    """A file to read or write."""
    return click.option(*names, type=click.Path(dir_okay=False, path_type=Path), help=text)


def percent_option(name: str, default: float, text: str) -> Decorator:
    """A share of items."""
    kind = click.FloatRange(0, 100)
    return click.option(name, type=kind, default=default, show_default=True, metavar="PERCENT", help=text)


def keep_option(text: str) -> Decorator:
    """The number of generations to keep, with what counts among them."""
    return click.option("--keep", type=click.IntRange(min=1), default=2, show_default=True, help=text)


AS_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, also on failure.")
QUIET = click.option("--quiet", is_flag=True, help="No progress on stderr; errors still are.")
ANY_PLATFORM = click.option("--platform", metavar="ID", help="One platform only, by id or slug.")
PLATFORM = click.option("--platform", required=True, metavar="ID", help="The platform's id or slug: 730 or cs2.")
WITHOUT_ORDERS = click.option(
    "--without-orders",
    is_flag=True,
    help="Go on without the orders' database: items that are sold already may be offered.",
)
OUTPUT = file_option("--output", text="A file instead of stdout; compressed when named .gz or .zst.")
REJECTS_OF_CHANGES = file_option(
    "--rejects", text="Where refused lines go, in the place of an older file.  [default: <alias>-<time>.rejects.ndjson]"
)
RETRY_TIMEOUT = click.option(
    "--retry-timeout",
    type=click.FloatRange(0, min_open=True),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to retry without progress while the engine is away or overloaded.",
)
MAX_PRICE_CHANGE = percent_option(
    "--max-price-change",
    50.0,
    "Swap nothing in when more than this share of the items would cost less than half or more than double.",
)
MAP = file_option(
    "--map", "map_file", text="A TOML file that says which of the source's columns gives which field (docs/sources.md)."
)
