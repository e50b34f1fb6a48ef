"""What the doctor reads of the cluster is that of all its nodes."""

from collections.abc import Sequence

import orjson
import pytest
from opensearchpy import OpenSearch

from indexer.doctor.facts import engine_facts, required_free
from tests.support.indexer.wire import Fault, Wire

EMPTY = {"total_in_bytes": 100, "available_in_bytes": 90}
FULL = {"total_in_bytes": 100, "available_in_bytes": 1}


@pytest.mark.parametrize(
    ("disks", "has_room"), [([EMPTY, EMPTY], True), ([EMPTY, FULL], False), ([EMPTY], False), ([], False)]
)
def test_there_is_room_where_every_node_says_so(
    scripted: tuple[Wire, OpenSearch], disks: Sequence[dict[str, int]], has_room: bool
) -> None:
    """A node that does not answer in time is left out of the response, and its disk may be full."""
    wire, client = scripted
    responses = {
        "": {"version": {"distribution": "opensearch", "number": "3.6.0"}},
        "_cluster/health": {"number_of_data_nodes": 2},
        "_cluster/settings": {},
        "_nodes/data%3Atrue/stats/fs": {
            "nodes": {str(number): {"fs": {"total": disk}} for number, disk in enumerate(disks)}
        },
        "_index_template": {"index_templates": []},
        "_template": {},
    }

    def rule(method: str, path: str, body: bytes) -> Fault:
        return Fault("response", 200, orjson.dumps(responses[path.partition("?")[0].strip("/")]))

    wire.rule = rule
    assert engine_facts(client).has_room is has_room


@pytest.mark.parametrize(
    ("watermark", "free"),
    [("10gb", 10 * 2**30), ("10g", 10 * 2**30), ("512M", 2**29), ("9b", 9), ("90%", 10)],
)
def test_a_watermark_is_read_as_the_engine_does(watermark: str, free: float) -> None:
    assert required_free(watermark, 100) == pytest.approx(free)
