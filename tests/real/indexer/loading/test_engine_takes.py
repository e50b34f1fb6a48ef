"""Whatever the validation accepts, the engine accepts too: no bulk request fails for an item."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opensearchpy import OpenSearch

from indexer.documents.checked_item import checked_item
from indexer.documents.digest import encode_document
from indexer.documents.document import index_document
from indexer.documents.refusal import ItemRefusedError
from mappings.connection import SearchSettings, connect
from mappings.definition import read_definition
from mappings.platforms import read_platforms
from tests.support.examples import examples
from tests.support.indexer.drawn_items import ITEMS

CS2 = next(iter(read_platforms()))


@pytest.fixture
def empty_index(opensearch_url: str, index_prefix: str) -> Iterator[tuple[OpenSearch, str]]:
    client = connect(SearchSettings(opensearch_url=opensearch_url))
    index = f"{index_prefix}-property"
    client.indices.create(index=index, body=read_definition().create_body())
    yield client, index
    client.close()


@settings(max_examples=examples(25, 100), database=None, suppress_health_check=list(HealthCheck))
@given(drawn=st.lists(ITEMS, min_size=1, max_size=40))
def test_accepted_items_are_taken_and_given_back_as_they_are(
    empty_index: tuple[OpenSearch, str], drawn: list[dict[str, Any]]
) -> None:
    client, index = empty_index
    documents = {}
    for item in drawn:
        try:
            document = index_document(checked_item(orjson.dumps(item)), CS2)
        except ItemRefusedError:
            continue
        documents[item["id"]] = b"".join(encode_document(document, 1).pieces)
    if not documents:
        return
    lines = [b'{"index":{"_id":"%d"}}\n%b\n' % (key, content) for key, content in documents.items()]
    response = client.bulk(body=b"".join(lines), index=index)
    assert not response["errors"], [result["index"] for result in response["items"] if result["index"]["status"] >= 300]
    back = client.mget(body={"ids": [str(key) for key in documents]}, index=index)
    assert [content["_source"] for content in back["docs"]] == [orjson.loads(content) for content in documents.values()]
