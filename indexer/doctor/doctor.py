"""Looks at the engine, the indices and the orders, repairs what is safe, and looks again."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus

from opensearchpy import OpenSearch
from opensearchpy.exceptions import ConnectionError as EngineUnreachable
from opensearchpy.exceptions import OpenSearchException, TransportError

from indexer.doctor import checks, cluster
from indexer.doctor.facts import EngineFacts, IndexFacts, LockFacts, PlatformFacts, engine_facts, index_facts
from indexer.doctor.findings import Action, Code, Finding, Repair, Severity
from indexer.doctor.orders import check_disagreement, database_fault, late_updates, orders_fault
from indexer.engine.generations import Generations
from indexer.engine.retry import RetryPolicy
from indexer.engine.scan import retry_when_lost
from indexer.errors import CommandError
from indexer.locking.lock import Lock, is_alive
from indexer.locking.record import LockRecords
from indexer.maintenance.rollback import Rollback
from indexer.orders.agreement import Agreement
from indexer.orders.claims import Claims
from indexer.orders.database import OrdersDatabase
from indexer.products.comparison import altered_products, named_products
from mappings.definition import Definition
from mappings.engine_errors import describe_error
from mappings.names import generation_of
from mappings.platforms import Platform
from store.connection.errors import StoreError, StoreUnavailable

# A repair may uncover what could not be seen before it: an index in the alias's place hides that nothing serves.
ROUNDS = 3
RETRY_SECONDS = 3.0  # somebody waits for it


@dataclass(frozen=True, kw_only=True)
class Doctor:
    """What is to be looked at; `orders` is None where they are left out."""

    client: OpenSearch
    address: str  # the engine's, for messages
    alias_of: Callable[[int], str]
    definition: Definition
    platforms: Sequence[Platform]
    orders: OrdersDatabase | None
    older_than: float = 3600.0  # seconds without a heartbeat, after which the owner of a lock counts as dead
    keep: int = 2
    uninterrupted: Callable[[], AbstractContextManager[None]] = nullcontext  # swaps run within it

    def run(self, *, fix: bool, say: Callable[[str], None]) -> list[Finding]:
        """Looks; with `fix` also repairs what is safe and looks again. What was repaired comes first."""
        findings = self.look()
        fixed: list[Finding] = []
        failures: dict[tuple[str, int | None, str], str | None] = {}
        for _ in range(ROUNDS if fix else 0):
            due = [finding for finding in findings if finding.repair is not None]
            if not due:
                break
            # one that failed before may be possible by now
            failures |= {finding.key: self._repair(finding, say) for finding in due}
            findings = self.look()
            left = {finding.key for finding in findings}
            repaired = [
                replace(finding, fixed=True)
                for finding in due
                if finding.key not in left and failures[finding.key] is None
            ]
            fixed += repaired
            if not repaired:
                break
        for at, finding in enumerate(findings):
            if (failure := failures.get(finding.key)) is not None:
                findings[at] = replace(finding, message=f"{finding.message}; not repaired: {failure}")
        return [*fixed, *findings]

    def _repair(self, finding: Finding, say: Callable[[str], None]) -> str | None:
        """Makes one repair; why it could not be made, if so."""
        try:
            if finding.repair is not None:
                self._make(finding.repair, next(entry for entry in self.platforms if entry.id == finding.platform), say)
        except OpenSearchException as error:
            return describe_error(error, self.address)
        except (CommandError, StoreError) as error:
            return str(error)
        say(f"repaired {finding.code} of {finding.subject}")
        return None

    def _make(self, repair: Repair, platform: Platform, say: Callable[[str], None]) -> None:
        """Makes one repair; raises CommandError, StoreError or the client's error where it could not."""
        alias, definition = self.alias_of(platform.id), self.definition.with_shards(platform.shards)
        match repair.action:
            case Action.PUT_SETTINGS:
                self.client.indices.put_settings(index=repair.index, body={"index": repair.settings})
            case Action.SERVE:
                claims = None if self.orders is None else Claims(platform.id, self.orders, RetryPolicy(RETRY_SECONDS))
                rollback = Rollback(self.client, platform, alias, definition, self.uninterrupted)
                rollback.run(repair.index, claims, say, {}, command="doctor --fix")
            case Action.PUBLISH_CLAIMS:
                if self.orders is not None:
                    agreement = Agreement(self.client, self.orders, platform.id, repair.index, repair.window)
                    agreement.compare(repair=True)
            case _:
                retry = RetryPolicy()
                generations = Generations(self.client, alias, definition, retry)
                with Lock(self.client, alias, "doctor --fix", retry, say) as lock:
                    self._make_locked(repair, generations, lock)

    def _make_locked(self, repair: Repair, generations: Generations, lock: Lock) -> None:
        """Looks once more, for what has changed since it was found, and makes the repair.

        Where only the lock of a crashed one was left behind, taking it over was all.
        """
        index = repair.index
        match repair.action:
            case Action.POINT_PRODUCTS:
                if generations.serving() != [index]:
                    raise CommandError(f"{index} does not serve alone any more")
                generations.swap(index, lock.renew)
            case Action.REMOVE_PRODUCTS:
                if index not in generations.products_without_listings():
                    raise CommandError(f"{index} has listings by now, or is gone")
                generations.remove(generation_of(index), lock.renew)
            case Action.REMOVE_GENERATION:
                if not generations.state(index).unfinished:
                    raise CommandError(f"{index} was finished meanwhile and is not removed")
                generations.remove(index, lock.renew)
            case Action.REMOVE_EMPTY_INDEX:
                generations.refresh(index)  # counts also what no search has seen yet
                if count := generations.count(index):
                    raise CommandError(f"{index} has {count:,} documents by now and is not removed")
                lock.renew()
                self.client.indices.delete(index=index)
            case Action.RELEASE_LOCK:
                pass
            case _:
                raise ValueError(f"no repair for the action {repair.action}")

    def look(self) -> list[Finding]:
        """Every finding of now."""
        fault = None if self.orders is None else orders_fault(self.orders)
        findings, orders = ([], self.orders) if fault is None else ([fault], None)
        engine = None
        try:
            engine = engine_facts(self.client)
        except EngineUnreachable as error:
            remedy = "start OpenSearch, or set GEAR_OPENSEARCH_URL to its address; without containers: gear-node start"
            message = describe_error(error, self.address)
            findings.append(Finding(Code.ENGINE_UNREACHABLE, None, "engine", message, remedy))
            return [*findings, *self._late(orders)]
        except OpenSearchException as error:
            findings.append(self._not_checked(None, "cluster", error))
        platforms_facts: list[PlatformFacts] = []
        for platform in self.platforms:
            self._tried(findings, platform.id, "indices", partial(self._platform, platform, engine, platforms_facts))
        if engine is not None:
            findings += cluster.check_version(engine)
        for facts in platforms_facts:
            index = facts.comparable
            if index is not None:
                self._tried(findings, facts.platform, "products", partial(self._products, facts, index))
                if orders is not None:
                    self._tried(findings, facts.platform, "orders", partial(self._agreement, orders, facts, index))
        return [*findings, *self._late(orders)]

    def _tried(
        self, findings: list[Finding], platform: int | None, part: str, look: Callable[[], Iterable[Finding]]
    ) -> None:
        """Adds what a look finds, or that it could not be made."""
        try:
            findings += look()
        except (OpenSearchException, CommandError) as error:
            findings.append(self._not_checked(platform, part, error))
        except StoreUnavailable as error:
            fault = database_fault(error.cause)
            findings += [fault] if fault.key not in {finding.key for finding in findings} else []

    def _late(self, orders: OrdersDatabase | None) -> list[Finding]:
        findings: list[Finding] = []
        if orders is not None:
            for platform in self.platforms:
                self._tried(findings, platform.id, "orders", partial(late_updates, orders, platform.id))
        return findings

    def _platform(
        self, platform: Platform, engine: EngineFacts | None, platforms_facts: list[PlatformFacts]
    ) -> Iterable[Finding]:
        alias = self.alias_of(platform.id)
        before = self._lock(alias)
        listings, products = index_facts(self.client, alias)
        facts = PlatformFacts(
            platform=platform.id,
            alias=alias,
            definition=self.definition.with_shards(platform.shards),
            indices=listings,
            products=products,
            older_than=self.older_than,
            keep=self.keep,
            locks=(*before, *self._lock(alias)),
            data_nodes=1 if engine is None else engine.data_nodes,
            room=engine is not None and engine.has_room,
        )
        platforms_facts.append(facts)
        yield from checks.check_platform(facts)
        if engine is not None:
            yield from cluster.check_auto_create(engine, facts)
            yield from cluster.check_templates(engine, facts)

    def _lock(self, alias: str) -> tuple[LockFacts, ...]:
        record = LockRecords(self.client, alias).read()
        return () if record is None else (LockFacts(record, is_alive(record.owner)),)

    def _products(self, facts: PlatformFacts, index: IndexFacts) -> Iterable[Finding]:
        products = facts.products_of(index)
        if products is None or not (index.readable and products.readable):
            return
        retry = RetryPolicy(RETRY_SECONDS)
        named = retry_when_lost(lambda: named_products(self.client, index.name, facts.platform, retry))
        yield from checks.check_named(facts.platform, index.name, named)
        # another definition may make the keys otherwise
        if index.meta.get("fingerprint") == facts.definition.fingerprint:
            altered = retry_when_lost(lambda: altered_products(self.client, index.name, retry))
            yield from checks.check_altered(facts.platform, index.name, altered)

    def _agreement(self, orders: OrdersDatabase, facts: PlatformFacts, index: IndexFacts) -> Iterable[Finding]:
        agreement = Agreement(self.client, orders, facts.platform, index.name, index.result_window)
        return check_disagreement(facts.platform, index.name, index.result_window, agreement.compare())

    def _not_checked(self, platform: int | None, part: str, error: OpenSearchException | CommandError) -> Finding:
        """What a login may not see is a warning; what could not be seen for any other reason may hide anything."""
        cause = describe_error(error, self.address) if isinstance(error, OpenSearchException) else str(error)
        message = f"the {part} could not be looked at: {cause}"
        if isinstance(error, TransportError) and error.status_code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            remedy = "run the doctor with a login that may see it"
            return Finding(Code.NOT_CHECKED, platform, part, message, remedy, exceptional_severity=Severity.WARNING)
        return Finding(Code.NOT_CHECKED, platform, part, message, "run the doctor again")
