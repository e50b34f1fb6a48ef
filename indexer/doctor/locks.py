"""Checks what interrupted loads leave: locks, unfinished generations, records of deletes. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexer.doctor.facts import IndexFacts
from indexer.doctor.findings import (
    Code,
    Finding,
    ReleaseLock,
    RemoveGeneration,
    RemoveTombstones,
    Severity,
    fix_command,
    readable_bytes,
)
from indexer.engine.states import tombstones_index

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


def check_lock(platform: int, alias: str, locks: Sequence[LockFacts], older_than: float) -> list[Finding]:
    """The lock as it was seen last, where its owner is dead."""
    return [
        Finding(
            code=Code.STALE_LOCK,
            severity=Severity.WARNING,
            platform=platform,
            subject=alias,
            message=f"the lock of {alias} is held by {lock.record.description()}, which "
            + ("has died" if lock.alive is False else "seems to have died")
            + ": the next load takes it over",
            remedy=fix_command(platform),
            repair=ReleaseLock(alias),
        )
        for lock in locks[-1:]
        if lock.is_dead(older_than)
    ]


def check_unfinished(
    platform: int, unfinished: Sequence[IndexFacts], locks: Sequence[LockFacts], older_than: float
) -> list[Finding]:
    """Generations whose load has died: nobody who may live holds their lock.

    What a version without locks has begun counts as dead when nothing was written to it for `older_than` seconds.
    """
    found = []
    for one in unfinished:
        owner = one.mappings.get("_meta", {}).get("owner")
        if owner is not None:
            if any(lock.record.owner.id == owner and not lock.is_dead(older_than) for lock in locks):
                continue
            why = "the lock under which it was filled is not held any more: its load has died"
            goes_on = f"gear-indexer load FILE... --platform {platform} --resume goes on with it, or "
        elif one.idle_seconds is None or one.idle_seconds < older_than:
            continue
        else:
            goes_on = ""
            why = f"nothing has written to it for at least {one.idle_seconds / 60:,.0f} minutes: its load has died"
        found.append(
            Finding(
                code=Code.UNFINISHED_LOAD,
                severity=Severity.WARNING,
                platform=platform,
                subject=one.name,
                message=f"{one.name} ({readable_bytes(one.bytes)}) was never finished, and {why}",
                remedy=f"{goes_on}{fix_command(platform)}",
                repair=RemoveGeneration(one.name),
            )
        )
    return found


def check_stray_tombstones(
    platform: int, stray: Sequence[str], locks: Sequence[LockFacts], older_than: float
) -> list[Finding]:
    """Records of deletes beside generations that are not being filled, but for one that a load just begins with."""
    begun = {lock.record.index for lock in locks if not lock.is_dead(older_than)}
    return [
        Finding(
            code=Code.STRAY_TOMBSTONES,
            severity=Severity.WARNING,
            platform=platform,
            subject=tombstones_index(index),
            message=f"{tombstones_index(index)} has the deletes that were made while {index} was filled, "
            "which has ended: its load died before it removed them",
            remedy=fix_command(platform),
            repair=RemoveTombstones(index),
        )
        for index in stray
        if index not in begun
    ]
