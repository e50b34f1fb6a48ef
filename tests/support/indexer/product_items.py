"""Items that are changed live, and the products that they name."""

from typing import Any

from indexer.documents.checked_item import checked_item
from indexer.documents.document import index_document
from indexer.engine.retry import RetryPolicy
from indexer.products.comparison import named_products
from mappings.platforms import read_platforms
from tests.support.indexer.fixtures import Place, lines
from tests.support.indexer.generation import products_among

(CS2,) = read_platforms()
RETRY = RetryPolicy(10)
STICKER = "Sticker | Crown (Foil)"


def an_item(number: int, name: str = "AWP | Neo-Noir (Minimal Wear)", **details: str) -> dict[str, Any]:
    """An item with a sticker."""
    return {"id": number, "name": name, "price": 1, "details": details, "attachments": [{"name": STICKER}]}


def keys(*items: dict[str, Any]) -> set[str]:
    """The ids of the products of items, and of the names of the stickers on them."""
    return {product.key for product in products_among(index_document(checked_item(item), CS2) for item in items)}


def upsert(place: Place, *changed: dict[str, Any], code: int = 0) -> dict[str, Any]:
    """The report of an upsert of these items."""
    return place.json("upsert", "-", "--platform", "730", "--quiet", stdin=lines(list(changed)), code=code)


def is_complete(place: Place) -> bool:
    """Whether every product that items name is there."""
    serving = place.json("status", "--platform", "730")["serving"]
    return named_products(place.client, serving, 730, RETRY).complete
