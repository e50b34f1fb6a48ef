"""Live indices: makes a batch of changes in every index that serves or is being loaded behind one alias."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from opensearchpy import OpenSearch

from indexer.documents.digest import encode_document
from indexer.engine.bulk import (
    REQUIRE_ALIAS,
    AliasGoneError,
    BulkSender,
    Outcome,
    delete_line,
    index_lines,
    outcome_of,
    reason_of,
)
from indexer.engine.generations import Generations
from indexer.engine.retry import RetryPolicy
from indexer.engine.states import IndexState, loading_alias, tombstones_index
from indexer.errors import CommandError
from mappings.definition import Definition


class Change(NamedTuple):
    """An item's new document, or None where it is deleted."""

    id: int
    document: dict[str, Any] | None


@dataclass(frozen=True)
class Target:
    """An index and the alias that it is written through, so that no late change makes an index."""

    index: str
    alias: str
    since: int | None  # it takes no changes older than this: its load's source is newer
    tombstones: str | None  # the alias of the index beside it that records deletes
    fields: frozenset[str] | None  # those that its definition has, where that is an older one


Results = dict[int, tuple[Outcome, str]]  # by id; the engine's reason where it refused


class LiveIndices:
    """The index that serves and those that are being loaded, behind one alias."""

    def __init__(
        self,
        client: OpenSearch,
        generations: Generations,
        definition: Definition,
        retry: RetryPolicy,
        digest_key: bytes = b"",
    ) -> None:
        self._client = client
        self._generations = generations
        self._definition = definition
        self._retry = retry
        self._digest_key = digest_key
        self._sender = BulkSender(client, retry)

    def targets(self) -> list[Target]:
        """Every index that changes go to, the serving one last; raises CommandError where there is none."""
        states = [state for state in self._generations.all() if state.serving or state.loading]
        alias = self._generations.alias
        if not any(state.serving for state in states):
            message = f"nothing is loaded behind {alias}: gear-indexer load FILE... first, changes come after that"
            raise CommandError(message)
        for state in states:
            if state.fingerprint not in (self._definition.fingerprint, *self._definition.reads):
                message = (
                    f"{state.index} was made with another definition than this version's ({state.fingerprint}): "
                    "change it with the version that loaded it, or load again; `gear-indexer prune` removes what a "
                    "dead load left"
                )
                raise CommandError(message)
        loading = [self._loading_target(state) for state in states if not state.serving]
        serving = [Target(state.index, alias, None, None, self._fields(state)) for state in states if state.serving]
        return [*loading, *serving]

    def _loading_target(self, state: IndexState) -> Target:
        tombstones = loading_alias(tombstones_index(state.index)) if state.has_tombstones else None
        return Target(state.index, loading_alias(state.index), state.version, tombstones, self._fields(state))

    def _fields(self, state: IndexState) -> frozenset[str] | None:
        current = state.fingerprint == self._definition.fingerprint
        return None if current else self._generations.fields(state.index)

    def send(self, changes: list[Change], version: int) -> tuple[list[str], Results]:
        """Makes the changes in every index, as of `version`; their names, and what the serving one made of each.

        May be repeated: a change that is there already is written again as it is. Where a load ends meanwhile, its
        index serves or is gone, so the indices are looked up again and all is sent again.
        """
        backoff = self._retry.backoff()
        while True:
            targets = [target for target in self.targets() if target.since is None or target.since <= version]
            refused: Results = {}
            try:
                for target in targets:
                    self._record(target, changes, version)
                    results = self._change(target, changes, version)
                    refused |= {number: outcome for number, outcome in results.items() if outcome[0] is Outcome.REFUSED}
            except AliasGoneError as error:
                backoff.wait(str(error))
                continue
            return [target.index for target in targets], {**results, **refused}

    def _record(self, target: Target, changes: list[Change], version: int) -> None:
        """Writes the tombstones beside an index that is being loaded, before the deletes are done in it."""
        deleted = [change for change in changes if change.document is None]
        if target.tombstones is None or not deleted:
            return

        def lines(change: Change) -> bytes:
            return index_lines(change.id, version, b'{"id":%d,"version":%d}' % (change.id, version))

        for change, result in self._sender.send(target.tombstones, deleted, lines):
            if outcome_of(result) is Outcome.REFUSED:
                message = f"the delete of item {change.id} could not be recorded: {reason_of(result)}"
                raise CommandError(message)

    def _change(self, target: Target, changes: list[Change], version: int) -> Results:
        def lines(change: Change) -> bytes:
            if change.document is None:
                return delete_line(change.id, version)
            document = change.document
            if target.fields is not None:
                document = {name: value for name, value in document.items() if name in target.fields}
            return index_lines(change.id, version, *encode_document(document, version, self._digest_key).pieces)

        results: Results = {}
        for change, result in self._sender.send(target.alias, changes, lines, guard=REQUIRE_ALIAS):
            outcome = outcome_of(result)
            results[change.id] = (outcome, reason_of(result) if outcome is Outcome.REFUSED else "")
        return results
