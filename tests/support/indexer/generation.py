"""A generation made by hand: the index of its listings with the index of its products, as loads make them."""

from collections.abc import Iterable, Mapping
from typing import Any

from opensearchpy import OpenSearch

from indexer.documents.product import KeyedDocument, product_of, sticker_of
from mappings.definition import Definition, read_definition
from mappings.names import products_of


def create_generation(
    client: OpenSearch, index: str, *aliases: str, definition: Definition | None = None, owner: str | None = None
) -> None:
    """Makes both indices, empty; `aliases` are those of the listings."""
    definition = definition or read_definition()
    meta = {} if owner is None else {"owner": owner}
    bodies = {
        products_of(index): (definition.create_products_body(), [products_of(alias) for alias in aliases]),
        index: (definition.create_body(), aliases),
    }
    for name, (body, names) in bodies.items():
        body["mappings"]["_meta"] |= meta
        client.indices.create(index=name, body={**body, "aliases": {alias: {} for alias in names}})


def create_before_products(client: OpenSearch, alias: str) -> str:
    """Makes an index as versions before products did: one, whose listings have all that texts are matched with."""
    definition, index = read_definition(), f"{alias}-20250101000000000-00000000"
    settings = {**definition.body["settings"], "analysis": definition.analysis()}
    properties = {**definition.log_properties(), "item": {"type": "object", "enabled": False}}
    del properties["product"], properties["part"]
    mappings = {"dynamic": "strict", "properties": properties, "_meta": {"fingerprint": "00000000", "readBy": []}}
    client.indices.create(index=index, body={"settings": settings, "mappings": mappings, "aliases": {alias: {}}})
    item = {"id": 1, "platform": 730, "bound": False, "name": "Zorkmid", "price": 100}
    client.index(index=index, id="1", body={**item, "item": item}, params={"refresh": "true"})
    return index


def swap(client: OpenSearch, alias: str, index: str) -> None:
    """Points both aliases to what a load has filled, as its end does."""
    actions: list[dict[str, Any]] = []
    for name, serving, loading in (
        (index, alias, f"{index}-loading"),
        (products_of(index), products_of(alias), products_of(f"{index}-loading")),
    ):
        actions.append({"remove": {"index": f"{alias}-*", "alias": serving, "must_exist": False}})
        actions.append({"remove": {"index": name, "alias": loading, "must_exist": False}})
        actions.append({"add": {"index": name, "alias": serving}})
    client.indices.update_aliases(body={"actions": actions})


def put_products(client: OpenSearch, index: str, documents: Iterable[Mapping[str, Any]]) -> None:
    """Puts the products of index documents into a generation, visible at once."""
    lines = [b'{"index":{"_id":"%b"}}\n%b\n' % (each.key.encode(), each.content) for each in products_among(documents)]
    if lines:
        done = client.bulk(index=products_of(index), body=b"".join(lines), params={"refresh": "true"})
        assert not done["errors"], done


def products_among(documents: Iterable[Mapping[str, Any]]) -> set[KeyedDocument]:
    """The products and other shared documents of index documents, and the names of the stickers on them."""
    products = set[KeyedDocument]()
    for document in documents:
        products.add(product_of(document))
        products |= {sticker_of(document["platform"], name) for name in document.get("stickers", ())}
        products |= set(document["shared"])
    return products


def products_in(client: OpenSearch, index: str) -> set[str]:
    """The keys of the products, and of the names of stickers, that a search in a generation finds."""
    response = client.search(index=products_of(index), body={"size": 1000, "_source": False})
    assert response["hits"]["total"]["value"] <= 1000
    return {hit["_id"] for hit in response["hits"]["hits"]}


def found_by_text(client: OpenSearch, alias: str, text: str) -> list[int]:
    """The ids of the items that a text finds behind an alias, by both indices, ascending."""
    match = {"match": {"text": {"query": text, "operator": "and"}}}
    products = client.search(index=products_of(alias), body={"query": match, "size": 1000, "_source": ["product"]})
    keys = [hit["_source"]["product"] for hit in products["hits"]["hits"]]
    body = {"query": {"terms": {"product": keys}}, "sort": ["id"], "size": 1000, "_source": False}
    return [int(hit["_id"]) for hit in client.search(index=alias, body=body)["hits"]["hits"]]
