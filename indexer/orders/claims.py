"""Claims: the items that active orders claim in the store. A generation binds the same ones, in its field `bound`."""

from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, NamedTuple, Protocol, TypeVar

import orjson
from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException

from indexer.engine.bulk import BulkSender, reason_of
from indexer.engine.retry import RetriesExhaustedError, RetryPolicy
from indexer.engine.scan import PAGE_ITEMS, Scan, count_documents, in_pages, refresh, retry_when_lost, send_search
from indexer.errors import CommandError
from mappings.engine_errors import cause
from store.bound_items import bound_among, bound_items
from store.connection.engine import Store
from store.connection.errors import StoreError
from store.outbox.index_outbox import changed_since, enqueue, enqueue_ever_ordered, may_be_bound_among

MAX_SHOWN = 5
IS_BOUND = {"term": {"bound": True}}
_UNREADABLE = (
    "the orders cannot be read (GEAR_DATABASE_URL): {}; --without-orders goes on without them, "
    "but then items that are sold already are offered"
)

Result = TypeVar("Result")


class Database(Protocol):
    """The orders' database, from a thread that may wait."""

    @property
    def is_missing(self) -> bool:
        """Whether it is a file that does not exist."""

    def run(self, work: Callable[[Store], Coroutine[Any, Any, Result]]) -> Result:
        """The result of some work on the store; raises what the work raises."""


@dataclass
class Tally:
    """How many items, and the first few of them."""

    items: int = 0
    first: list[int] = field(default_factory=list)

    def add(self, items: list[int]) -> None:
        """Counts these too."""
        self.items += len(items)
        self.first += items[: MAX_SHOWN - len(self.first)]


class Claims:
    """What the orders' database says about a platform; while it is away, each call retries."""

    def __init__(self, platform: int, database: Database, retry: RetryPolicy) -> None:
        self._platform = platform
        self._database = database
        self._retry = retry

    def check(self, client: OpenSearch, alias: str) -> None:
        """Raises CommandError where the serving index binds items for orders that the database does not have: what is
        loaded from the orders would offer them again.

        A file that is not there yet means no orders; with ordered items it means another working directory.
        """
        bound = self._retry.call(lambda: count_documents(client, alias, IS_BOUND, ignore_unavailable="true"))
        if not bound:
            return
        if self._database.is_missing:
            raise CommandError(
                f"the orders' database (GEAR_DATABASE_URL) is a file that does not exist, but {alias} hides {bound:,} "
                "ordered items: run this where the API runs, or name the database; --without-orders goes on, "
                "but then items that are sold already are offered"
            )
        unknown = Tally()
        with Scan(client, alias, self._retry) as scan:
            for page in in_pages(scan.ids(IS_BOUND), PAGE_ITEMS):
                unknown.add(self._without_order(page))
        if unknown.items:
            raise CommandError(
                f"{alias} hides {unknown.items:,} items for orders that the database (GEAR_DATABASE_URL) does not "
                f"have, such as {unknown.first[0]}: was it restored from a backup? `gear-api reconcile` decides about "
                "each"
            )

    def unknown_among(self, client: OpenSearch, alias: str, items: list[int]) -> set[int]:
        """Those of these items, at most 10,000, that the serving index binds for orders which the database does not
        have: they stay bound.
        """
        query = {"bool": {"filter": [IS_BOUND, {"terms": {"id": items}}]}}
        body = {"query": query, "size": len(items), "_source": False, "track_total_hits": False}
        response = self._retry.call(lambda: send_search(client, alias, body))
        bound = [int(hit["_id"]) for hit in response["hits"]["hits"]]
        return set(self._without_order(bound)) if bound else set()

    def _without_order(self, items: list[int]) -> list[int]:
        """Those of these items that no order, hold or pending change accounts for."""

        async def read(store: Store) -> set[int]:
            async with store.reading() as connection:
                return await may_be_bound_among(connection, self._platform, items, datetime.now(UTC))

        accounted = self._run(read, set[int](), _UNREADABLE)
        return [item for item in items if item not in accounted]

    def all(self) -> set[int]:
        """All claimed items; raises CommandError where the database cannot be read."""
        return self._run(lambda store: all_claimed(store, self._platform), set(), _UNREADABLE)

    def among(self, items: list[int]) -> set[int]:
        """Those of these items that are claimed; raises CommandError where the database cannot be read."""

        async def read(store: Store) -> set[int]:
            claimed: set[int] = set()
            async with store.reading() as connection:
                for page in in_pages(items, PAGE_ITEMS):
                    claimed |= await bound_among(connection, self._platform, page)
            return claimed

        return self._run(read, set(), _UNREADABLE)

    def reenqueue_ever_ordered(self, items: list[int]) -> int:
        """Enqueues again those of these items that were ever ordered; returns how many."""

        async def write(store: Store) -> int:
            published = 0
            for page in in_pages(items, PAGE_ITEMS):
                async with store.transaction() as connection:
                    published += await enqueue_ever_ordered(connection, self._platform, page, datetime.now(UTC))
            return published

        return self._run(
            write,
            0,
            "the items are written, but what was ordered of them meanwhile could not be recorded (GEAR_DATABASE_URL): "
            "{}; send them again, until then sold items may be offered",
        )

    def reenqueue_changed(self, since: datetime, bound: set[int]) -> int:
        """Enqueues again what changed from `since` on, and what is claimed otherwise than `bound`, which the index was
        given; returns how many items.

        No more than that: new orders wait behind it. What was bound and has not changed is in the index.
        """

        async def write(store: Store) -> int:
            async with store.reading() as connection:
                changed = await _all_pages(
                    lambda after: changed_since(connection, self._platform, since, after, PAGE_ITEMS)
                )
            await self._enqueue(store, changed)
            # `since` is of this machine's clock, and changes have the times of others
            others = (await all_claimed(store, self._platform) ^ bound) - changed
            await self._enqueue(store, others)
            return len(changed) + len(others)

        return self._run(
            write,
            0,
            "what was ordered during the swap could not be recorded for the new index (GEAR_DATABASE_URL): {}; in a "
            f"minute `gear-indexer doctor --platform {self._platform} --fix` hides it, until then sold items may be "
            "offered",
        )

    async def _enqueue(self, store: Store, items: set[int]) -> None:
        for page in in_pages(sorted(items), PAGE_ITEMS):
            async with store.transaction() as connection:
                await enqueue(connection, self._platform, page, datetime.now(UTC))

    def _run(self, work: Callable[[Store], Coroutine[Any, Any, Result]], none: Result, sentence: str) -> Result:
        """Retries the work while the database is away; without a database yet, the result is `none`.

        Raises CommandError with the sentence, in which the store's words stand for `{}`.
        """
        backoff = self._retry.backoff()
        while True:
            if self._database.is_missing:
                return none
            try:
                return self._database.run(work)
            except StoreError as error:
                try:
                    backoff.wait(str(error))
                except RetriesExhaustedError:
                    raise CommandError(sentence.format(error)) from error


async def all_claimed(store: Store, platform: int) -> set[int]:
    """The claimed items, read in pages."""
    async with store.reading() as connection:
        return await _all_pages(lambda after: bound_items(connection, platform, after, PAGE_ITEMS))


async def _all_pages(read: Callable[[int | None], Awaitable[list[int]]]) -> set[int]:
    items: set[int] = set()
    after: int | None = None
    while page := await read(after):
        items.update(page)
        after = page[-1]
    return items


class BoundItems(NamedTuple):
    """What a generation was given to bind."""

    since: datetime  # claims that changed from then on may not be in it
    items: set[int]  # the items that were claimed then
    number: int  # of those that the generation has


def bind_claimed(client: OpenSearch, index: str, claims: Claims | None, retry: RetryPolicy) -> BoundItems:
    """Has the generation bind what is claimed, and nothing else; without `claims` it stays as it is.

    Ordered items that are not in the catalogue any more are left out.
    """
    since = datetime.now(UTC)
    if claims is None:
        return BoundItems(since, set(), 0)
    claimed = claims.all()

    def read_bound() -> set[int]:
        with Scan(client, index, retry) as scan:
            return set(scan.ids(IS_BOUND))

    bound = retry_when_lost(read_bound)
    count = len(bound & claimed)
    count += set_bound(client, index, sorted(claimed - bound), retry, bound=True)
    set_bound(client, index, sorted(bound - claimed), retry, bound=False)
    retry.call(lambda: refresh(client, index))
    return BoundItems(since, claimed, count)


def set_bound(client: OpenSearch, index: str, items: list[int], retry: RetryPolicy, *, bound: bool) -> int:
    """Sets `bound` on these items, one request a page; returns how many of them the index has."""
    document = orjson.dumps({"doc": {"bound": bound}})

    def lines(item: int) -> bytes:
        # live changes write the same items meanwhile
        return b'{"update":{"_id":"%d","retry_on_conflict":3}}\n%b\n' % (item, document)

    sender = BulkSender(client, retry)
    updated = 0
    for page in in_pages(items, PAGE_ITEMS):
        for item, result in sender.send(index, page, lines, require_alias=False):
            status, error = result["status"], result.get("error", {}).get("type")
            if status == HTTPStatus.OK:
                updated += 1
            elif status != HTTPStatus.NOT_FOUND or error != "document_missing_exception":
                raise CommandError(f"item {item} could not be marked as sold: {reason_of(result)}")
    return updated


@contextmanager
def reenqueue_after_swap(claims: Claims | None, since: datetime, bound: set[int]) -> Iterator[None]:
    """After the swap, re-enqueues the order changes since `since`: they went to the previous index.

    After an error, too: the aliases may have moved all the same. Where both fail, the CommandError says both.
    """
    if claims is None:
        yield
        return
    try:
        yield
    except BaseException as error:
        try:
            claims.reenqueue_changed(since, bound)
        except CommandError as unpublished:
            if isinstance(error, CommandError | OpenSearchException):
                raise CommandError(f"{cause(error)}; {unpublished}") from error
        raise
    claims.reenqueue_changed(since, bound)
