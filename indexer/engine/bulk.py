"""Bulk requests: the one sender, which retries until each change has a result, and a load's concurrent writer.

Every change has a fixed id and version, so a request whose response was lost is simply sent again, and an item that was
changed live meanwhile stays as it is. Memory is bounded: the requests in flight hold 16 MiB together.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from typing import Any, TypeVar

from msgspec import Struct
from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException

from indexer.engine.retry import Backoff, RetryPolicy, is_overload, is_retryable, is_too_large, is_transient
from indexer.engine.throttle import Throttle
from indexer.errors import CommandError
from mappings.engine_errors import cause, disk_full_message, is_disk_full

# Each item's status, and the reason where there is one; `errors` so that a response without items is seen as such.
FILTER_PATH = "errors,items.*.status,items.*.error.type,items.*.error.reason,items.*.error.caused_by.reason"

Change = TypeVar("Change")


class Outcome(Enum):
    """What became of one change in one index."""

    DONE = "done"
    MISSING = "missing"  # a delete of what was not there
    SUPERSEDED = "superseded"  # a later change is there already
    REFUSED = "refused"


class AliasGoneError(CommandError):
    """The alias that was written through does not exist any more, or points elsewhere: a load has ended."""


class ChangeTooLargeError(CommandError):
    """One change alone is larger than any request may be."""

    def __init__(self, change: object, size: int) -> None:
        super().__init__(
            f"{change} has {size:,} bytes, too many for one request (413): raise the limit of the proxy before the "
            "engine, or the engine's http.max_content_length, and load again"
        )


def outcome_of(result: dict[str, Any]) -> Outcome:
    """What one result says; raises AliasGoneError where the alias is gone. Callers decide which refusals are fatal."""
    status = result["status"]
    if status in (HTTPStatus.OK, HTTPStatus.CREATED):
        return Outcome.DONE
    if status == HTTPStatus.CONFLICT:
        return Outcome.SUPERSEDED
    if status == HTTPStatus.NOT_FOUND:
        if "error" not in result:
            return Outcome.MISSING
        raise AliasGoneError(reason_of(result))
    return Outcome.REFUSED


def reason_of(result: dict[str, Any]) -> str:
    """The engine's reason for one item of a bulk response."""
    error = result.get("error", {})
    inner = (error.get("caused_by") or {}).get("reason")
    return f"{error.get('type')}: {error.get('reason')}" + (f" ({inner})" if inner else "")


def index_lines(number: int, version: int, *document: bytes) -> bytes:
    """The two lines that put an item's document, given in pieces, into an index, unless there is a later one."""
    # `gte`, so that the same lines may be sent again
    action = b'{"index":{"_id":"%d","version":%d,"version_type":"external_gte"}}\n' % (number, version)
    return b"".join((action, *document, b"\n"))


def delete_line(number: int, version: int) -> bytes:
    """The line that deletes an item unless it was changed later than `version`."""
    return b'{"delete":{"_id":"%d","version":%d,"version_type":"external_gte"}}\n' % (number, version)


# With external versions a delete makes a missing index, and `require_alias` does not hold for deletes. In front of
# deletes, an update that changes nothing makes it hold for the whole request; no item has this id.
REQUIRE_ALIAS = b'{"update":{"_id":"none"}}\n{"doc":{}}\n'


class BulkSender:
    """Sends changes, which errors name as text, until each has a final result; several threads may share one."""

    def __init__(
        self, client: OpenSearch, retry: RetryPolicy, throttle: Throttle | None = None, *, names_index: bool = False
    ) -> None:
        self._client = client
        self.retry = retry
        self._filter_path = f"{FILTER_PATH},items.*._index" if names_index else FILTER_PATH
        self.throttle = throttle or Throttle(concurrency=1)
        self._lock = threading.Lock()
        self.bytes = 0  # sent, those of retries too
        self.retries = 0  # requests sent again, whole or in part

    def send(
        self,
        index: str,
        changes: Sequence[Change],
        lines_of: Callable[[Change], bytes],
        *,
        guard: bytes = b"",
        require_alias: bool = True,
    ) -> Iterator[tuple[Change, dict[str, Any]]]:
        """Each change with its result. `guard` is one action put in front of every request, without a result.

        Raises RetriesExhaustedError, ChangeTooLargeError, the client's error, or CommandError for a full disk.
        """
        pending = [(change, lines_of(change)) for change in changes]
        backoff = self.retry.backoff()
        while pending:
            batch = self._first_batch(pending)
            results = self._attempt(index, batch, backoff, guard, require_alias)
            again: list[tuple[Change, bytes]] = []
            reason = ""
            for entry, result in zip(batch, results, strict=True) if results else ():
                if is_retryable(result["status"]):
                    reason = f"{result['status']} {reason_of(result)}"
                    if is_disk_full(reason):  # waiting does not help
                        raise CommandError(disk_full_message(reason_of(result)))
                    again.append(entry)
                else:
                    yield entry[0], result
            if not results:
                continue
            pending = again + pending[len(batch) :]
            if len(again) < len(batch):
                backoff.reset()
            if again:
                self._count_retry()
                backoff.wait(reason)

    def _first_batch(self, pending: list[tuple[Change, bytes]]) -> list[tuple[Change, bytes]]:
        """As many of the changes as one request may have now."""
        max_bytes = self.throttle.request_bytes
        size = 0
        for count, (_, lines) in enumerate(pending):
            if count and size + len(lines) > max_bytes:
                return pending[:count]
            size += len(lines)
        return pending

    def _attempt(
        self, index: str, batch: list[tuple[Change, bytes]], backoff: Backoff, guard: bytes, require_alias: bool
    ) -> list[dict[str, Any]]:
        """Sends one request; no results where it is to be sent again, after a wait or in smaller pieces."""
        data = b"".join([guard, *(lines for _, lines in batch)])
        with self._lock:
            self.bytes += len(data)
        sent_at = time.monotonic()
        try:
            params = {"filter_path": self._filter_path, **({"require_alias": "true"} if require_alias else {})}
            results = _post(self._client, index, data, len(batch) + bool(guard), params)
        except OpenSearchException as error:
            if is_too_large(error):
                if len(batch) == 1:
                    raise ChangeTooLargeError(batch[0][0], len(data)) from error
                self.throttle.too_large(len(data))
                return []
            if is_overload(error):
                self.throttle.overloaded(sent_at, time.monotonic())
            if not is_transient(error):
                raise
            self._count_retry()
            backoff.wait(cause(error))
            return []
        results = results[bool(guard) :]
        if any(result["status"] == HTTPStatus.TOO_MANY_REQUESTS for result in results):
            self.throttle.overloaded(sent_at, time.monotonic())
        else:
            self.throttle.succeeded(time.monotonic())
        return results

    def _count_retry(self) -> None:
        with self._lock:
            self.retries += 1


def _post(client: OpenSearch, index: str, data: bytes, count: int, params: dict[str, str]) -> list[dict[str, Any]]:
    """Sends one bulk request of `count` actions; each one's result, or CommandError where some are missing."""
    response = client.transport.perform_request(
        "POST", f"/{index}/_bulk", params=params, body=data, headers={"content-type": "application/x-ndjson"}
    )
    results = response.get("items") if isinstance(response, dict) else None
    if not isinstance(results, list) or len(results) != count:
        shown = len(results) if isinstance(results, list) else "no list of"
        raise CommandError(f"the engine answered {count} items with {shown} results")
    return [result for wrapped in results for result in wrapped.values()]


class BulkItem(Struct, gc=False):  # thousands live at once, and none refers to another: the collector need not look
    """One item of a load: its source and line there, its id, its two lines of the request."""

    source: str
    line: int
    id: int
    data: bytes

    def __str__(self) -> str:
        return f"item {self.id} ({self.source}, line {self.line})"


@dataclass(kw_only=True)
class BulkWriter:
    """Writes a load's items with several threads, through an alias that must exist: no late request makes an index."""

    sender: BulkSender
    alias: str
    on_refused: Callable[[BulkItem, str], None]  # with the engine's reason
    on_sent: Callable[[], int]  # in the order of the source; returns the chunk's number
    on_acknowledged: Callable[[int, int], None]  # a chunk's number, and how many of it were superseded
    chunk_items: int

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(self.sender.throttle.concurrency, "bulk")
        self._in_flight: dict[Future[None], int] = {}  # with the bytes of its chunk
        self._lock = threading.Lock()
        self._entries: list[BulkItem] = []
        self._size = self._largest = 0
        self.counts = Counter[Outcome]()

    def write(self, entry: BulkItem) -> None:
        """Takes one item; blocks while enough is in flight; raises what a thread raised."""
        self._entries.append(entry)
        self._size += len(entry.data)
        self._largest = max(self._largest, len(entry.data))
        # so that a chunk is one request, not one and a little
        full = self._size + self._largest > self.sender.throttle.request_bytes
        if full or len(self._entries) >= self.chunk_items:
            self._submit()

    def finish(self) -> None:
        """Sends the rest and waits for every response; raises what a thread raised."""
        self._submit()
        while self._in_flight:
            self._await_chunk()
        self._pool.shutdown()

    def stop(self) -> None:
        """Ends all waiting and sends nothing more."""
        self.sender.retry.stopped.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _submit(self) -> None:
        if not self._entries:
            return
        number, entries, size = self.on_sent(), self._entries, self._size
        self._entries, self._size, self._largest = [], 0, 0
        while not self._has_room(size):
            self._await_chunk()
        self._in_flight[self._pool.submit(self._send, number, entries)] = size

    def _await_chunk(self) -> None:
        """Waits until one has ended; raises what its thread raised."""
        for future in wait(self._in_flight, return_when=FIRST_COMPLETED).done:
            del self._in_flight[future]
            future.result()

    def _has_room(self, size: int) -> bool:
        throttle, sizes = self.sender.throttle, self._in_flight.values()
        fits = len(sizes) < throttle.concurrency and sum(sizes) + size <= throttle.max_bytes_in_flight
        return not sizes or fits

    def _send(self, number: int, entries: list[BulkItem]) -> None:
        counts = Counter[Outcome]()
        try:
            for entry, result in self.sender.send(self.alias, entries, lambda entry: entry.data):
                outcome = outcome_of(result)
                if outcome is Outcome.REFUSED:
                    status, reason = result["status"], reason_of(result)
                    if status != HTTPStatus.BAD_REQUEST:  # not for its content: others would be, too
                        raise CommandError(f"the engine refused {entry}: {status} {reason}")
                    self.on_refused(entry, reason)
                counts[outcome] += 1
            if not counts[Outcome.REFUSED]:
                self.on_acknowledged(number, counts[Outcome.SUPERSEDED])
        finally:
            with self._lock:
                self.counts += counts
