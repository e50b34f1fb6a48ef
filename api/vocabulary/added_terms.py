"""Brings the entries that operators have added to the vocabulary into the searches of this worker."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from api.log import log
from api.vocabulary.entries import entries_of
from mappings.platforms import Platforms
from store import vocabulary_terms
from store.connection.engine import Store
from store.vocabulary_terms import AddedTerm

READ_SECONDS: Final = 2.0  # an entry applies within 5 seconds


class AddedTerms:
    """The entries as this worker has read them last; `on_change` is called before the first search with others."""

    def __init__(self, store: Store, platforms: Platforms, on_change: Callable[[], None]) -> None:
        self._store = store
        self._platforms = platforms
        self._on_change = on_change
        self._added: Sequence[AddedTerm] = []

    async def read(self) -> float:
        """Reads them once; returns the seconds until the next time. Raises StoreUnavailable.

        While the store is away, the entries stay as they were.
        """
        async with self._store.reading() as connection:
            added = await vocabulary_terms.read(connection)
        if added != self._added:
            count = await _use(self._platforms, added)
            self._on_change()
            self._added = added
            log.info("the vocabulary has changed", entries=count, left_out=len(added) - count)
        return READ_SECONDS


async def read_terms(store: Store, platforms: Platforms) -> None:
    """Makes the added entries part of the platforms' vocabularies, once; raises StoreUnavailable."""
    async with store.reading() as connection:
        added = await vocabulary_terms.read(connection)
    await _use(platforms, added)


async def _use(platforms: Platforms, added: Sequence[AddedTerm]) -> int:
    """Makes those that this version can read hold for the platforms, all at once; returns how many there are. The
    vocabularies with them are made beside searches.
    """
    extended = []
    for platform in platforms:
        entries = entries_of(platform, added)
        extended.append((platform, entries, await asyncio.to_thread(platform.vocabulary_with, entries.terms)))
    for platform, entries, vocabulary in extended:
        entries.apply(platform, vocabulary)
    return sum(len(entries) for _, entries, _ in extended)
