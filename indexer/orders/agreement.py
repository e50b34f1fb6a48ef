"""Agreement: the items on which a serving index and the orders disagree, counted or set right.

What differs is looked up again, by id, before it counts: the two sides are not read at the same moment.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime

from opensearchpy import OpenSearch

from indexer.engine.retry import RetryPolicy
from indexer.engine.scan import PAGE_ITEMS, Scan, in_pages, read_items, refresh
from indexer.orders.claims import IS_BOUND, Tally, all_claimed, set_bound
from indexer.orders.database import OrdersDatabase
from store.bound_items import bound_among
from store.connection.engine import Store
from store.outbox.index_outbox import IN_TRANSIT, changed_among, enqueue, may_be_bound_among


@dataclass
class Disagreement:
    """The items of an index that say another thing than the orders do."""

    offered: Tally = field(default_factory=Tally)  # claimed, and searches find them
    hidden: Tally = field(default_factory=Tally)  # not claimed, and searches do not find them


@dataclass(frozen=True)
class Agreement:
    """Compares one platform's index with the orders."""

    client: OpenSearch
    database: OrdersDatabase
    platform: int
    index: str
    window: int  # the index's max_result_window: it answers no larger page
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    def compare(self, *, repair: bool = False) -> Disagreement:
        """Counts what differs; with `repair` claimed items are bound, and the API publishes them again.

        Hidden ones stay hidden: an order that the database lost may have claimed them.
        """
        disagreement = Disagreement()
        with Scan(self.client, self.index, self.retry) as scan:
            bound = set(scan.ids(IS_BOUND, page_items=min(PAGE_ITEMS, self.window)))
        claimed = self.database.run(lambda store: all_claimed(store, self.platform))
        for page in in_pages(sorted(bound ^ claimed), PAGE_ITEMS):
            self._confirm(page, disagreement, repair=repair)
        if repair:
            self.retry.call(lambda: refresh(self.client, self.index))
        return disagreement

    def _confirm(self, items: list[int], disagreement: Disagreement, *, repair: bool) -> None:
        in_index = self.retry.call(lambda: read_items(self.client, self.index, items, "bound"))

        async def read(store: Store) -> tuple[set[int], set[int]]:
            now = datetime.now(UTC)
            async with store.reading() as connection:
                accounted = await may_be_bound_among(connection, self.platform, items, now)
                claimed = await bound_among(connection, self.platform, items)
                return accounted, claimed - await changed_among(connection, self.platform, items, now - IN_TRANSIT)

        # a claimed item that is offered counts while its update is pending, too: no API process may run
        accounted, claimed = self.database.run(read)
        offered = [item for item in items if item in claimed and item in in_index and not in_index[item]["bound"]]
        hidden = [item for item in items if item not in accounted and item in in_index and in_index[item]["bound"]]
        disagreement.offered.add(offered)
        disagreement.hidden.add(hidden)
        if not repair or not offered:
            return
        # bound first: what an order changes in between is published by the API after that
        set_bound(self.client, self.index, offered, self.retry, bound=True)

        async def write(store: Store) -> None:
            async with store.transaction() as connection:
                await enqueue(connection, self.platform, offered, datetime.now(UTC))

        self.database.run(write)
