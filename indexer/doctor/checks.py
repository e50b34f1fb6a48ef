"""Checks a platform's alias and generations against the definition. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from indexer.doctor import indices
from indexer.doctor.facts import IndexFacts
from indexer.doctor.findings import (
    Code,
    Finding,
    RemoveEmptyIndex,
    Serve,
    Severity,
    curl,
    fix_command,
    load_command,
    readable_bytes,
)
from indexer.doctor.locks import LockFacts, check_lock, check_stray_tombstones, check_unfinished
from indexer.engine.states import is_unfinished, loading_alias
from mappings.definition import Definition


@dataclass(frozen=True)
class PlatformFacts:
    """One platform's indices, and what they are measured by."""

    platform: int
    alias: str
    definition: Definition
    indices: tuple[IndexFacts, ...]
    data_nodes: int = 1
    locks: tuple[LockFacts, ...] = ()  # as seen before and after everything else; the last is that of now
    stray_tombstones: tuple[str, ...] = ()  # generations that are not being filled, and yet have deletes beside them
    room: bool = False  # every disk is known to be below the low watermark

    @property
    def serving(self) -> list[IndexFacts]:
        """The indices behind the alias."""
        return [index for index in self.indices if self.alias in index.aliases]

    @property
    def unfinished(self) -> list[IndexFacts]:
        """Generations of loads that run or have died: named so by their alias, or left set up for filling."""
        return [
            index for index in self.indices if index.generation and index not in self.serving and _is_unfinished(index)
        ]

    @property
    def finished(self) -> list[IndexFacts]:
        """Generations that may serve, oldest first."""
        return [
            index for index in self.indices if index.generation and not index.closed and index not in self.unfinished
        ]

    @property
    def comparable(self) -> IndexFacts | None:
        """The one index that can be compared with the orders."""
        ours = [index for index in self.serving if index.generation is not None and not index.closed]
        return ours[0] if len(ours) == len(self.serving) == 1 else None


def _is_unfinished(index: IndexFacts) -> bool:
    return is_unfinished(loading_alias(index.name) in index.aliases, index.settings)


def check_platform(facts: PlatformFacts, *, older_than: float, keep: int) -> list[Finding]:
    """All that can be said without the orders; what a later repair needs is first."""
    findings = [*_alias(facts), *_foreign(facts)]
    for index in facts.serving:
        if index.closed:
            findings.append(_closed(facts, index))
        elif index.generation is not None:
            findings += indices.check_index(
                facts.platform, index, facts.definition, data_nodes=facts.data_nodes, room=facts.room
            )
    platform, locks = facts.platform, facts.locks
    return [
        *findings,
        *check_lock(platform, facts.alias, locks, older_than),
        *check_unfinished(platform, facts.unfinished, locks, older_than),
        *check_stray_tombstones(platform, facts.stray_tombstones, locks, older_than),
        *_too_many(facts, keep),
    ]


def _alias(facts: PlatformFacts) -> list[Finding]:
    named = [index for index in facts.indices if index.name == facts.alias]
    if named:
        return [_alias_is_index(facts, named[0])]
    ours = [index for index in facts.serving if index.generation is not None]
    if len(ours) > 1:
        return [_alias_several(facts, ours)]
    return [] if facts.serving or not facts.finished else [_alias_missing(facts)]


def _alias_is_index(facts: PlatformFacts, index: IndexFacts) -> Finding:
    empty = index.items == 0
    remove = curl("DELETE", facts.alias)
    return Finding(
        code=Code.ALIAS_IS_INDEX,
        severity=Severity.ERROR,
        platform=facts.platform,
        subject=facts.alias,
        message=f"an index is named {facts.alias}, which must be an alias: something wrote before the first load "
        f"({index.items:,} documents are in it), and no load can be swapped in",
        remedy=fix_command(facts.platform) if empty else f"{remove}, then {load_command(facts.platform)}",
        repair=RemoveEmptyIndex(facts.alias) if empty else None,
    )


def _alias_several(facts: PlatformFacts, ours: list[IndexFacts]) -> Finding:
    best, why = preferred(facts.definition, ours)
    names = ", ".join(index.name for index in ours)
    return Finding(
        code=Code.ALIAS_SEVERAL,
        severity=Severity.ERROR,
        platform=facts.platform,
        subject=facts.alias,
        message=f"the alias {facts.alias} points to {len(ours)} indices ({names}): items "
        f"are found twice and sold ones are not hidden; {best.name} should serve alone: {why}",
        remedy=f"gear-indexer rollback --platform {facts.platform} --to {best.name}",
        repair=Serve(best.name),
    )


def _alias_missing(facts: PlatformFacts) -> Finding:
    best, why = preferred(facts.definition, facts.finished)
    return Finding(
        code=Code.ALIAS_MISSING,
        severity=Severity.ERROR,
        platform=facts.platform,
        subject=facts.alias,
        message=f"nothing serves behind {facts.alias} although {len(facts.finished)} finished generations exist; "
        f"{best.name} should: {why}",
        remedy=f"gear-indexer rollback --platform {facts.platform} --to {best.name}",
        repair=Serve(best.name),
    )


def preferred(definition: Definition, candidates: Sequence[IndexFacts]) -> tuple[IndexFacts, str]:
    """Which of these, oldest first, should serve, and why."""
    equal = [
        index for index in candidates if index.mappings.get("_meta", {}).get("fingerprint") == definition.fingerprint
    ]
    if equal:
        return equal[-1], f"it is the newest with this version's definition ({definition.fingerprint})"
    return candidates[-1], "it is the newest, and none has this version's definition"


def _closed(facts: PlatformFacts, index: IndexFacts) -> Finding:
    return Finding(
        code=Code.CLOSED,
        severity=Severity.ERROR,
        platform=facts.platform,
        subject=index.name,
        message=f"{index.name} serves behind {facts.alias} and is closed, so that every search fails",
        remedy=curl("POST", f"{index.name}/_open"),
    )


def _foreign(facts: PlatformFacts) -> list[Finding]:
    return [
        Finding(
            code=Code.ALIAS_FOREIGN,
            severity=Severity.ERROR,
            platform=facts.platform,
            subject=index.name,
            message=f"the alias {facts.alias} points to {index.name}, which no load has made",
            remedy=curl("DELETE", f"{index.name}/_alias/{facts.alias}"),
        )
        for index in facts.serving
        if index.generation is None and index.name != facts.alias
    ]


def _too_many(facts: PlatformFacts, keep: int) -> list[Finding]:
    finished = facts.finished
    if len(finished) <= keep:
        return []
    others = [index for index in reversed(finished) if index not in facts.serving]  # newest first, as prune keeps them
    spare = others[max(keep - (len(finished) - len(others)), 0) :]
    return [
        Finding(
            code=Code.TOO_MANY_GENERATIONS,
            severity=Severity.WARNING,
            platform=facts.platform,
            subject=facts.alias,
            message=f"{len(finished)} finished generations are kept, {keep} are meant to be; "
            f"the others take {readable_bytes(sum(index.bytes for index in spare))}",
            remedy=f"gear-indexer prune --platform {facts.platform} --keep {keep}",
        )
    ]
