"""Swaps: what is not known is told apart from what did not happen."""

import orjson
import pytest
from opensearchpy import OpenSearch
from opensearchpy.exceptions import AuthorizationException

from indexer.engine.generations import Generations, SwapUnknownError
from indexer.engine.retry import RetriesExhaustedError, RetryPolicy
from mappings.definition import read_definition
from tests.support.indexer.wire import CUT, Fault, Wire

INDEX = "gear-730-20200101000000000-00000000"
INDICES = Fault("response", 200, orjson.dumps({INDEX: {"aliases": {}, "settings": {}, "mappings": {}}}))
FORBIDDEN = Fault("response", 403, b'{"error": {"type": "security_exception", "reason": "no"}}')


@pytest.mark.parametrize(
    ("look", "swap", "after", "error"),
    [
        (CUT, CUT, CUT, RetriesExhaustedError),
        (INDICES, FORBIDDEN, INDICES, AuthorizationException),
        (INDICES, CUT, CUT, SwapUnknownError),
        (INDICES, CUT, FORBIDDEN, SwapUnknownError),
        (INDICES, Fault("response", 200, b"{}"), CUT, SwapUnknownError),
    ],
    ids=["never sent", "refused", "lost, then away", "lost, then refused", "made, then away"],
)
def test_a_swap_that_may_have_happened_is_not_known(
    scripted: tuple[Wire, OpenSearch], look: Fault, swap: Fault, after: Fault, error: type[Exception]
) -> None:
    wire, client = scripted

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if not path.startswith("/_aliases"):
            return look
        wire.rule = lambda method, path, body: after
        return swap

    wire.rule = rule
    with pytest.raises(error):
        Generations(client, "gear-730", read_definition(), RetryPolicy(0.1)).swap(INDEX, lambda: None)
