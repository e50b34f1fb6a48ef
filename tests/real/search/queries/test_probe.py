"""A search that asks only if there is an item finds it, however many there are."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any, Final

import pytest
from opensearchpy import OpenSearch

from api.engine.clauses import any_of, probe
from api.engine.responses import total_of
from mappings.connection import connect
from mappings.fields import OFFERED
from tests.support.api.catalogue import CS2, put_index, simple_item
from tests.support.app import settings_for
from tests.support.indices import new_prefix

MANY: Final = 2048
"""The engine goes through so many documents of a segment at once where any of several values is excluded."""
NO_KNIFE_OR_GLOVES = {"bool": {"must_not": [{"terms": {"type.folded": ["knife", "gloves"]}}]}}
OF_NO_ITEM = {"term": {"name.letters": "no such name"}}


@pytest.fixture(scope="module")
def index(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OpenSearch, str]]:
    """An index with one segment, whatever was refreshed while it was written."""
    with new_prefix(opensearch_url) as prefix:
        settings = settings_for(opensearch_url, prefix, tmp_path_factory.mktemp("probe"))
        name = put_index(settings, CS2, [simple_item(number) for number in range(MANY)])
        with closing(connect(settings)) as client:
            client.indices.forcemerge(index=name, params={"max_num_segments": "1"})
            client.indices.refresh(index=name)
            yield client, name


@pytest.mark.parametrize("excluding", [NO_KNIFE_OR_GLOVES, any_of([NO_KNIFE_OR_GLOVES, OF_NO_ITEM])])
def test_a_probe_beside_an_exclusion_finds_an_item(index: tuple[OpenSearch, str], excluding: Any) -> None:
    client, name = index
    response = client.search(index=name, body=probe({"bool": {"filter": [OFFERED, excluding]}}))
    assert total_of(response) == 1
