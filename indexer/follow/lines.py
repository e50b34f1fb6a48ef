"""NDJSON from stdin without end: a thread reads ahead, and no further than a batch or two."""

import queue
import select
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import orjson

from indexer.documents.refusal import ItemRefusedError, Refusal, shortened
from indexer.errors import CommandError
from indexer.follow.stream import Message, Stream
from indexer.live.change import Change, delete_of, read_change, upsert_of
from indexer.sources.records import Record, json_lines
from mappings.platforms import Platform

READ_BYTES = 256 * 1024
AHEAD = 5_000  # records
POLL_SECONDS = 0.1  # until the thread sees that it is to stop
DRAIN_SECONDS = 5.0  # that the end of a line may take to come
_DELETED = "deleted"


class LineStream(Stream):
    """The changes on the lines of a pipe, which has no position: what was read before a crash is not read again."""

    name = "stdin"

    def __init__(self, platform: Platform) -> None:
        """Raises CommandError where there is no stdin."""
        if sys.stdin is None:
            raise CommandError(f"{self.name} is closed")
        self._change_of = partial(_change_of, platform=platform)
        self._pipe = sys.stdin.buffer
        self._records: queue.Queue[Record | None] = queue.Queue(AHEAD)
        self._failure: OSError | None = None  # why there is no more
        self.line = 0  # the last one that was read
        self._draining = threading.Event()
        threading.Thread(target=self._read_ahead, name="stdin", daemon=True).start()

    def _read_ahead(self) -> None:
        try:
            for record in json_lines(self._chunks()):
                self._records.put(record)
        except OSError as error:  # `read` raises it, behind what came before
            self._failure = error
        finally:
            self._records.put(None)

    def _chunks(self) -> Iterator[bytes]:
        """What comes, until the stream is drained: then no more than the end of the line that has begun."""
        read = getattr(self._pipe, "read1", self._pipe.read)  # what is there, without waiting for more
        chunk = b"\n"
        while not self._draining.is_set():
            if self._has_more():
                chunk = read(READ_BYTES)
                if not chunk:
                    return
                yield chunk
        until = time.monotonic() + DRAIN_SECONDS
        while chunk and not chunk.endswith(b"\n") and time.monotonic() < until:
            if self._has_more():
                chunk = read(1)
                yield chunk

    def _has_more(self) -> bool:
        """Whether reading does not block; waits a moment for that."""
        return bool(select.select([self._pipe], [], [], POLL_SECONDS)[0])

    def read(self, max_messages: int, seconds: float) -> Sequence[Message]:
        """The next messages, as `Stream`; raises CommandError once no more can be read."""
        messages: list[Message] = []
        deadline = time.monotonic() + seconds
        while len(messages) < max_messages and not self.ended:
            try:
                record = self._records.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                break
            if record is None:
                self.ended = True
            else:
                self.line = record.line
                messages.append(read_change(self.name, record, self._change_of))
        if self.ended and self._failure is not None and not messages:
            raise CommandError(f"{self.name} cannot be read after line {self.line}: {self._failure}") from self._failure
        return messages

    def drain(self, max_messages: int) -> Sequence[Message]:
        """What is read ahead, as `Stream`: from now on nothing more is taken from the pipe."""
        self._draining.set()
        return self.read(max_messages, 2 * DRAIN_SECONDS)

    def commit(self) -> None:
        """A pipe has no position; who writes to it reads the acknowledged lines from stdout (--json)."""

    def lag(self) -> int:
        """What is read ahead."""
        return self._records.qsize()

    def close(self) -> None:
        """The thread ends with the process."""


def _change_of(content: bytes | ItemRefusedError | dict[str, Any], platform: Platform) -> Change:
    """The change that a line states: an item, or `{"id": 7, "deleted": true}`; raises ItemRefusedError."""
    if not isinstance(content, bytes) or f'"{_DELETED}"'.encode() not in content:
        return upsert_of(content, platform)
    try:
        values = orjson.loads(content)
    except orjson.JSONDecodeError:
        values = None
    if not isinstance(values, dict) or _DELETED not in values:
        return upsert_of(content, platform)
    deleted = values.pop(_DELETED)
    if deleted is True:
        return delete_of(values)
    if deleted in (False, None):
        return upsert_of(values, platform)
    raise ItemRefusedError((Refusal(_DELETED, shortened(deleted), "must be true or false"),))
