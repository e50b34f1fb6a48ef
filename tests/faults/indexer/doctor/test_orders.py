"""The doctor and an item that cannot be read."""

from typing import Any

import orjson

from tests.support.indexer.examined import codes, findings, mark_items
from tests.support.indexer.fixtures import Place, items
from tests.support.indexer.shop import Shop
from tests.support.indexer.wire import Fault, Wire, pass_all


def test_an_item_that_cannot_be_read_for_a_moment_is_a_finding_all_the_same(
    place: Place, shop: Shop, wire: Wire
) -> None:
    shop.sell(1)
    place.put(items(3))
    shop.publish()
    shop.age()
    mark_items(place, 1, bound=False)
    unread: dict[str, Any] = {"_id": "1", "error": {"type": "no_shard_available_action_exception", "reason": "none"}}

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if "/_mget" not in path:
            return None
        wire.rule = pass_all
        return Fault("response", 200, orjson.dumps({"docs": [unread]}))

    wire.rule = rule
    assert codes(findings(place, code=1)) == ["sold-but-offered"]
    assert wire.rule is pass_all
