"""Hidden indices: small ones beside an alias, which no search for all indices finds."""

from datetime import UTC, datetime
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import RequestError

from mappings.timestamps import rfc3339

_SETTINGS = {"index": {"number_of_shards": 1, "auto_expand_replicas": "0-1", "hidden": True}}


def now_text() -> str:
    """This moment by this machine's clock, as documents of these indices have it."""
    return rfc3339(datetime.now(UTC))


def create_hidden_index(client: OpenSearch, index: str, alias: str, mappings: dict[str, Any]) -> None:
    """Makes the index with its alias where it is not there."""
    body = {"settings": _SETTINGS, "mappings": mappings, "aliases": {alias: {"is_hidden": True}}}
    try:
        client.indices.create(index=index, body=body)
    except RequestError as error:
        if error.error != "resource_already_exists_exception":
            raise
