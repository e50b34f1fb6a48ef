"""Entries of a vocabulary that operators add: a term, a pin or a hide. They are checked, added, removed, shown,
and brought into the searches of this worker.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from api.errors import invalid
from api.http.fields import Strict
from api.log import log
from api.vocabulary.schemas import VocabularyBody
from mappings.platforms import Platform, Platforms
from mappings.timestamps import rfc3339
from mappings.vocabulary.rules import Hide, Pin, rules_of
from mappings.vocabulary.schema import VocabularyTerm
from mappings.vocabulary.vocabulary import Vocabulary
from store import vocabulary_terms
from store.connection.engine import Store
from store.records import Actor
from store.vocabulary_terms import StoredEntry

MAX_ENTRIES: Final = 1000  # at once, of all platforms
ENTRY_POLL_SECONDS: Final = 2.0  # an entry applies within 5 seconds


class _StoredPin(Strict):
    pin: Pin


class _StoredHide(Strict):
    hide: Hide


_STORED: Final[TypeAdapter[VocabularyTerm | _StoredPin | _StoredHide]] = TypeAdapter(
    VocabularyTerm | _StoredPin | _StoredHide
)


@dataclass
class Entries:
    """The entries of one platform that this version can read."""

    terms: list[VocabularyTerm] = field(default_factory=list)
    pins: list[Pin] = field(default_factory=list)
    hides: list[Hide] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.terms) + len(self.pins) + len(self.hides)

    def add(self, stored: str) -> None:
        """Adds an entry as the store has it; raises ValidationError for one of a newer version."""
        entry = _STORED.validate_json(stored)
        if isinstance(entry, VocabularyTerm):
            Vocabulary(term=(entry,))  # which demands more of a term than its own fields do
            self.terms.append(entry)
        elif isinstance(entry, _StoredPin):
            self.pins.append(entry.pin)
        else:
            self.hides.append(entry.hide)

    def apply(self, platform: Platform, vocabulary: Vocabulary | None) -> None:
        """Makes them, and no others, hold for all searches of the platform from now on; `vocabulary` has the terms."""
        platform.use_vocabulary(vocabulary)
        platform.use_rules(rules_of(self.pins, self.hides))


def entries_of(platform: Platform, rows: Iterable[StoredEntry]) -> Entries:
    """A platform's entries, without those that this version cannot read."""
    entries = Entries()
    for row in rows:
        if row.platform == platform.id:
            with suppress(ValidationError):
                entries.add(row.term)
    return entries


def stored(body: VocabularyBody) -> str:
    if body.term is not None:
        return json.dumps(body.term.term().model_dump(mode="json", exclude_defaults=True), ensure_ascii=False)
    return json.dumps(body.model_dump(mode="json", include={"pin", "hide"}, exclude_none=True), ensure_ascii=False)


async def add(store: Store, platform: Platform, body: VocabularyBody, actor: Actor) -> StoredEntry:
    """Adds an entry; raises ApiError where there are as many as there may be, and StoreUnavailable."""
    async with store.transaction() as connection:
        if len(await vocabulary_terms.read(connection)) >= MAX_ENTRIES:
            message = f"there are {MAX_ENTRIES:,} entries, which is the limit: remove some, or write terms to the "
            raise invalid("term", message + "platform's file")
        return await vocabulary_terms.add(connection, platform.id, stored(body), actor, datetime.now(UTC))


async def remove(store: Store, entry_id: str, actor: Actor) -> bool:
    """Removes an entry; False where none of this id applies."""
    async with store.transaction() as connection:
        return await vocabulary_terms.remove(connection, entry_id, actor, datetime.now(UTC))


async def read(store: Store, platform: Platform | None = None, *, removed: bool = False) -> Sequence[StoredEntry]:
    """The entries of a platform or of all, those added first before; with `removed` the removed ones too."""
    async with store.reading() as connection:
        rows = await vocabulary_terms.read(connection, removed=removed)
    return [row for row in rows if platform is None or row.platform == platform.id]


def described(row: StoredEntry) -> dict[str, Any]:
    """An entry as JSON; one of a newer version has neither term nor pin nor hide."""
    entries = Entries()
    with suppress(ValidationError):
        entries.add(row.term)
    return {
        "id": row.id,
        "platform": row.platform,
        "term": next((_term(term) for term in entries.terms), None),
        "pin": next((pin.model_dump(mode="json") for pin in entries.pins), None),
        "hide": next((hide.model_dump(mode="json") for hide in entries.hides), None),
        "author": row.author,
        "createdAt": rfc3339(row.created_at),
        "removedAt": None if row.removed_at is None else rfc3339(row.removed_at),
    }


def _term(term: VocabularyTerm) -> dict[str, Any]:
    return term.model_dump(mode="json", include={"spellings", "words", "filters"})


def copy_with(platforms: Platforms, platform: Platform, rows: Sequence[StoredEntry], more: str | None) -> Platforms:
    """The platforms, of which this one has these entries, and one more; searches of others do not notice."""
    entries = entries_of(platform, rows)
    if more is not None:
        entries.add(more)
    changed = platform.model_copy()
    entries.apply(changed, changed.vocabulary_with(entries.terms))
    return Platforms([changed if each.id == platform.id else each for each in platforms])


class EntryPoller:
    """Polls the entries of the store; `on_change` is called before the first search with others."""

    def __init__(self, store: Store, platforms: Platforms, on_change: Callable[[], None]) -> None:
        self._store = store
        self._platforms = platforms
        self._on_change = on_change
        self._added: Sequence[StoredEntry] = []
        self._was_read = asyncio.Event()

    async def until_read(self) -> None:
        """Waits until they were read once, but no longer than they are tried again."""
        with suppress(TimeoutError):
            async with asyncio.timeout(ENTRY_POLL_SECONDS):
                await self._was_read.wait()

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
        self._was_read.set()
        return ENTRY_POLL_SECONDS


async def read_entries(store: Store, platforms: Platforms) -> None:
    """Makes the added entries part of the platforms' vocabularies, once; raises StoreUnavailable."""
    async with store.reading() as connection:
        added = await vocabulary_terms.read(connection)
    await _use(platforms, added)


async def _use(platforms: Platforms, added: Sequence[StoredEntry]) -> int:
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
