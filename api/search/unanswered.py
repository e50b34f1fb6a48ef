"""Counts texts that found nothing, or only when read more loosely: operators add the words that are missing.

A search counts in memory alone; a background worker adds the counts to the store. Who searched is not noted, and a text
that may name a person is left out.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from api.search.parsing.parse import Relaxation
from mappings.folding import fold
from store import unanswered_searches
from store.connection.engine import Store
from store.connection.errors import StoreError
from store.unanswered_searches import SearchedText, UnansweredSearch

FLUSH_SECONDS: Final = 10.0
MAX_BUFFERED: Final = 1000  # texts
MAX_CHARACTERS: Final = 80
NOTHING: Final = "none"
READINGS: Final = (
    NOTHING,
    Relaxation.PARTIAL,
    Relaxation.TYPOS,
    Relaxation.ALL_TYPOS,
    Relaxation.FIRST_LETTERS,
    Relaxation.SIMILAR_NAMES,
)
"""What counts: nothing was found, words were left out, or other words were taken for them."""

# an address of mail, a link, or a number as long as those of telephones, cards and accounts
_PERSONAL: Final = re.compile(r"\S@\S|://|\bwww\.|(?:\d[\s./()-]*){7}")


@dataclass
class TextOutcome:
    """How the text of one search was read; `count` is called for each response that is given, cached ones too."""

    searches: "UnansweredSearches"
    platforms: Sequence[int]
    text: str
    reading: str = ""

    def set(self, relaxation: Relaxation | None) -> None:
        """Notes the relaxation that finds something; None: nothing does."""
        self.reading = NOTHING if relaxation is None else relaxation

    def count(self) -> None:
        """Counts the search if its text was not answered."""
        if self.reading in READINGS:
            self.searches.add(self.platforms, self.text, self.reading)


class UnansweredSearches:
    """The counts of this worker that are not in the store yet, bounded: what does not fit is dropped and counted."""

    def __init__(
        self,
        store: Store,
        count: Callable[[str], None],
        count_dropped: Callable[[str, int], None],
    ) -> None:
        self._store = store
        self._count = count
        self._count_dropped = count_dropped
        self._counts: Counter[SearchedText] = Counter()

    def add(self, platforms: Sequence[int], text: str, reading: str) -> None:
        """Counts a search, by each of its platforms."""
        self._count(reading)
        folded = fold(text)
        problem = "long" if len(folded) > MAX_CHARACTERS else "personal" if _PERSONAL.search(folded) else ""
        for platform in platforms:
            searched = SearchedText(platform, folded, reading)
            if problem or (searched not in self._counts and len(self._counts) >= MAX_BUFFERED):
                self._count_dropped(problem or "full", 1)
            else:
                self._counts[searched] += 1

    async def flush(self) -> float:
        """Adds the counts to the store; returns the seconds until the next time. Raises StoreError.

        Where the store fails, the counts are dropped: they are not worth the memory of an outage.
        """
        counts, self._counts = self._counts, Counter()
        if counts:
            try:
                async with self._store.transaction() as connection:
                    dropped = await unanswered_searches.add(connection, datetime.now(UTC).date(), counts)
            except StoreError:
                self._count_dropped("store", counts.total())
                raise
            if dropped:
                self._count_dropped("full", dropped)
        return FLUSH_SECONDS


def first_day(days: int) -> date:
    """The first of so many days, today included."""
    return (datetime.now(UTC) - timedelta(days=days - 1)).date()


def unanswered_entry(search: UnansweredSearch) -> dict[str, Any]:
    return {
        "platform": search.platform,
        "text": search.text,
        "reading": search.reading,
        "count": search.count,
        "firstDay": search.first_day.isoformat(),
        "lastDay": search.last_day.isoformat(),
    }
