"""Brings the terms that operators have added to the vocabulary into the searches of this worker."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import structlog
from pydantic import ValidationError

from mappings.platforms import Platform, Platforms
from mappings.vocabulary.entries import Term
from store import vocabulary_terms
from store.connection.engine import Store
from store.vocabulary_terms import AddedTerm

READ_SECONDS: Final = 2.0  # a term applies within 5 seconds

log = structlog.get_logger("gear.api")


class AddedTerms:
    """The added terms as this worker has read them last; `on_change` is called before the first search with others."""

    def __init__(self, store: Store, platforms: Platforms, on_change: Callable[[], None]) -> None:
        self._store = store
        self._platforms = platforms
        self._on_change = on_change
        self._read: dict[int, tuple[str, ...]] = {}

    async def read(self) -> float:
        """Reads them once; returns the seconds until the next time. Raises StoreUnavailable.

        While the store is away, the terms stay as they were.
        """
        async with self._store.reading() as connection:
            added = await vocabulary_terms.read(connection)
        for platform in self._platforms:
            texts = tuple(each.term for each in added if each.platform == platform.id)
            if texts == self._read.get(platform.id, ()):
                continue
            terms = terms_of(platform, added)
            platform.use_language(platform.extended(terms))
            self._on_change()
            self._read[platform.id] = texts
            unreadable = len(texts) - len(terms)
            log.info("the vocabulary has changed", platform=platform.slug, added=len(terms), unreadable=unreadable)
        return READ_SECONDS


async def read_terms(store: Store, platforms: Platforms) -> None:
    """Makes the added terms part of the platforms' vocabularies, once; raises StoreUnavailable."""
    async with store.reading() as connection:
        added = await vocabulary_terms.read(connection)
    for platform in platforms:
        if terms := terms_of(platform, added):
            platform.use_language(platform.extended(terms))


def terms_of(platform: Platform, added: Sequence[AddedTerm]) -> list[Term]:
    """A platform's terms, without those that this version cannot read."""
    terms = []
    for each in added:
        if each.platform == platform.id:
            with suppress(ValidationError):
                terms.append(Term.model_validate_json(each.term))
    return terms
