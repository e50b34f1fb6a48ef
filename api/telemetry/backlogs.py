"""Reads what waits in the store, and shows it as metrics."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from api.background.coalescing import SingleFlight
from api.background.tasks import BackgroundTasks
from api.telemetry.metrics import MAX_TOKENS, token_labels
from store.connection.engine import Store
from store.connection.errors import StoreUnavailable
from store.orders import quotas
from store.orders.quotas import ActiveOrders
from store.outbox import attempts, deliveries, index_outbox

STORE_SECONDS = 1.0  # a scrape waits no longer for the store


@dataclass(frozen=True)
class Backlogs:
    """What waits in the store, for all processes that share it."""

    index_sync_pending: int
    index_sync_seconds: float
    callbacks_overdue: int
    callbacks_overdue_seconds: float
    callbacks_failed: dict[str, int]
    active_orders: Sequence[ActiveOrders] = ()


class BacklogReader:
    """Reads the backlogs in the background, once for all scrapes of a moment."""

    def __init__(self, store: Store, tasks: BackgroundTasks) -> None:
        self._store = store
        self._reading = SingleFlight(tasks, self._read)

    async def read(self) -> Backlogs | None:
        """The backlogs now; None where the store does not answer in time."""
        return await self._reading.result(STORE_SECONDS, StoreUnavailable)

    async def _read(self) -> Backlogs:
        async with self._store.reading() as connection:
            pending, unpublished = await index_outbox.pending(connection)
            now = datetime.now(UTC)
            overdue, oldest = await deliveries.overdue(connection, now)
            failed = await attempts.failed_by_token(connection)
            active = await quotas.active(connection, MAX_TOKENS)
        return Backlogs(pending, _age(unpublished, now), overdue, _age(oldest, now), failed, active)


def _age(since: datetime | None, now: datetime) -> float:
    return 0.0 if since is None else max(0.0, (now - since).total_seconds())


def backlog_metrics(backlogs: Backlogs | None) -> list[Metric]:
    """Whether the store answers, and the backlogs if it does.

    They are no `Gauge`s: one of those would be in the file of each worker besides.
    """
    up = GaugeMetricFamily("gear_store_up", "Whether the order store answers", value=int(backlogs is not None))
    if backlogs is None:
        return [up]
    # counted in the store: dispatchers have no metrics of their own
    text = "Callbacks of real orders given up after their last attempt"
    failed = CounterMetricFamily("gear_callbacks_failed", text, labels=("token",))
    for token_id, count in token_labels(list(backlogs.callbacks_failed.items())):
        failed.add_metric([token_id], count)
    text = "Orders that are created or processing, by token and state"
    active = GaugeMetricFamily("gear_orders_active", text, labels=("token", "state"))
    for orders in backlogs.active_orders:
        active.add_metric((orders.token_id, orders.state), orders.count)
    text = "Ordered or released items not yet published to the index"
    pending = GaugeMetricFamily("gear_index_sync_pending", text, value=backlogs.index_sync_pending)
    text = "Seconds since the oldest of them was ordered or released"
    oldest = GaugeMetricFamily("gear_index_sync_oldest_seconds", text, value=backlogs.index_sync_seconds)
    text = "Callbacks due and not delivered, without those that wait for a retry"
    overdue = GaugeMetricFamily("gear_callbacks_overdue", text, value=backlogs.callbacks_overdue)
    text = "Seconds since the oldest of them is due"
    due = GaugeMetricFamily("gear_callbacks_overdue_seconds", text, value=backlogs.callbacks_overdue_seconds)
    return [failed, up, active, pending, oldest, overdue, due]
