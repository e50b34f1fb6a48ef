"""What orders work with."""

from dataclasses import dataclass, field
from typing import Annotated, Protocol

from fastapi import Depends

from api.background.workers import PeriodicWorker
from api.engine.client import Engine
from api.http.dependencies import service
from api.settings import Settings
from mappings.platforms import Platforms
from store.connection.engine import Store


class OrderMetrics(Protocol):
    """What orders report."""

    def count_transitions(self, state: str, orders: int = 1) -> None: ...
    def count_refused_item(self, reason: str) -> None: ...


@dataclass(frozen=True)
class OrderServices:
    """The engine of orders, whose connections no search takes, the store, and the workers that an order wakes."""

    settings: Settings
    engine: Engine
    platforms: Platforms
    store: Store
    metrics: OrderMetrics
    workers: list[PeriodicWorker] = field(default_factory=list)

    def wake_workers(self) -> None:
        """Starts the background work after an order has changed."""
        for worker in self.workers:
            worker.wake()


OrderDependency = Annotated[OrderServices, Depends(service(OrderServices))]
