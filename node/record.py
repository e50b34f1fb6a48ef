"""The pid file goes in; the process that runs the node, or the news that the file is stale, comes out."""

from dataclasses import asdict, dataclass
from pathlib import Path

from node.config import node_mark
from node.errors import NodeError
from node.machine import is_same_process


@dataclass(frozen=True)
class Record:
    """Who runs a node: process id, its start (seconds since 1970), and what it was started with."""

    pid: int
    started: float
    port: int
    heap: str
    jvm: str
    java: str

    @property
    def url(self) -> str:
        """Where the node answers."""
        return f"http://127.0.0.1:{self.port}"


def write_record(path: Path, record: Record) -> None:
    """Replace the pid file in one step, so that nobody ever reads half of it."""
    import json

    unfinished = path.with_name(f"{path.name}.part")
    unfinished.write_text(json.dumps(asdict(record)) + "\n")
    unfinished.replace(path)


def read_record(path: Path) -> Record | None:
    """What the pid file says, or None when there is none. Raises NodeError when it is not one of ours."""
    import json

    try:
        text = path.read_text()
    except FileNotFoundError:
        return None
    try:
        return Record(**json.loads(text))
    except (ValueError, TypeError) as error:
        msg = f"{path} is not a pid file of gear-node: make sure that no OpenSearch runs from here, then delete it"
        raise NodeError(msg) from error


def is_running(record: Record, home: Path) -> bool:
    """Whether the recorded process still lives and is the node of this directory (process ids are used again)."""
    return is_same_process(record.pid, record.started, node_mark(home))
