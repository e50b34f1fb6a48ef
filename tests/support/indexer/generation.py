"""Makes a generation by hand, with no load: its two indices, behind the alias that serves."""

from collections.abc import Iterable, Mapping
from typing import Any

from opensearchpy import OpenSearch

from indexer.documents.product import product_of, sticker_of
from mappings.definition import Definition
from mappings.names import products_of


def create_products(client: OpenSearch, index: str, definition: Definition) -> None:
    """The index of products of a generation."""
    client.indices.create(index=products_of(index), body=definition.create_products_body())


def serve(client: OpenSearch, index: str, alias: str) -> None:
    """Points both aliases to a generation, in the place of an older one."""
    actions: list[dict[str, Any]] = []
    for name, served in ((index, alias), (products_of(index), products_of(alias))):
        actions.append({"remove": {"index": f"{alias}-*", "alias": served, "must_exist": False}})
        actions.append({"add": {"index": name, "alias": served}})
    client.indices.update_aliases(body={"actions": actions})


def put_products(client: OpenSearch, index: str, documents: Iterable[Mapping[str, Any]]) -> None:
    """Writes the products of index documents, and the names of the stickers on them."""
    products: dict[str, bytes] = {}
    for document in documents:
        stickers = (sticker_of(document["platform"], name) for name in document.get("stickers", ()))
        products |= {product.key: product.content for product in (product_of(document), *stickers)}
    lines = [b'{"index":{"_id":"%b"}}\n%b\n' % (key.encode(), content) for key, content in products.items()]
    if lines:
        done = client.bulk(index=products_of(index), body=b"".join(lines), params={"refresh": "true"})
        assert not done["errors"], done
