"""Fills a platform's index with items in one request, so that each test has its own."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from api.settings import Settings
from indexer.documents.checked_item import checked_item
from indexer.documents.digest import encode_document
from indexer.documents.document import index_document
from indexer.engine.bulk import index_lines
from mappings.connection import SearchSettings, connect
from mappings.definition import read_definition
from mappings.names import generation_name
from mappings.platforms import Platform, read_platforms
from tests.support.api.described_examples import ITEM
from tests.support.app import settings_for
from tests.support.indexer.generation import create_generation, put_products, swap
from tests.support.indices import new_prefix

(CS2,) = read_platforms()


def put_index(
    settings: SearchSettings,
    platform: Platform,
    items: Iterable[dict[str, Any]],
    made_at: datetime | None = None,
    shards: int = 1,
) -> str:
    """Makes an index of these items, which serves from now on instead of an older one, and returns its name."""
    definition = read_definition().with_shards(shards)
    alias = settings.alias(platform.id)
    index = generation_name(alias, made_at or datetime.now(UTC), definition.fingerprint)
    documents = [index_document(checked_item(item), platform) for item in items]
    lines = [
        index_lines(document["id"], 1, *encode_document(document, 1, settings.derived_digest_key).pieces)
        for document in documents
    ]
    client = connect(settings)
    try:
        create_generation(client, index, definition=definition)
        put_products(client, index, documents)
        if lines:
            done = client.bulk(index=index, body=b"".join(lines), params={"refresh": "true"})
            assert not done["errors"], done
        swap(client, alias, index)
    finally:
        client.close()
    return index


def simple_item(number: int, price: float | None = 1.0, name: str = "AK-47 | Redline (Field-Tested)") -> dict[str, Any]:
    """An item of which little is known."""
    return {"id": number, "name": name, "price": price}


PRICED, PRICELESS, BOUND, LEAST, MOST = 1, 2, 3, -(2**63), 2**63 - 1
ITEMS = [
    simple_item(PRICED),
    simple_item(PRICELESS, None),
    *(simple_item(number, 2.5) for number in (BOUND, LEAST, MOST)),
    ITEM,
]


@contextmanager
def loaded(opensearch_url: str, folder: Path) -> Iterator[Settings]:
    """Settings with an index of these items, which goes with the block."""
    with new_prefix(opensearch_url) as prefix:
        settings = settings_for(opensearch_url, prefix, folder)
        put_index(settings, CS2, ITEMS)
        yield settings
