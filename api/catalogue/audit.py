"""The audit of writes: one entry a minute for each token and platform that wrote, with what it has changed.

An entry for each request would be more rows than items: these are never deleted.
"""

from collections import Counter
from datetime import UTC, datetime
from typing import Any, Final

from store import audit
from store.auth.tokens import Token
from store.connection.engine import Store
from store.records import Actor

RECORD_SECONDS: Final = 60.0
ACTION: Final = "catalogue.change"


class WriteAudit:
    """Counts writes until they are recorded."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._counts: dict[tuple[Actor, str], Counter[str]] = {}

    def add(self, token: Token, platform: str, verb: str, answer: dict[str, Any]) -> None:
        """Counts a write; `verb` is `put` or `delete`."""
        counts = self._counts.setdefault((token.actor, platform), Counter())
        refused = len(answer["refused"])
        counts.update({verb: answer["written"], "superseded": answer["superseded"], "refused": refused, "requests": 1})

    async def record(self) -> float:
        """Writes the entries; returns the seconds until the next time. Raises StoreUnavailable, and keeps them then."""
        counts, self._counts = self._counts, {}
        if counts:
            try:
                async with self._store.transaction() as connection:
                    for (actor, platform), details in counts.items():
                        await audit.record(connection, actor, ACTION, platform, datetime.now(UTC), details)
            except BaseException:
                for key, details in counts.items():
                    self._counts.setdefault(key, Counter()).update(details)
                raise
        return RECORD_SECONDS
