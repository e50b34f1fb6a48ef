"""Makes the repairs that findings call safe."""

from collections.abc import Callable
from dataclasses import dataclass

from opensearchpy import OpenSearch

from indexer.doctor.findings import Action, Repair
from indexer.doctor.orders import Orders
from indexer.engine.generations import Generations
from indexer.engine.retry import RetryPolicy
from indexer.errors import CommandError
from indexer.locking.lock import Lock
from indexer.maintenance.rollback import RETRY_SECONDS, Rollback
from indexer.orders.claims import Claims
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
    orders: Orders | None
    claims: Claims | None

    def make(self, repair: Repair | None, say: Callable[[str], None]) -> None:
        """Makes one repair; raises CommandError, StoreError or the client's error where it could not."""
        if repair is None:
            return
        index = repair.index
        match repair.action:
            case Action.PUT_SETTINGS:
                self.client.indices.put_settings(index=index, body={"index": repair.settings})
            case Action.SERVE:
                rollback = Rollback(self.client, self.platform, self.alias, self.definition)
                rollback.run(index, self.claims, say, command="doctor --fix")
            case Action.PUBLISH_CLAIMS:
                if self.orders is not None:
                    self.orders.compare(self.client, self.platform.id, index, repair.window, repair=True)
            case _:
                with self._lock(say) as lock:  # the one that died cannot give it back
                    self._make_locked(repair, lock)

    def _make_locked(self, repair: Repair, lock: Lock) -> None:
        """Makes a repair under the lock; nothing where only the lock was left behind."""
        match repair.action:
            case Action.POINT_PRODUCTS:
                self._point_products(repair.index, lock)
            case Action.REMOVE_PRODUCTS:
                self._remove_products(repair.index)
            case Action.REMOVE_GENERATION:
                self._remove_unfinished(repair.index)
            case Action.REMOVE_EMPTY_INDEX:
                self._remove_empty(repair.index)

    def _lock(self, say: Callable[[str], None]) -> Lock:
        return Lock(self.client, self.alias, "doctor --fix", RetryPolicy(RETRY_SECONDS), say)

    def _generations(self) -> Generations:
        return Generations(self.client, self.alias, self.definition, RetryPolicy(RETRY_SECONDS))

    def _point_products(self, index: str, lock: Lock) -> None:
        """Looks once more: something else may serve since it was found."""
        generations = self._generations()
        if [state.index for state in generations.all() if state.serving] != [index]:
            message = f"{index} does not serve alone any more"
            raise CommandError(message)
        generations.swap(index, lock.renew)

    def _remove_products(self, index: str) -> None:
        """Looks once more: a load may have made the listings since it was found."""
        generations = self._generations()
        if index not in generations.products_without_listings():
            message = f"{index} has listings by now, or is gone"
            raise CommandError(message)
        generations.remove(generation_of(index))

    def _remove_unfinished(self, index: str) -> None:
        """Looks once more: its load may have ended well since it was found."""
        generations = self._generations()
        if not generations.state(index).unfinished:
            message = f"{index} was finished meanwhile and is not removed"
            raise CommandError(message)
        generations.remove(index)

    def _remove_empty(self, index: str) -> None:
        """Counts once more, with what no search has seen yet."""
        self.client.indices.refresh(index=index)
        count = self.client.count(index=index)["count"]
        if count:
            message = f"{index} has {count:,} documents by now and is not removed"
            raise CommandError(message)
        self.client.indices.delete(index=index)
