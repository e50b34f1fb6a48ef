"""Checks what interrupted loads leave: locks, unfinished generations. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich import filesize

from indexer.doctor.facts import IndexFacts
from indexer.doctor.findings import Action, Code, Finding, Repair, fix_command, load_command

if TYPE_CHECKING:
    from indexer.locking.record import LockRecord


@dataclass(frozen=True)
class LockFacts:
    """A lock, and whether its owner lives; None where that cannot be told from here."""

    record: "LockRecord"
    alive: bool | None

    def is_dead(self, older_than: float) -> bool:
        """Whether its owner is dead, or was not heard of for so many seconds by this machine's clock.

        Clocks may differ, so the second is a guess; no repair relies on it, each takes the lock as every command does.
        """
        return self.alive is False or (self.alive is None and self.record.age() >= older_than)


def check_lock(platform: int, alias: str, locks: Sequence[LockFacts], older_than: float) -> Iterator[Finding]:
    """The lock as it was seen last, where its owner has crashed."""
    for lock in locks[-1:]:
        if lock.is_dead(older_than):
            crash = "has crashed" if lock.alive is False else "seems to have crashed"
            owned = f"the lock of {alias} is held by {lock.record.description()}"
            message = f"{owned}, which {crash}: the next load takes it over"
            repair = Repair(Action.RELEASE_LOCK, alias)
            yield Finding(Code.STALE_LOCK, platform, alias, message, fix_command(platform), repair)


def check_unfinished(
    platform: int, unfinished: Sequence[tuple[IndexFacts, int]], locks: Sequence[LockFacts], older_than: float
) -> Iterator[Finding]:
    """Generations, with their sizes, whose load was interrupted: nobody who may live holds their lock."""
    for index, size in unfinished:
        if not _is_held(index, locks, older_than):
            message = (
                f"{index.name} ({filesize.decimal(size)}) was never finished, and the lock under which it was filled "
                "is not held any more: its load was interrupted"
            )
            remedy = f"{load_command(platform)} --resume goes on with it, or {fix_command(platform)}"
            repair = Repair(Action.REMOVE_GENERATION, index.name)
            yield Finding(Code.UNFINISHED_LOAD, platform, index.name, message, remedy, repair)


def check_orphans(
    platform: int, orphans: Sequence[IndexFacts], locks: Sequence[LockFacts], older_than: float
) -> Iterator[Finding]:
    """Indices of products without listings, but for those of a load that may be alive: it makes the products first."""
    for index in orphans:
        if not _is_held(index, locks, older_than):
            cause = "its load was interrupted, or they were removed by hand"
            message = f"{index.name} ({filesize.decimal(index.bytes)}) has no listings: {cause}"
            repair = Repair(Action.REMOVE_PRODUCTS, index.name)
            yield Finding(Code.PRODUCTS_ORPHANED, platform, index.name, message, fix_command(platform), repair)


def _is_held(index: IndexFacts, locks: Sequence[LockFacts], older_than: float) -> bool:
    """Whether one who may live holds the lock under which an index was made."""
    owner = index.meta.get("owner")
    return any(lock.record.owner.id == owner and not lock.is_dead(older_than) for lock in locks)
