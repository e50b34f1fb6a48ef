"""Asks the OpenSearch on a port of 127.0.0.1 how it is; None while nothing answers."""

import json
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any

from node.process.config import CLUSTER_NAME


@dataclass(frozen=True)
class ClusterState:
    """Health colour, number of indices and documents, and the indices that OpenSearch locked for lack of disk."""

    health: str
    indices: int
    documents: int
    locked: tuple[str, ...]


def get(port: int, path: str, timeout: float = 5) -> dict[str, Any] | None:
    """One GET. None when nothing answers, or not with a JSON object and a status of 200 or 408 (still waiting)."""
    connection = HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        body = json.loads(response.read())
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return body if response.status in (200, 408) and isinstance(body, dict) else None


def is_ours(port: int) -> bool:
    """Whether a node of gear-node answers there."""
    return (get(port, "/") or {}).get("cluster_name") == CLUSTER_NAME


def health(port: int) -> str | None:
    """`green`, `yellow` or `red`, or None while nothing answers; waits a second for better than red."""
    response = get(port, "/_cluster/health?wait_for_status=yellow&timeout=1s")
    return None if response is None else str(response.get("status"))


def cluster_state(port: int) -> ClusterState | None:
    """How the node is, or None when it does not answer."""
    colour = health(port)
    stats = get(port, "/_stats/docs?filter_path=_all.primaries.docs.count,indices.*.uuid")
    blocks = get(port, "/_cluster/state/blocks?filter_path=blocks.indices")
    if colour is None or stats is None or blocks is None:
        return None
    locked = [
        name
        for name, reasons in blocks.get("blocks", {}).get("indices", {}).items()
        # 12 is OpenSearch's "disk usage exceeded flood-stage watermark" block (IndexMetadata, 3.6.0).
        if "12" in reasons
    ]
    documents = stats.get("_all", {}).get("primaries", {}).get("docs", {}).get("count", 0)
    return ClusterState(
        health=colour, indices=len(stats.get("indices", {})), documents=documents, locked=tuple(sorted(locked))
    )
