"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path

import click

AS_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, also on failure.")
QUIET = click.option("--quiet", is_flag=True, help="No progress on stderr; errors still are.")
ANY_PLATFORM = click.option("--platform", metavar="ID", help="One platform only, by id or slug.")
PLATFORM = click.option("--platform", required=True, metavar="ID", help="The platform's id or slug: 730 or cs2.")
WITHOUT_ORDERS = click.option(
    "--without-orders",
    is_flag=True,
    help="Go on without the orders' database: items that are sold already may be offered.",
)
OUTPUT = click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file instead of stdout; compressed when named .gz or .zst.",
)
REJECTS_OF_CHANGES = click.option(
    "--rejects",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where refused lines go, in the place of an older file.  [default: <alias>-<time>.rejects.ndjson]",
)
RETRY_TIMEOUT = click.option(
    "--retry-timeout",
    type=click.FloatRange(0, min_open=True),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to retry without progress while the engine is away or overloaded.",
)
MAX_PRICE_CHANGE = click.option(
    "--max-price-change",
    type=click.FloatRange(0, 100),
    default=50.0,
    show_default=True,
    metavar="PERCENT",
    help="Swap nothing in when more than this share of the items would cost less than half or more than double.",
)
MAP = click.option(
    "--map",
    "map_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A TOML file that says which of the source's columns gives which field (docs/sources.md).",
)


def keep_option(text: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The number of generations to keep, with what counts among them."""
    return click.option("--keep", type=click.IntRange(min=1), default=2, show_default=True, help=text)
