"""Several searches in one round trip over faults: an incomplete answer to one is a 503 of all."""

from typing import Any

import pytest

from api.engine.client import Engine
from mappings.connection import SearchSettings
from tests.support.faults.answering_wire import answering, http, response
from tests.support.search.several_searches import EVERYTHING, LOADED, SECOND, unavailable

WHOLE: dict[str, Any] = {
    "timed_out": False,
    "_shards": {"total": 1, "failed": 0},
    "hits": {"total": {"value": 1}},
    "status": 200,
}
REJECTED = {"error": {"type": "rejected_execution_exception", "reason": "the queue is full"}, "status": 429}
BROKEN: dict[str, bytes] = {
    "one is rejected": response(200, {"responses": [WHOLE, REJECTED]}),
    "the first is rejected": response(200, {"responses": [REJECTED, WHOLE]}),
    "one failed on some shards": response(200, {"responses": [WHOLE, {**WHOLE, "_shards": {"total": 2, "failed": 1}}]}),
    "one is out of time": response(200, {"responses": [WHOLE, {**WHOLE, "timed_out": True}]}),
    "one has asked no shard": response(200, {"responses": [WHOLE, {**WHOLE, "_shards": {"total": 0, "failed": 0}}]}),
    "one is empty": response(200, {"responses": [WHOLE, {}]}),
    "one is missing": response(200, {"responses": [WHOLE]}),
    "all are missing": response(200, {}),
    "unavailable": response(503, {"error": {"type": "cluster_block_exception"}, "status": 503}),
    "half of the JSON": http(200, b'{"responses": [{'),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_an_answer_with_a_part_that_is_less_than_whole_is_a_503(name: str) -> None:
    async with answering(BROKEN[name]) as url:
        broken = Engine(SearchSettings(opensearch_url=url), timeout=30)
        try:
            await unavailable(broken, [LOADED], [EVERYTHING, SECOND])
        finally:
            await broken.close()


async def test_answers_that_are_whole_are_passed_on() -> None:
    async with answering(response(200, {"responses": [WHOLE, WHOLE]})) as url:
        engine = Engine(SearchSettings(opensearch_url=url), timeout=30)
        try:
            assert await engine.search_all([LOADED], [EVERYTHING, SECOND]) == [WHOLE, WHOLE]
        finally:
            await engine.close()
