"""Counts: a count of some shards is asked for again and never taken for all."""

from collections.abc import Callable

import pytest
from opensearchpy import OpenSearch

from indexer.engine.generations import Generations
from indexer.engine.retry import RetryPolicy
from indexer.engine.tombstones import Tombstones
from mappings.definition import read_definition
from tests.support.indexer.wire import Fault, Wire

PARTIAL = b'{"count": 3, "_shards": {"total": 2, "successful": 1, "failed": 1}}'
WHOLE = b'{"count": 7, "_shards": {"total": 2, "successful": 2, "failed": 0}}'


def items_of(client: OpenSearch) -> int:
    """What an index has, as a load and a rollback count it."""
    return Generations(client, "gear-730", read_definition(), RetryPolicy(30)).count("gear-730-1")


def tombstones_of(client: OpenSearch) -> int:
    """What was deleted live since a load, as a rollback shows it."""
    return Tombstones(client, "gear-730", RetryPolicy(30)).count_later(1)


@pytest.mark.parametrize("counted", [items_of, tombstones_of])
def test_a_count_of_some_shards_is_not_taken_for_all(
    scripted: tuple[Wire, OpenSearch], counted: Callable[[OpenSearch], int]
) -> None:
    wire, client = scripted
    counts = iter([PARTIAL, WHOLE])
    wire.rule = lambda method, path, body: Fault("response", 200, next(counts) if "/_count" in path else WHOLE)
    assert counted(client) == 7
