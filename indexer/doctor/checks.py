"""Checks a platform's alias and generations against the definition. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexer.doctor.facts import IndexFacts
from indexer.doctor.findings import (
    Action,
    Code,
    Finding,
    Repair,
    curl,
    fix_command,
    load_command,
    readable_bytes,
)
from indexer.doctor.indices import check_index
from indexer.doctor.locks import LockFacts, check_lock, check_unfinished
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


def check_platform(facts: PlatformFacts, *, older_than: float, keep: int) -> Iterator[Finding]:
    """All that can be said without the orders; what a later repair needs is first."""
    yield from _alias(facts)
    yield from _foreign(facts)
    for index in facts.serving:
        if index.closed:
            yield Finding(
                Code.CLOSED,
                facts.platform,
                index.name,
                f"{index.name} serves behind {facts.alias} and is closed, so that every search fails",
                curl("POST", f"{index.name}/_open"),
            )
        elif index.generation is not None:
            yield from check_index(
                facts.platform, index, facts.definition, data_nodes=facts.data_nodes, room=facts.room
            )
    yield from check_lock(facts.platform, facts.alias, facts.locks, older_than)
    yield from check_unfinished(facts.platform, facts.unfinished, facts.locks, older_than)
    yield from _too_many(facts, keep)


def _alias(facts: PlatformFacts) -> Iterator[Finding]:
    alias, platform = facts.alias, facts.platform
    named = [index for index in facts.indices if index.name == alias]
    ours = [index for index in facts.serving if index.generation is not None]
    if named:
        remove = curl("DELETE", alias)
        empty = named[0].items == 0
        yield Finding(
            Code.ALIAS_IS_INDEX,
            platform,
            alias,
            f"an index is named {alias}, which must be an alias: something wrote before the first load "
            f"({named[0].items:,} documents are in it), and no load can be swapped in",
            fix_command(platform) if empty else f"{remove}, then {load_command(platform)}",
            Repair(Action.REMOVE_EMPTY_INDEX, alias) if empty else None,
        )
    elif len(ours) > 1:
        names = ", ".join(index.name for index in ours)
        fault = f"the alias {alias} points to {len(ours)} indices ({names}): items are found twice and sold ones are "
        yield _to_serve(facts, Code.ALIAS_SEVERAL, ours, f"{fault}not hidden; {{}} should serve alone: {{}}")
    elif facts.finished and not facts.serving:
        fault = f"nothing serves behind {alias} although {len(facts.finished)} finished generations exist; "
        yield _to_serve(facts, Code.ALIAS_MISSING, facts.finished, f"{fault}{{}} should: {{}}")


def _to_serve(facts: PlatformFacts, code: Code, candidates: Sequence[IndexFacts], message: str) -> Finding:
    """The finding that another generation should serve; `message` has places for its name and the reason."""
    best, why = preferred(facts.definition, candidates)
    return Finding(
        code,
        facts.platform,
        facts.alias,
        message.format(best.name, why),
        f"gear-indexer rollback --platform {facts.platform} --to {best.name}",
        Repair(Action.SERVE, best.name),
    )


def preferred(definition: Definition, candidates: Sequence[IndexFacts]) -> tuple[IndexFacts, str]:
    """Which of these, oldest first, should serve, and why."""
    equal = [
        index for index in candidates if index.mappings.get("_meta", {}).get("fingerprint") == definition.fingerprint
    ]
    if equal:
        return equal[-1], f"it is the newest with this version's definition ({definition.fingerprint})"
    return candidates[-1], "it is the newest, and none has this version's definition"


def _foreign(facts: PlatformFacts) -> Iterator[Finding]:
    for index in facts.serving:
        if index.generation is None and index.name != facts.alias:
            yield Finding(
                Code.ALIAS_FOREIGN,
                facts.platform,
                index.name,
                f"the alias {facts.alias} points to {index.name}, which no load has made",
                curl("DELETE", f"{index.name}/_alias/{facts.alias}"),
            )


def _too_many(facts: PlatformFacts, keep: int) -> Iterator[Finding]:
    finished = facts.finished
    others = [index for index in reversed(finished) if index not in facts.serving]  # newest first, as prune keeps them
    spare = others[max(keep - (len(finished) - len(others)), 0) :]
    if len(finished) > keep:
        yield Finding(
            Code.TOO_MANY_GENERATIONS,
            facts.platform,
            facts.alias,
            f"{len(finished)} finished generations are kept, {keep} are meant to be; "
            f"the others take {readable_bytes(sum(index.bytes for index in spare))}",
            f"gear-indexer prune --platform {facts.platform} --keep {keep}",
        )
