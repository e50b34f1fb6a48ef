"""The doctor and an index that changes under its repairs."""

import pytest

from tests.support.indexer.examined import findings
from tests.support.indexer.fixtures import Place
from tests.support.indexer.shop import Shop
from tests.support.indexer.wire import Fault, Wire, pass_all


@pytest.mark.parametrize("partial", [False, True])
def test_a_document_that_came_after_the_look_keeps_the_index(place: Place, wire: Wire, *, partial: bool) -> None:
    """Deleting asks again, also for what no search sees yet, and believes no count of some shards."""
    Shop(place.environment["GEAR_DATABASE_URL"]).open()
    body = {"settings": {"number_of_replicas": 0, "refresh_interval": "-1"}}
    place.client.indices.create(index=place.alias, body=body)
    place.client.index(index=place.alias, id="1", body={"name": "stray"})

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if not path.startswith(f"/{place.alias}/_count"):
            return None
        wire.rule = pass_all
        return Fault("response", 200, b'{"count": 0, "_shards": {"total": 2, "successful": 1, "failed": 1}}')

    if partial:
        wire.rule = rule
    (finding,) = findings(place, "--fix", code=1)
    assert wire.rule is pass_all
    assert "has 1 documents" in finding["message"]
    assert place.client.get(index=place.alias, id="1")["found"]
