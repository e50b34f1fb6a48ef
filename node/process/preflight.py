"""Checks before a start: port, memory, disk, and what already runs."""

from pathlib import Path

from node.errors import NodeError
from node.folders import Folders
from node.machine.system import Memory, port_is_taken, port_owner
from node.process import cluster
from node.process.config import FREE_DISK_TO_START
from node.process.record import Record
from node.settings import NodeSettings, heap_bytes

JAVA_BESIDE_HEAP = 256 * 1024**2
"""Bytes that Java takes beside its heap at least (410 MB resident were measured with a heap of 512 MB)."""


def check_same(record: Record, settings: NodeSettings, folders: Folders) -> None:
    """Raises NodeError when the node runs already, but not as was asked for."""
    for name, running in (("port", record.port), ("heap", record.heap), ("jvm", record.jvm)):
        requested = getattr(settings, name)
        if name in settings.model_fields_set and requested != running:
            raise NodeError(
                f"the node in {folders.home} runs already with {name} {running}, not {requested}: stop it first "
                "(gear-node stop), or start another one with another --dir and --port"
            )


def check_port(port: int) -> None:
    """Raises NodeError when the port cannot be had."""
    if not port_is_taken(port):
        return
    owner = port_owner(port)
    by_owner = f" by {owner}" if owner else ""
    response = cluster.get(port, "/", timeout=1) or {}
    name = response.get("cluster_name")
    hint = f" (an OpenSearch answers there, cluster {name!r}: GEAR_OPENSEARCH_URL can point to it)" if name else ""
    raise NodeError(f"port {port} of 127.0.0.1 is taken{by_owner}{hint}: choose another with --port or GEAR_NODE_PORT")


def check_memory(heap: str, memory: Memory) -> None:
    """Raises NodeError when the memory is too small for a server with this heap."""
    needed = heap_bytes(heap) + JAVA_BESIDE_HEAP
    if memory.available < needed:
        raise NodeError(
            f"{memory.limited_by} has {memory.available / 1024**2:.0f} MB of memory free, and a heap of {heap} needs "
            f"{needed / 1024**2:.0f} MB: close something, or choose a smaller heap with --heap (256m at least)"
        )


def check_disk(home: Path, free: int) -> None:
    """Raises NodeError when `free` bytes of disk are too few for a node that stays writable."""
    if free < FREE_DISK_TO_START:
        raise NodeError(
            f"the disk of {home} has {free / 1024**3:.1f} GB free, and OpenSearch needs "
            f"{FREE_DISK_TO_START / 1024**3:.0f} GB: when the disk fills up it makes all indices read-only. "
            "Free some, or choose another disk with --dir"
        )
