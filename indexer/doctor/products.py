"""Checks that a generation has the products that its listings name. Pure."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from indexer.doctor.findings import Code, Finding, load_command

if TYPE_CHECKING:
    from indexer.products.missing import NamedProducts


def check_named(platform: int, index: str, named: "NamedProducts") -> Iterator[Finding]:
    """Items that no text finds."""
    if not named.complete:
        message = (
            f"{named.missing:,} of the {named.named:,} products, names of stickers and parts that items of {index} "
            f"name are missing, and {named.unnamed:,} items name no product: no text finds these "
            "items, or no page can show them"
        )
        yield Finding(Code.PRODUCTS_INCOMPLETE, platform, index, message, load_command(platform))
