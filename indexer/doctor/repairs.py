"""Makes the repairs that findings call safe."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from opensearchpy import OpenSearch

from indexer.doctor.findings import Action, Repair
from indexer.engine.generations import Generations
from indexer.engine.retry import RetryPolicy
from indexer.errors import CommandError
from indexer.locking.lock import Lock
from indexer.maintenance.rollback import RETRY_SECONDS, Rollback
from indexer.orders.agreement import Agreement
from indexer.orders.claims import Claims
from indexer.orders.database import OrdersDatabase
from mappings.definition import Definition
from mappings.names import generation_of
from mappings.platforms import Platform


@dataclass(frozen=True)
class Repairs:
    """One platform's indices and orders, and what may be done to them without asking."""

    client: OpenSearch
    platform: Platform
    alias: str
    definition: Definition
    orders: OrdersDatabase | None
    claims: Claims | None
    uninterrupted: Callable[[], AbstractContextManager[None]]

    def make(self, repair: Repair | None, say: Callable[[str], None]) -> None:
        """Makes one repair; raises CommandError, StoreError or the client's error where it could not."""
        if repair is None:
            return
        index = repair.index
        match repair.action:
            case Action.PUT_SETTINGS:
                self.client.indices.put_settings(index=index, body={"index": repair.settings})
            case Action.SERVE:
                rollback = Rollback(self.client, self.platform, self.alias, self.definition, self.uninterrupted)
                rollback.run(index, self.claims, say, {}, command="doctor --fix")
            case Action.PUBLISH_CLAIMS:
                if self.orders is not None:
                    agreement = Agreement(self.client, self.orders, self.platform.id, index, repair.window)
                    agreement.compare(repair=True)
            case _:
                retry = RetryPolicy(RETRY_SECONDS)
                generations = Generations(self.client, self.alias, self.definition, retry)
                with Lock(self.client, self.alias, "doctor --fix", retry, say) as lock:
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
                self.client.indices.refresh(index=index)  # counts also what no search has seen yet
                if count := generations.count(index):
                    raise CommandError(f"{index} has {count:,} documents by now and is not removed")
                lock.renew()
                self.client.indices.delete(index=index)
