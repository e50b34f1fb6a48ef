"""Publishes the progress of a load or follower for `GET /v1/operations`. A failed write never stops the work.

Each has a document in the index of the locks; the API reads them all at once.
"""

import secrets
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException

from indexer.engine.hidden_index import now_text
from indexer.engine.scan import send_search
from mappings.names import locks_alias

FOLLOW_SECONDS = 5.0  # between two writes of a follower
REQUEST_SECONDS = 5.0
KEEP = timedelta(days=7)  # a follower that was not heard of for so long is forgotten
MAX_REASONS = 20
MAX_REASON_CHARACTERS = 200
MAX_RECORDS = 1000


@dataclass(frozen=True, kw_only=True)
class ProgressRecord:
    """The progress as it is written; times are by the program's own clock."""

    command: str  # `load` or `follow`
    source: str
    host: str
    since: str  # RFC 3339, UTC
    heartbeat: str
    ended: bool = False
    read: int = 0
    rejected: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)  # the most frequent first
    lag: int | None = None  # messages that are not read yet
    age: float | None = None  # seconds from the oldest change of the last batch to its acknowledgement


class ProgressPublisher:
    """Writes the record of one load or follower. An alias has one record of loads, and one of each follower."""

    def __init__(self, client: OpenSearch, alias: str, command: str, source: str) -> None:
        now = now_text()
        self._client = client
        self._alias = alias
        self._index = locks_alias(alias)
        self._id = f"{alias}-load" if command == "load" else f"{alias}-{command}-{secrets.token_hex(8)}"
        self._record = ProgressRecord(
            command=command, source=source, host=socket.gethostname(), since=now, heartbeat=now
        )
        self._written_at = float("-inf")

    def write(self, *, every: float = 0.0, reasons: Mapping[str, int], **facts: Any) -> None:
        """Replaces the record, unless that was done within the last `every` seconds."""
        if time.monotonic() - self._written_at < every:
            return
        is_first = self._written_at == float("-inf")
        self._written_at = time.monotonic()
        most = sorted(reasons.items(), key=lambda reason: -reason[1])[:MAX_REASONS]
        shown = {reason[:MAX_REASON_CHARACTERS]: count for reason, count in most}
        self._record = replace(self._record, heartbeat=now_text(), reasons=shown, **facts)
        params = {"require_alias": "true", "request_timeout": REQUEST_SECONDS}
        with suppress(OpenSearchException):
            body = {"intake": {**asdict(self._record), "alias": self._alias}}
            self._client.index(index=self._index, id=self._id, body=body, params=params)
            if is_first:
                self._forget_old()

    def _forget_old(self) -> None:
        params = {"request_timeout": REQUEST_SECONDS}
        hits = send_search(self._client, self._index, {"size": MAX_RECORDS}, params)["hits"]["hits"]
        before = datetime.now(UTC) - KEEP
        for hit in hits:
            record = hit["_source"].get("intake")
            if record and record["command"] == "follow" and datetime.fromisoformat(record["heartbeat"]) < before:
                self._client.delete(index=hit["_index"], id=hit["_id"], params=params)
