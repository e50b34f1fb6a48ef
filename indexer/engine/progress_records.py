"""Publishes the progress of a load or follower for `GET /v1/operations`. A failed write never stops the work.

Each has a document in the index of the locks; the API reads them all at once.
"""

import secrets
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
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


class ProgressPublisher:
    """Writes the record of one load or follower. An alias has one record of loads, and one of each follower."""

    def __init__(self, client: OpenSearch, alias: str, command: str, source: str) -> None:
        self._client = client
        self._index = locks_alias(alias)
        self._id = f"{alias}-load" if command == "load" else f"{alias}-{command}-{secrets.token_hex(8)}"
        # times are by the program's own clock
        self._record: dict[str, Any] = {
            "command": command,
            "source": source,
            "host": socket.gethostname(),
            "since": now_text(),
            "ended": False,
            "lag": None,  # messages that are not read yet
            "age": None,  # seconds from the oldest change of the last batch to its acknowledgement
            "alias": alias,
        }
        self._written_at = float("-inf")

    def write(self, *, every: float = 0.0, reasons: Mapping[str, int], **facts: Any) -> None:
        """Replaces the record, unless that was done within the last `every` seconds."""
        if time.monotonic() - self._written_at < every:
            return
        is_first = self._written_at == float("-inf")
        self._written_at = time.monotonic()
        most = sorted(reasons.items(), key=lambda reason: -reason[1])[:MAX_REASONS]
        shown = {reason[:MAX_REASON_CHARACTERS]: count for reason, count in most}  # the most frequent first
        self._record |= {"heartbeat": now_text(), "reasons": shown, **facts}
        params = {"require_alias": "true", "request_timeout": REQUEST_SECONDS}
        with suppress(OpenSearchException):
            self._client.index(index=self._index, id=self._id, body={"intake": self._record}, params=params)
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
