"""Warm-up: the searches that users begin with, answered once by an index before it serves.

The first searches after a swap would otherwise read sort columns and terms from the disk, for everybody at once.
"""

from functools import partial
from typing import Any

from opensearchpy import OpenSearch

from indexer.engine.retry import RetryPolicy
from indexer.engine.scan import send_search
from mappings.fields import OFFERED, TIE_BREAKERS
from mappings.names import products_of


def _listing(field: str, order: str) -> dict[str, Any]:
    """A first page without words."""
    return {
        "query": {"bool": {"filter": [OFFERED]}},
        "sort": [{field: {"order": order, "missing": "_last"}}, *TIE_BREAKERS],
    }


SEARCHES: tuple[dict[str, Any], ...] = (
    _listing("price.ascending", "asc"),  # what a search without words is sorted by
    _listing("price", "desc"),
    _listing("listedAt", "desc"),  # newest first
    _listing("float", "asc"),
    _listing("name.folded", "asc"),  # builds the table of all names, the slowest first search of all
    _listing("rank", "asc"),  # what the hits of words are sorted by
    {  # a filter by a detail and one by price: the folded terms and the points
        "query": {
            "bool": {
                "filter": [
                    OFFERED,
                    {"term": {"exterior.folded": "field-tested"}},
                    {"range": {"price.ascending": {"gte": 100}}},
                ]
            }
        }
    },
)


# The products that have the words, with the values that tell which they are.
PRODUCTS: dict[str, Any] = {
    "query": {"match": {"text": "ak redline"}},
    "sort": [{"_score": {"order": "desc"}}, {"product": {"order": "asc"}}],
}


def warm(client: OpenSearch, index: str, retry: RetryPolicy) -> None:
    """Runs each search once; raises the client's error where the index cannot answer one: it must not serve then."""
    for body in SEARCHES:
        request = {**body, "size": 20, "track_total_hits": True}
        retry.call(partial(send_search, client, index, request))
    retry.call(partial(send_search, client, products_of(index), PRODUCTS))
