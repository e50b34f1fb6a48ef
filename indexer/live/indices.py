"""Live indices: a batch of changes and their time in; done in every index that needs them, or an error, out."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from opensearchpy import OpenSearch

from indexer.documents.digest import encode_document
from indexer.engine.bulk import index_lines, post, reason_of
from indexer.engine.failures import CommandError
from indexer.engine.generations import Generations, IndexState, deletes_index, loading_alias
from indexer.engine.results import GoneError, Outcome, outcome_of, send_all
from indexer.engine.retry import Patience
from indexer.engine.tombstones import GUARD, delete_line
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
    since: int | None  # changes that are older than this are none of its: its load's source is newer
    deletes: str | None  # the alias of where its deletes are recorded


Results = dict[int, tuple[Outcome, str]]  # by id; the engine's reason where it refused


class LiveIndices:
    """What serves, and what is being loaded, behind one alias."""

    def __init__(
        self, client: OpenSearch, generations: Generations, definition: Definition, patience: Patience
    ) -> None:
        self._client = client
        self._generations = generations
        self._definition = definition
        self._patience = patience

    def targets(self) -> list[Target]:
        """Every index that changes go to, the serving one last; raises CommandError where there is none."""
        states = [state for state in self._generations.all() if state.serving or state.loading]
        alias = self._generations.alias
        if not any(state.serving for state in states):
            message = f"nothing is loaded behind {alias}: gear-indexer load FILE... first, changes come after that"
            raise CommandError(message)
        for state in states:
            if state.fingerprint != self._definition.fingerprint:
                message = (
                    f"{state.index} was made with another definition than this version's ({state.fingerprint}): "
                    "change it with the version that loaded it, or load again; `gear-indexer prune` removes what a "
                    "dead load left"
                )
                raise CommandError(message)
        loading = [_loading(state) for state in states if not state.serving]
        return [*loading, *(Target(state.index, alias, None, None) for state in states if state.serving)]

    def send(self, changes: list[Change], version: int) -> tuple[list[str], Results]:
        """Makes the changes in every index, as of `version`; their names, and what the serving one made of each.

        May be repeated: a change that is there already is written again as it is. Where a load ends meanwhile, its
        index serves or is gone, so the indices are looked up again and all is sent again.
        """
        waits = self._patience.waits()
        while True:
            targets = [target for target in self.targets() if target.since is None or target.since <= version]
            refused: Results = {}
            try:
                for target in targets:
                    self._record(target, changes, version)
                    results = self._through(target.alias, changes, version)
                    refused |= {number: one for number, one in results.items() if one[0] is Outcome.REFUSED}
            except GoneError as error:
                waits.wait(str(error))
                continue
            return [target.index for target in targets], {**results, **refused}

    def _record(self, target: Target, changes: list[Change], version: int) -> None:
        """Remembers deletes beside an index that is being loaded, before they are done in it."""
        deleted = [change for change in changes if change.document is None]
        alias = target.deletes
        if alias is None or not deleted:
            return

        def once(left: list[Change]) -> list[dict[str, Any]]:
            document = b'{"id":%d,"version":%d}'
            data = [index_lines(change.id, version, document % (change.id, version)) for change in left]
            return post(self._client, alias, b"".join(data), len(left))

        for change, result in send_all(deleted, once, self._patience):
            if outcome_of(result) is Outcome.REFUSED:
                message = f"the delete of item {change.id} could not be recorded: {reason_of(result)}"
                raise CommandError(message)

    def _through(self, alias: str, changes: list[Change], version: int) -> Results:
        def once(left: list[Change]) -> list[dict[str, Any]]:
            data = GUARD + b"".join(_lines(change, version) for change in left)
            return post(self._client, alias, data, len(left) + 1)[1:]

        results: Results = {}
        for change, result in send_all(changes, once, self._patience):
            outcome = outcome_of(result)
            results[change.id] = (outcome, reason_of(result) if outcome is Outcome.REFUSED else "")
        return results


def _loading(state: IndexState) -> Target:
    deletes = loading_alias(deletes_index(state.index)) if state.remembers else None
    return Target(state.index, loading_alias(state.index), state.version, deletes)


def _lines(change: Change, version: int) -> bytes:
    if change.document is None:
        return delete_line(change.id, version)
    return index_lines(change.id, version, *encode_document(change.document, version).pieces)
