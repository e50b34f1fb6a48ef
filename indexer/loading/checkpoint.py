"""The checkpoint: how far a load is acknowledged in, written beside its index; after its death the same out.

It is a document of `<index>-deletes`, so it is there exactly as long as an index is being filled. It is written after
the acknowledgement, never before, and compare and set, so that a loader that was taken for dead moves nobody's.
"""

import threading
from dataclasses import asdict, dataclass, replace
from types import TracebackType
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import ConflictError, NotFoundError, OpenSearchException

from indexer.documents.digest import Checksum
from indexer.engine.failures import CommandError
from indexer.engine.generations import deletes_index, loading_alias
from indexer.engine.retry import Patience
from indexer.loading.committed_offset import Mark
from indexer.locking.record import now_text

EVERY = 1.0  # seconds between two writes: what is sent twice after a death, and no load for the engine
REQUEST_SECONDS = 10.0
_ID = "checkpoint"


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """Up to where a load is acknowledged, and of what sources."""

    owner: str  # of the lock under which it was written
    sources: tuple[str, ...]  # as they are shown
    size: int | None  # bytes of all of them, None where that was not known
    read: int = 0  # records of all sources in order
    items: int = 0  # of these, what was accepted and is acknowledged
    parts: tuple[int, ...] = (0, 0, 0, 0)  # sums of their digests
    superseded: int = 0
    at: str = ""  # when, by the loader's clock

    @property
    def mark(self) -> Mark:
        """The place to go on from."""
        return Mark(self.read, Checksum(self.items, list(self.parts)), self.superseded)

    def reached(self, mark: Mark) -> "Checkpoint":
        """The same load further on."""
        sums = mark.accepted
        return replace(
            self, read=mark.read, items=sums.items, parts=tuple(sums.parts), superseded=mark.superseded, at=now_text()
        )

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return {name: getattr(self, name) for name in ("sources", "size", "read", "items", "at")}


class Checkpoints:
    """The checkpoint beside one index."""

    def __init__(self, client: OpenSearch, index: str) -> None:
        self._client = client
        self._alias = loading_alias(deletes_index(index))
        self._place: tuple[int, int] | None = None

    def read(self) -> Checkpoint | None:
        """What was written last; None where there is none, or the index for it is gone."""
        try:
            found = self._client.get(index=self._alias, id=_ID, params={"request_timeout": REQUEST_SECONDS})
        except NotFoundError:
            return None
        self._place = (found["_seq_no"], found["_primary_term"])
        told = found["_source"]["checkpoint"]
        return Checkpoint(**{**told, "sources": tuple(told["sources"]), "parts": tuple(told["parts"])})

    def write(self, checkpoint: Checkpoint) -> None:
        """Writes it in the place of what was read or written last; raises CommandError where that was not ours."""
        while True:
            params: dict[str, Any] = {"op_type": "create"}
            if self._place is not None:
                params = {"if_seq_no": self._place[0], "if_primary_term": self._place[1]}
            try:
                answer = self._client.index(
                    index=self._alias,
                    id=_ID,
                    body={"checkpoint": asdict(checkpoint)},
                    params={**params, "require_alias": "true", "request_timeout": REQUEST_SECONDS},
                )
            except ConflictError as error:
                found = self.read()  # of ours, if only the answer was lost
                if found == checkpoint:
                    return
                if found is None or found.owner != checkpoint.owner:
                    message = f"another load has gone on with what is behind {self._alias}"
                    raise CommandError(message) from error
            except NotFoundError as error:
                message = f"{self._alias} is gone, with what was deleted meanwhile: load again, without --resume"
                raise CommandError(message) from error
            else:
                self._place = (answer["_seq_no"], answer["_primary_term"])
                return


class CheckpointWriter:
    """A context in which marks are written down in the background, the last one at its good end at the latest."""

    def __init__(self, checkpoints: Checkpoints, begun: Checkpoint, patience: Patience) -> None:
        self._checkpoints = checkpoints
        self._checkpoint = begun
        self._patience = patience
        self._mark: Mark | None = None
        self._changed = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write, name="checkpoint", daemon=True)

    def __enter__(self) -> "CheckpointWriter":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        self._changed.set()
        self._thread.join()
        mark = self._mark
        if error is None and mark is not None:
            last = self._checkpoint.reached(mark)
            self._patience.call(lambda: self._checkpoints.write(last))

    def tell(self, mark: Mark) -> None:
        """All up to here is acknowledged."""
        self._mark = mark
        self._changed.set()

    def _write(self) -> None:
        while not self._ended.is_set():
            self._changed.wait()
            self._changed.clear()
            mark = self._mark
            if mark is None or self._ended.is_set():
                continue
            try:
                self._checkpoints.write(self._checkpoint.reached(mark))
            except OpenSearchException:  # what matters is at its end, or further on
                self._changed.set()
            except CommandError:  # the lock is lost, which it says itself
                return
            self._ended.wait(EVERY)
