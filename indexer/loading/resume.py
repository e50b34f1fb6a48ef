"""Interrupted loads: how far a load is acknowledged, and how the next one goes on with it.

The checkpoint is a document beside the record of deletes: without that, no load could be gone on with. It is written
after the acknowledgement, never before, and compare and set, so that a loader that was taken for dead cannot move the
checkpoint of another. An alias has one: the next load writes its own over it.
"""

import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from opensearchpy import OpenSearch
from opensearchpy.exceptions import ConflictError, NotFoundError, OpenSearchException

from indexer.documents.digest import Checksum
from indexer.engine.generations import Generations
from indexer.engine.hidden_index import now_text
from indexer.engine.retry import RetryPolicy
from indexer.errors import CommandError
from indexer.loading.job import LoadJob
from indexer.locking.lock import Lock
from mappings.definition import Definition
from mappings.names import tombstones_alias

WRITE_SECONDS = 1.0  # between two writes: what is sent twice after a crash, and no load for the engine
REQUEST_SECONDS = 10.0
LOAD_AGAIN = "load again, without --resume"
_ID = "checkpoint"


class Offset(NamedTuple):
    """A place in what is read: so many records of all sources in order, and what of them was accepted."""

    read: int
    accepted: Checksum
    superseded: int = 0  # of the accepted ones, as the engine said


class CommittedOffset:
    """Tracks the committed offset: everything before it has been acknowledged."""

    def __init__(self, current: Callable[[], Offset], commit: Callable[[Offset], None], superseded: int = 0) -> None:
        """`current` is called when a chunk is sent: all that is read by then is in this chunk or an earlier one.

        `superseded` are those of what was acknowledged before.
        """
        self._current = current
        self._commit = commit
        self._lock = threading.Lock()
        self._sent: list[Offset] = []  # from the first that is not committed
        self._committed = 0
        self._acknowledged: dict[int, int] = {}  # a chunk's number: how many of it were superseded
        self._superseded = superseded

    def sent(self) -> int:
        """The number of the chunk that is sent now; called in the order of the source."""
        with self._lock:
            self._sent.append(self._current())
            return self._committed + len(self._sent) - 1

    def acknowledged(self, number: int, superseded: int) -> None:
        """Every item of a chunk is in the index; a chunk of which an item was refused is never acknowledged."""
        with self._lock:
            self._acknowledged[number] = superseded
            offset: Offset | None = None
            while self._committed in self._acknowledged:
                self._superseded += self._acknowledged.pop(self._committed)
                self._committed += 1
                offset = self._sent.pop(0)
            if offset is not None:
                self._commit(offset._replace(superseded=self._superseded))


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """The committed offset of a load, and of what sources."""

    owner: str  # of the lock under which it was written
    sources: tuple[str, ...]  # as they are shown
    size: int | None  # bytes of all of them, None where that was not known
    read: int = 0  # records of all sources in order
    items: int = 0  # of these, what was accepted and is acknowledged
    parts: tuple[int, ...] = (0, 0, 0, 0)  # sums of their digests
    superseded: int = 0
    at: str = ""  # when, by the loader's clock

    @property
    def offset(self) -> Offset:
        return Offset(self.read, Checksum(self.items, list(self.parts)), self.superseded)

    def at_offset(self, offset: Offset) -> "Checkpoint":
        checksum = offset.accepted
        return replace(
            self,
            read=offset.read,
            items=checksum.items,
            parts=tuple(checksum.parts),
            superseded=offset.superseded,
            at=now_text(),
        )

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("sources", "size", "read", "items", "at")}


class Checkpoints:
    """The checkpoint of the load that fills one index."""

    def __init__(self, client: OpenSearch, alias: str, index: str) -> None:
        self._client = client
        self._alias = tombstones_alias(alias)
        self._index = index
        self._sequence: tuple[int, int] | None = None

    def read(self) -> Checkpoint | None:
        """The last one written; None where there is none of this index."""
        try:
            document = self._client.get(index=self._alias, id=_ID, params={"request_timeout": REQUEST_SECONDS})
        except NotFoundError:
            return None
        self._sequence = (document["_seq_no"], document["_primary_term"])
        values = document["_source"]["checkpoint"]
        if values.pop("index") != self._index:
            return None
        return Checkpoint(**{**values, "sources": tuple(values["sources"]), "parts": tuple(values["parts"])})

    def write(self, checkpoint: Checkpoint) -> None:
        """Replaces what was read or written last; raises CommandError where somebody else has written meanwhile."""
        while True:
            params: dict[str, Any] = {"op_type": "create"}
            if self._sequence is not None:
                params = {"if_seq_no": self._sequence[0], "if_primary_term": self._sequence[1]}
            try:
                response = self._client.index(
                    index=self._alias,
                    id=_ID,
                    body={"checkpoint": {**asdict(checkpoint), "index": self._index}},
                    params={**params, "require_alias": "true", "request_timeout": REQUEST_SECONDS},
                )
            except ConflictError as error:
                before, current = self._sequence, self.read()  # of ours, if only the response was lost
                if current == checkpoint:
                    return
                if current is None or current.owner != checkpoint.owner:
                    self._sequence = before  # so that no later write succeeds either
                    raise CommandError(f"another load has gone on with what is behind {self._alias}") from error
            except NotFoundError as error:
                raise CommandError(f"{self._alias} is gone, with what was deleted meanwhile: {LOAD_AGAIN}") from error
            else:
                self._sequence = (response["_seq_no"], response["_primary_term"])
                return


class CheckpointWriter:
    """A context in which offsets are written in the background, the last one at its good end at the latest."""

    def __init__(self, checkpoints: Checkpoints, checkpoint: Checkpoint, retry: RetryPolicy) -> None:
        self._checkpoints = checkpoints
        self._checkpoint = checkpoint
        self._retry = retry
        self._offset: Offset | None = None
        self._changed = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write, name="checkpoint", daemon=True)

    def __enter__(self) -> "CheckpointWriter":
        self._thread.start()
        return self

    def __exit__(self, _: object, error: BaseException | None, *__: object) -> None:
        self._ended.set()
        self._changed.set()
        self._thread.join()
        offset = self._offset
        if error is None and offset is not None:
            last = self._checkpoint.at_offset(offset)
            self._retry.call(lambda: self._checkpoints.write(last))

    def commit(self, offset: Offset) -> None:
        self._offset = offset
        self._changed.set()

    def _write(self) -> None:
        while not self._ended.is_set():
            self._changed.wait()
            self._changed.clear()
            offset = self._offset
            if offset is None or self._ended.is_set():
                continue
            try:
                self._checkpoints.write(self._checkpoint.at_offset(offset))
            except OpenSearchException:  # the last write counts, or the next one
                self._changed.set()
            except CommandError:  # the lock is lost, which it says itself
                return
            self._ended.wait(WRITE_SECONDS)


@dataclass(frozen=True)
class LoadTarget:
    """The index that a load fills, its version (microseconds since 1970), and the checkpoint to go on from."""

    index: str
    version: int
    checkpoint: Checkpoint


def interrupted_load(
    job: LoadJob, client: OpenSearch, generations: Generations, definition: Definition, lock: Lock
) -> LoadTarget:
    """The load that this job goes on with; raises CommandError where there is none, or it does not fit the job."""
    unfinished = [state for state in generations.all() if state.unfinished]
    if not unfinished:
        previous = lock.previous_owner
        detail = f" ({previous.index} is gone)" if previous is not None and previous.index is not None else ""
        raise CommandError(f"behind {generations.alias} no interrupted load is left to resume{detail}: {LOAD_AGAIN}")
    state = unfinished[-1]
    checkpoint = Checkpoints(client, generations.alias, state.index).read()
    if checkpoint is None or state.version is None:
        raise CommandError(f"{state.index} has no checkpoint of its load: {LOAD_AGAIN}")
    if state.fingerprint != definition.fingerprint:
        raise CommandError(
            f"{state.index} was made with another definition ({state.fingerprint}) than this version's "
            f"({definition.fingerprint}): {LOAD_AGAIN}"
        )
    if state.products is None:
        raise CommandError(f"the products of {state.index} are missing: {LOAD_AGAIN}")
    if None not in (checkpoint.size, job.size) and checkpoint.size != job.size:
        raise CommandError(
            f"the sources have {job.size:,} bytes where those of the interrupted load had {checkpoint.size:,} "
            f"({', '.join(checkpoint.sources)}): name the same ones, or {LOAD_AGAIN}"
        )
    return LoadTarget(state.index, state.version, replace(checkpoint, owner=lock.owner.id))
