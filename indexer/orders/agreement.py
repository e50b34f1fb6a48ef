"""Agreement: a serving index and the orders in, the items on which they disagree counted, or set right, out.

Both sides are read ascending by id, a page at a time, side by side: memory does not grow with either. What differs is
looked at again, by id, before it counts: the two sides are not read at the same moment.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import aclosing, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from opensearchpy import OpenSearch

from indexer.engine.failures import CommandError
from indexer.engine.retry import Patience
from indexer.orders.claims import PAGE, mark
from store.bound_items import bound_among, bound_items
from store.connection.engine import Store
from store.outbox.index_outbox import changed_among, enqueue

SHOWN = 5
KEPT_OPEN = "2m"  # how long the engine keeps the point in time between two pages
PATIENCE_SECONDS = 30.0
# A change this young may be on its way to the index, or have got there between the two looks.
ON_ITS_WAY = timedelta(seconds=60)


@dataclass
class Tally:
    """How many items, and the first few of them."""

    items: int = 0
    first: list[int] = field(default_factory=list)

    def add(self, found: list[int]) -> None:
        """Counts these too."""
        self.items += len(found)
        self.first += found[: SHOWN - len(self.first)]


@dataclass
class Disagreement:
    """The items of an index that say another thing than the orders do."""

    offered: Tally = field(default_factory=Tally)  # active orders hold them, searches find them
    hidden: Tally = field(default_factory=Tally)  # no active order holds them, searches do not find them


class Agreement:
    """Compares one platform's index with the orders."""

    def __init__(self, client: OpenSearch, store: Store, platform: int, index: str, window: int) -> None:
        """`window` is the index's max_result_window: it answers no larger page."""
        self._client = client
        self._store = store
        self._platform = platform
        self._index = index
        self._page = min(PAGE, window)

    async def compare(self, *, repair: bool = False) -> Disagreement:
        """Counts what differs; with `repair` the index is told the truth, and the API to tell it again."""
        found = Disagreement()
        page: list[int] = []
        async with aclosing(self._differing()) as differing:
            async for item in differing:
                page.append(item)
                if len(page) == PAGE:
                    await self._confirm(page, found, repair=repair)
                    page = []
        if page:
            await self._confirm(page, found, repair=repair)
        if repair:
            self._client.indices.refresh(index=self._index)
        return found

    async def _differing(self) -> AsyncGenerator[int, None]:
        """Items that only one side knows as bound, ascending."""
        with closing(marked_items(self._client, self._index, self._page)) as marked:
            async with aclosing(self._held()) as held:
                async for item in _in_one_alone(marked, held):
                    yield item

    async def _held(self) -> AsyncGenerator[int, None]:
        """Items of active orders, ascending; each page in a transaction of its own, so that none lasts long."""
        after: int | None = None
        while True:
            async with self._store.reading() as connection:
                page = await bound_items(connection, self._platform, after, PAGE)
            for item in page:
                yield item
            if len(page) < PAGE:
                return
            after = page[-1]

    async def _confirm(self, items: list[int], found: Disagreement, *, repair: bool) -> None:
        in_index = self._in_index(items)
        async with self._store.reading() as connection:
            bound = await bound_among(connection, self._platform, items)
            recent = await changed_among(connection, self._platform, items, datetime.now(UTC) - ON_ITS_WAY)
        certain = [item for item in items if item in in_index and item not in recent]
        offered = [item for item in certain if item in bound and not in_index[item]]
        hidden = [item for item in certain if item not in bound and in_index[item]]
        found.offered.add(offered)
        found.hidden.add(hidden)
        if repair and (offered or hidden):
            await self._tell(offered, hidden)

    def _in_index(self, items: list[int]) -> dict[int, bool]:
        """What the index says now of those of the items that it has, whether or not searches see it already."""
        answer = self._client.mget(
            index=self._index, body={"ids": [str(item) for item in items]}, params={"_source_includes": "bound"}
        )
        return {int(one["_id"]): one["_source"]["bound"] for one in answer["docs"] if one.get("found")}

    async def _tell(self, offered: list[int], hidden: list[int]) -> None:
        """Marks first and touches then: what an order changed in between is told by the API after the marks."""
        patience = Patience(PATIENCE_SECONDS)
        mark(self._client, self._index, offered, patience, bound=True)
        mark(self._client, self._index, hidden, patience, bound=False)
        async with self._store.transaction() as connection:
            await enqueue(connection, self._platform, [*offered, *hidden], datetime.now(UTC))


async def _in_one_alone(marked: Iterator[int], held: AsyncIterator[int]) -> AsyncIterator[int]:
    """What only one of two ascending series has, ascending."""
    there, claimed = next(marked, None), await anext(held, None)
    while there is not None or claimed is not None:
        if claimed is None or (there is not None and there < claimed):
            if there is not None:
                yield there
            there = next(marked, None)
        elif there is None or claimed < there:
            yield claimed
            claimed = await anext(held, None)
        else:
            there, claimed = next(marked, None), await anext(held, None)


def marked_items(client: OpenSearch, index: str, size: int) -> Generator[int, None, None]:
    """The items that an index has as bound, ascending, all as of one moment."""
    point: str = client.create_pit(index=index, params={"keep_alive": KEPT_OPEN})["pit_id"]
    try:
        after: list[Any] | None = None
        while True:
            hits = _page(client, point, size, after)
            for hit in hits:
                yield int(hit["_id"])
            if len(hits) < size:
                return
            after = hits[-1]["sort"]
    finally:
        client.delete_pit(body={"pit_id": [point]})


def _page(client: OpenSearch, point: str, size: int, after: list[Any] | None) -> list[dict[str, Any]]:
    body: dict[str, Any] = {
        "query": {"term": {"bound": True}},
        "pit": {"id": point, "keep_alive": KEPT_OPEN},
        "sort": ["id"],
        "size": size,
        "_source": False,
        "track_total_hits": False,
    }
    if after is not None:
        body["search_after"] = after
    answer = client.search(body=body)
    if answer["timed_out"] or answer["_shards"]["successful"] != answer["_shards"]["total"]:
        message = f"not every part of the index answered: {answer['_shards']}"
        raise CommandError(message)
    found: list[dict[str, Any]] = answer["hits"]["hits"]
    return found
