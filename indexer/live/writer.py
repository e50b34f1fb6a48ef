"""The one writer of live changes: into every index that serves or is being loaded behind one alias.

What orders have bound stays bound, whoever sends the changes.
"""

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from http import HTTPStatus

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
from indexer.engine.states import IndexState, loading_alias
from indexer.engine.tombstones import Tombstones
from indexer.errors import CommandError
from indexer.live.change import Change
from indexer.orders.claims import Claims
from indexer.products.writer import ProductWriter
from mappings.definition import Definition
from mappings.names import products_of

# An upsert as recent as this finds a later delete in the engine's own memory, even after a restart.
RECENT_SECONDS = 5.0


@dataclass(frozen=True)
class Target:
    """An index and the alias that it is written through, so that no late change makes an index."""

    index: str
    alias: str
    since: int | None  # it takes no changes older than this: its load's source is newer
    fields: frozenset[str] | None  # those that its definition has, where that is another one
    products: str | None  # the UUID of its index of products; None where that is missing, or its alias


Results = dict[int, tuple[Outcome, str]]  # by id; the engine's reason where it refused


@dataclass(frozen=True)
class Written:
    """What became of changes: by id as the serving index says, and the items that are bound."""

    indices: list[str]
    results: Results
    bound: set[int]
    version: int  # of the changes that had none


@dataclass
class LiveWriter:
    """Writes changes behind one alias; several threads may share it."""

    client: OpenSearch
    alias: str
    definition: Definition
    claims: Claims | None
    retry: RetryPolicy
    digest_key: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        self._generations = Generations(self.client, self.alias, self.definition, self.retry)
        self._sender = BulkSender(self.client, self.retry, names_index=True)
        self._tombstones = Tombstones(self.client, self.alias, self.retry)
        # by the UUID, as an index may be restored as it was before, and the alias of its listings
        self._products: dict[tuple[str, str], ProductWriter] = {}
        self._time = 0
        self._time_lock = threading.Lock()

    def check(self) -> None:
        """Raises CommandError where no change could be written."""
        self._targets()

    def write(self, changes: Iterable[Change]) -> Written:
        """Makes changes of different items; those without a time get that of now.

        Raises CommandError or the client's error where not all of them have a result: all may be sent again.
        """
        version = self._next_version()
        dated = [change if change.is_dated else change._replace(version=version) for change in changes]
        puts = [change.id for change in dated if change.document is not None]
        bound, unknown = set[int](), set[int]()
        if self.claims is not None and puts:
            bound = self.claims.among(puts)
            unknown = self.claims.unknown_among(self.client, self.alias, puts)
        for change in dated:
            if change.document is not None:
                change.document["bound"] = change.id in bound or change.id in unknown
        names, results = self._send_everywhere(dated)
        if self.claims is not None and puts:
            # An order placed between the look-up and the write was published to the document that is replaced now.
            self.claims.reenqueue_ever_ordered([number for number in puts if number not in unknown])
        return Written(names, results, bound, version)

    def show(self) -> None:
        """Makes what was written visible to searches."""
        self._generations.refresh(self.alias)

    def _targets(self) -> list[Target]:
        """Every index that changes go to, the serving one last; raises CommandError where there is none."""
        states = [state for state in self._generations.all() if state.serving or state.loading]
        if not any(state.serving for state in states):
            remedy = "gear-indexer load FILE... first, changes come after that"
            raise CommandError(f"nothing is loaded behind {self.alias}: {remedy}")
        for state in states:
            if state.fingerprint not in (self.definition.fingerprint, *self.definition.reads):
                raise CommandError(
                    f"{state.index} was made with another definition than this version's ({state.fingerprint}): "
                    "change it with the version that loaded it, or load again; `gear-indexer prune` removes what an "
                    "interrupted load left"
                )
        # stable: what serves is written last, and says what became of the changes
        return [self._target(state) for state in sorted(states, key=lambda state: state.serving)]

    def _write_products(self, target: Target, changes: list[Change]) -> None:
        """Has searches find the products of items before they can find the items."""
        documents = [change.document for change in changes if change.document is not None]
        if not documents:
            return
        if target.products is None:
            raise CommandError(
                f"the products of {target.index} are missing, or {products_of(target.alias)} points elsewhere: "
                "`gear-indexer doctor` says what mends that"
            )
        key = (target.products, target.alias)
        if (writer := self._products.get(key)) is None:
            fields = None if target.fields is None else self._generations.fields(products_of(target.index))
            writer = ProductWriter(self.client, target.index, target.alias, self._sender, self.retry, fields)
            self._products[key] = writer
        writer.write(documents)

    def _target(self, state: IndexState) -> Target:
        alias = self.alias if state.serving else loading_alias(state.index)
        current = state.fingerprint == self.definition.fingerprint
        fields = None if current else self._generations.fields(state.index)
        products = state.products
        named = products is not None and products_of(alias) in products.aliases
        uuid = products.settings["uuid"] if products is not None and named else None
        return Target(state.index, alias, state.version, fields, uuid)

    def _next_version(self) -> int:
        """Now in microseconds since 1970, or later: a later batch is later on any clock, and no two are at once."""
        with self._time_lock:
            self._time = max(time.time_ns() // 1000, self._time + 1)
            return self._time

    def _send_everywhere(self, changes: list[Change]) -> tuple[list[str], Results]:
        """Makes changes in every index; their names, and what the serving one made of each.

        May be repeated: a change that is there already is written again as it is. Where a load ends meanwhile, its
        index serves or is gone, so the indices are looked up again and all is sent again. What is older than a load
        may have reached its index by then, and is taken back.
        """
        backoff = self.retry.backoff()
        is_repeated = False
        while True:
            targets = self._targets()
            current = {(target.products, target.alias) for target in targets}
            for key in self._products.copy().keys() - current:  # a copy: another thread may add one meanwhile
                self._products.pop(key, None)
            try:
                results = self._send(targets, changes, take_back=is_repeated)
            except AliasGoneError as error:
                backoff.wait(str(error))
            else:
                if is_repeated or all(target.since is not None for target in targets):
                    return [target.index for target in targets], results
            is_repeated = True

    def _send(self, targets: list[Target], changes: list[Change], *, take_back: bool) -> Results:
        retries = self._sender.retries
        recent = time.time_ns() // 1000 - RECENT_SECONDS * 10**6
        superseded = self._deleted_later([change for change in changes if change.version < recent])
        current = [change for change in changes if change.id not in superseded]
        self._record(targets, [change for change in current if change.document is None])
        results = self._send_each(targets, current, take_back=take_back)
        if self._sender.retries != retries:  # took long, so the engine may have forgotten what was deleted meanwhile
            superseded |= self._deleted_later(current)
            deleted = [Change(number, None, version) for number, version in superseded.items()]
            self._send_each(targets, deleted, take_back=False)
        return results | dict.fromkeys(superseded, (Outcome.SUPERSEDED, ""))

    def _send_each(self, targets: list[Target], changes: list[Change], *, take_back: bool) -> Results:
        """Sends changes to every index; what the last one made of each, or an earlier one's refusal."""
        results: Results = {}
        refused: Results = {}
        for target in targets:
            newer = [change for change in changes if target.since is None or target.since <= change.version]
            if take_back and target.since is not None:
                # the load's own documents have the version `since`, and stay
                older = [Change(each.id, None, target.since - 1) for each in changes if each.version < target.since]
                self._change(target, older)
            self._write_products(target, newer)
            results = {change.id: (Outcome.SUPERSEDED, "") for change in changes} | self._change(target, newer)
            refused |= {number: outcome for number, outcome in results.items() if outcome[0] is Outcome.REFUSED}
        return results | refused

    def _deleted_later(self, changes: list[Change]) -> dict[int, int]:
        """The times of later deletes of the items that are put by these changes, by id."""
        puts = {change.id: change.version for change in changes if change.document is not None}
        return self._tombstones.later(puts) if puts else {}

    def _record(self, targets: list[Target], deletes: list[Change]) -> None:
        """Records deletes before they are done in any index."""
        if deletes:
            self._tombstones.record({change.id: change.version for change in deletes})
            filled = [target.since for target in targets if target.alias != self.alias]
            self._tombstones.prune(
                min((since for since in filled if since is not None), default=time.time_ns() // 1000)
            )

    def _change(self, target: Target, changes: list[Change]) -> Results:
        """Sends changes to one index; raises AliasGoneError where they went to another one.

        Raises CommandError where the index may not be written: that is said of each change, and true of none.
        """

        def lines(change: Change) -> bytes:
            if change.document is None:
                return delete_line(change.id, change.version)
            pieces, _ = encode_document(change.document, change.version, self.digest_key, target.fields)
            return index_lines(change.id, change.version, *pieces)

        results: Results = {}
        for change, result in self._sender.send(target.alias, changes, lines, guard=REQUIRE_ALIAS):
            outcome = outcome_of(result)
            if result["status"] == HTTPStatus.FORBIDDEN:
                raise CommandError(f"{target.index} may not be written: {reason_of(result)}")
            if result["_index"] != target.index:
                raise AliasGoneError(f"{target.alias} was moved to {result['_index']} meanwhile")
            results[change.id] = (outcome, reason_of(result) if outcome is Outcome.REFUSED else "")
        return results
