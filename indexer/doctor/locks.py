"""Checks what interrupted loads leave: locks, unfinished generations. Pure."""

from collections.abc import Iterator

from rich import filesize

from indexer.doctor.facts import PlatformFacts
from indexer.doctor.findings import Action, Code, Finding, Repair, fix_command, load_command


def check_lock(facts: PlatformFacts) -> Iterator[Finding]:
    """The lock as it was seen last, where its owner has crashed."""
    for lock in facts.locks[-1:]:
        if lock.is_dead(facts.older_than):
            crash = "has crashed" if lock.alive is False else "seems to have crashed"
            owned = f"the lock of {facts.alias} is held by {lock.record.description()}"
            message = f"{owned}, which {crash}: the next load takes it over"
            repair = Repair(Action.RELEASE_LOCK, facts.alias)
            yield Finding(Code.STALE_LOCK, facts.platform, facts.alias, message, fix_command(facts.platform), repair)


def check_unfinished(facts: PlatformFacts) -> Iterator[Finding]:
    """Generations whose load was interrupted: nobody who may live holds their lock."""
    platform = facts.platform
    for index in facts.unfinished:
        if not facts.is_held(index):
            message = (
                f"{index.name} ({filesize.decimal(facts.bytes_of(index))}) was never finished, and the lock under "
                "which it was filled is not held any more: its load was interrupted"
            )
            remedy = f"{load_command(platform)} --resume goes on with it, or {fix_command(platform)}"
            repair = Repair(Action.REMOVE_GENERATION, index.name)
            yield Finding(Code.UNFINISHED_LOAD, platform, index.name, message, remedy, repair)


def check_orphans(facts: PlatformFacts) -> Iterator[Finding]:
    """Indices of products without listings, but for those of a load that may be alive: it makes the products first."""
    generations = {index.name for index in facts.indices}
    for index in facts.products:
        if index.generation and index.generation.index not in generations and not facts.is_held(index):
            cause = "its load was interrupted, or they were removed by hand"
            message = f"{index.name} ({filesize.decimal(index.bytes)}) has no listings: {cause}"
            repair = Repair(Action.REMOVE_PRODUCTS, index.name)
            yield Finding(
                Code.PRODUCTS_ORPHANED, facts.platform, index.name, message, fix_command(facts.platform), repair
            )
