"""The pid file: which process runs the node, and whether it still does."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from node.errors import NodeError
from node.machine.system import is_same_process
from node.process.config import node_mark


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
        return f"http://127.0.0.1:{self.port}"


def write_record(path: Path, record: Record) -> None:
    """Replace the pid file in one step, so that nobody ever reads half of it."""
    unfinished = path.with_name(f"{path.name}.part")
    unfinished.write_text(json.dumps(asdict(record)) + "\n")
    unfinished.replace(path)


def read_record(path: Path) -> Record | None:
    """What the pid file says, or None when there is none. Raises NodeError when it is not one of ours."""
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
