"""What a load is asked to do, and how it shows its progress."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from indexer.engine.throttle import MAX_BYTES_IN_FLIGHT
from indexer.locking.lock import EXPIRY
from indexer.sources.mapping import Mapper
from indexer.sources.source import shown_name
from mappings.platforms import Platform


class Progress(Protocol):
    """Shows a person how far a load is."""

    def show(self, position: int, items: int) -> None:
        """So many bytes and items of all sources are read."""

    def say(self, text: str) -> None:
        """Shows one line."""


@dataclass(frozen=True, kw_only=True)
class LoadJob:
    """What is to be loaded, and how much trouble is tolerated."""

    files: tuple[str, ...]
    platform: Platform
    rejects: Path | None = None  # None: `<index>.rejects.ndjson` in the working directory
    max_rejects: float = 1.0  # percent of what was read
    min_share: float = 50.0  # percent of the items that serve now
    max_price_change: float = 50.0  # percent of the items that serve and are to serve
    allow_empty: bool = False
    keep: int = 2  # generations in all, the serving one included
    concurrency: int = 2  # bulk requests at once
    chunk_items: int = 10_000  # items a bulk request, at most
    max_bytes_in_flight: int = MAX_BYTES_IN_FLIGHT
    retry_timeout: float = 300.0  # seconds without progress
    resume: bool = False  # go on with what an interrupted load has left
    size: int | None = None  # bytes of all files, None where one does not tell
    lock_expiry: float = EXPIRY  # seconds after which others may take a crashed load's lock over
    digest_key: bytes = field(default=b"", repr=False)  # signs what is loaded (GEAR_DIGEST_KEY)
    mapper: Mapper | None = None  # None: the sources have items in our shape

    @property
    def shown_files(self) -> tuple[str, ...]:
        return tuple(shown_name(name) for name in self.files)
