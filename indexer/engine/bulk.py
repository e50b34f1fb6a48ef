"""Bulk: documents as bytes in, acknowledged items in the new index out, and every other one with its reason.

Memory is bounded: the chunks on their way hold 16 MiB together, and one is being filled. How large they are and how
many follows from the engine's answers (`pace.py`). Ids and versions are fixed, so a chunk whose answer was lost is
simply sent again, and an item changed live meanwhile stays as it is.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from msgspec import Struct
from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException

from indexer.engine.failures import CommandError, is_overload, is_too_large, may_pass
from indexer.engine.retry import Patience
from indexer.engine.throttle import MOST_BYTES_IN_FLIGHT, Pace
from indexer.loading.committed_offset import LowWater
from mappings.engine_errors import cause, disk_full, is_disk_full

CHUNK_ITEMS = 10_000
# Each item's status, and the reason where there is one; `errors` so that an answer without items is seen as such.
FILTER_PATH = "errors,items.*.status,items.*.error.type,items.*.error.reason,items.*.error.caused_by.reason"


class Entry(Struct, gc=False):  # thousands live at once, and none refers to another: the collector need not look
    """One item on its way: its line in the source, its id, its two lines of the request, its content's hash."""

    line: int
    id: int
    data: bytes
    digest: int


Refused = Callable[[str, Entry, str], None]  # source, item, the engine's reason


@dataclass
class _Chunk:
    """The items of one request, and what became of those that are not in it any more."""

    number: int
    source: str
    entries: list[Entry]
    size: int  # bytes of the entries, all that were sent
    superseded: int = 0
    refused: int = 0


class BulkWriter:
    """Writes through an alias that must exist, so that no index is ever made by a late request."""

    def __init__(
        self,
        client: OpenSearch,
        alias: str,
        *,
        refused: Refused,
        patience: Patience,
        low_water: LowWater,
        senders: int = 4,
    ) -> None:
        self._client = client
        self._alias = alias
        self._refused = refused
        self._patience = patience
        self._low_water = low_water
        self._pool = ThreadPoolExecutor(senders, "bulk")
        self._running: set[Future[None]] = set()
        self._lock = threading.Condition()
        self._in_flight: dict[int, int] = {}  # a chunk's number: its bytes
        self._pace = Pace(senders, time.monotonic())
        self._source = ""
        self._entries: list[Entry] = []
        self._bytes = 0
        self.acknowledged = 0  # what was superseded is among them
        self.superseded = 0
        self.refused = 0
        self.retries = 0  # requests sent again, whole or in part
        self.bytes = 0  # sent, those of retries too

    @property
    def pace(self) -> Pace:
        """How it sends by now."""
        return self._pace

    def begin(self, source: str) -> None:
        """What is written from now on is of this source; raises what a sender raised."""
        self._send_off()
        self._source = source

    def write(self, entry: Entry) -> None:
        """Takes one item; blocks while enough is on its way; raises what a sender raised."""
        self._entries.append(entry)
        self._bytes += len(entry.data)
        if self._bytes >= self._pace.setting.bytes or len(self._entries) >= CHUNK_ITEMS:
            self._send_off()

    def finish(self) -> None:
        """Sends the rest and waits for every answer; raises what a sender raised."""
        self._send_off()
        done, _ = wait(self._running, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
        self._pool.shutdown()

    def stop(self) -> None:
        """Ends all waiting and sends nothing more."""
        self._patience.stopped.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _send_off(self) -> None:
        if not self._entries:
            return
        chunk = _Chunk(self._low_water.sent(), self._source, self._entries, self._bytes)
        self._entries, self._bytes = [], 0
        with self._lock:
            # a sender takes its chunk out when it fails too, so this never waits for a dead one
            self._lock.wait_for(lambda: self._has_room(chunk.size))
            self._in_flight[chunk.number] = chunk.size
        done = {future for future in self._running if future.done()}
        self._running -= done
        for future in done:
            future.result()
        self._running.add(self._pool.submit(self._send, chunk))

    def _has_room(self, size: int) -> bool:
        held = self._in_flight.values()
        return not held or (len(held) < self._pace.setting.senders and sum(held) + size <= MOST_BYTES_IN_FLIGHT)

    def _send(self, chunk: _Chunk) -> None:
        try:
            waits = self._patience.waits()
            while chunk.entries:
                left, reason = self._attempt(chunk)
                if len(left) < len(chunk.entries):
                    waits.progress()
                chunk.entries = left
                if left and reason:
                    with self._lock:
                        self.retries += 1
                    waits.wait(reason)
            if not chunk.refused:
                self._low_water.acknowledged(chunk.number, chunk.superseded)
        finally:
            with self._lock:
                del self._in_flight[chunk.number]
                self._lock.notify_all()

    def _attempt(self, chunk: _Chunk) -> tuple[list[Entry], str]:
        """Sends once what a request may hold now; returns what is still to be sent, and why where that failed."""
        entries, rest = self._piece(chunk)
        data = b"".join([entry.data for entry in entries])
        with self._lock:
            self.bytes += len(data)
        began = time.monotonic()
        try:
            results = post(self._client, self._alias, data, len(entries))
        except OpenSearchException as error:
            self._heard(error, len(data), time.monotonic() - began)
            if is_too_large(error):
                if len(entries) > 1:
                    return chunk.entries, ""
                raise CommandError(_too_large(entries[0], chunk.source, len(data))) from error
            if may_pass(error):
                return chunk.entries, cause(error)
            raise
        again, reason, pushed = self._sorted_out(chunk, entries, results)
        now = time.monotonic()
        with self._lock:
            if pushed:
                self._pace.pushed(now - began, now)
            else:
                self._pace.answered(len(data), now - began, now)
            self._lock.notify_all()  # more may go at once now
        return again + rest, reason

    def _piece(self, chunk: _Chunk) -> tuple[list[Entry], list[Entry]]:
        """The first entries of a chunk, as many as one request may have now, and the others."""
        entries = chunk.entries
        most = self._pace.setting.bytes
        if chunk.size <= most + len(entries[-1].data):  # it ends with the item that made it full
            return entries, []
        size = 0
        for count, entry in enumerate(entries):
            size += len(entry.data)
            if size > most and count:
                return entries[:count], entries[count:]
        return entries, []

    def _heard(self, error: OpenSearchException, size: int, seconds: float) -> None:
        """Has the pace yield where an error says that a request was too much."""
        now = time.monotonic()
        with self._lock:
            if is_too_large(error):
                self._pace.too_large(size, now)
            elif is_overload(error):
                self._pace.pushed(seconds, now)

    def _sorted_out(
        self, chunk: _Chunk, entries: list[Entry], results: list[dict[str, Any]]
    ) -> tuple[list[Entry], str, bool]:
        """What is to be sent again, why, and whether that is because the engine has too much."""
        again: list[Entry] = []
        reason = ""
        pushed = False
        written = superseded = refused = 0
        for entry, result in zip(entries, results, strict=True):
            status = result["status"]
            if status in (HTTPStatus.OK, HTTPStatus.CREATED):
                written += 1
                continue
            if status == HTTPStatus.CONFLICT:  # with external versions: a later change is there already
                superseded += 1
                continue
            why = reason_of(result)
            if is_disk_full(why):
                raise CommandError(disk_full(why))
            if status == HTTPStatus.TOO_MANY_REQUESTS or status >= 500:
                again.append(entry)
                pushed = pushed or status == HTTPStatus.TOO_MANY_REQUESTS
                reason = f"{status} {why}"
            elif status == HTTPStatus.BAD_REQUEST:
                refused += 1
                self._refused(chunk.source, entry, why)
            else:
                message = f"the engine refused item {entry.id} ({chunk.source}, line {entry.line}): {status} {why}"
                raise CommandError(message)
        chunk.superseded += superseded
        chunk.refused += refused
        with self._lock:
            self.acknowledged += written + superseded
            self.superseded += superseded
            self.refused += refused
        return again, reason, pushed


def _too_large(entry: Entry, source: str, size: int) -> str:
    return (
        f"item {entry.id} ({source}, line {entry.line}) has {size:,} bytes, too many for one request (413): raise the "
        "limit of the proxy before the engine, or the engine's http.max_content_length, and load again"
    )


def index_lines(number: int, version: int, *document: bytes) -> bytes:
    """The two lines that put an item's document, given in pieces, into an index, unless there is a later one."""
    # `gte`, so that the same lines may be sent again
    action = b'{"index":{"_id":"%d","version":%d,"version_type":"external_gte"}}\n' % (number, version)
    return b"".join((action, *document, b"\n"))


def post(client: OpenSearch, alias: str, data: bytes, count: int) -> list[dict[str, Any]]:
    """Sends a bulk request of `count` changes through an alias that must exist; each one's result.

    Raises the client's error, and CommandError where there is not one result for each change.
    """
    answer = client.transport.perform_request(
        "POST",
        f"/{alias}/_bulk",
        params={"filter_path": FILTER_PATH, "require_alias": "true"},
        body=data,
        headers={"content-type": "application/x-ndjson"},
    )
    results = answer.get("items") if isinstance(answer, dict) else None
    if not isinstance(results, list) or len(results) != count:
        found = len(results) if isinstance(results, list) else "no list of"
        message = f"the engine answered {count} items with {found} results"
        raise CommandError(message)
    return [result for wrapped in results for result in wrapped.values()]


def reason_of(result: dict[str, Any]) -> str:
    """The engine's reason for one item of a bulk answer."""
    error = result.get("error", {})
    inner = (error.get("caused_by") or {}).get("reason")
    return f"{error.get('type')}: {error.get('reason')}" + (f" ({inner})" if inner else "")
