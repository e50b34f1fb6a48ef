"""Claims: the orders' database and a generation in, the items that active orders hold marked as bound there out."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import orjson
from opensearchpy import OpenSearch

from indexer.engine.bulk import reason_of
from indexer.engine.failures import CommandError
from indexer.engine.retry import Patience

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from store.connection.engine import Store

PAGE = 1000

Result = TypeVar("Result")


class OrdersUnavailableError(CommandError):  # what happened, beside the error that it is a kind of
    """The orders' database cannot be asked now."""


class Claims:
    """What the orders' database says about a platform; while it is away it is asked again as long as patience lasts."""

    def __init__(self, platform: int, database_url: str, patience: Patience) -> None:
        self._platform = platform
        self._url = database_url
        self._patience = patience

    def check_file(self, client: OpenSearch, alias: str) -> None:
        """Raises CommandError where the orders' file does not exist although the serving index hides ordered items.

        A file that is not there yet means no orders; with ordered items it means another working directory.
        """
        if not self._is_no_file_yet():
            return
        body = {"query": {"term": {"bound": True}}}
        params = {"ignore_unavailable": "true"}
        hidden = self._patience.call(lambda: client.count(index=alias, body=body, params=params))["count"]
        if hidden:
            message = (
                f"the orders' database (GEAR_DATABASE_URL) is a file that does not exist, but {alias} hides {hidden:,} "
                "ordered items: run this where the API runs, or name the database; --without-orders goes on, "
                "but then items that are sold already are offered"
            )
            raise CommandError(message)

    def bound(self) -> set[int]:
        """The items that active orders hold; raises CommandError where the database cannot be asked."""
        from store.bound_items import bound_items

        async def read(connection: "AsyncConnection", after: int | None) -> list[int]:
            return await bound_items(connection, self._platform, after, PAGE)

        return self._read(lambda: self._pages(read))

    def bound_among(self, items: list[int]) -> set[int]:
        """Those of these items that active orders hold; raises CommandError where the database cannot be asked."""
        from store.bound_items import bound_among

        async def read() -> set[int]:
            found: set[int] = set()
            async with self._store() as store:
                if store is not None:
                    async with store.reading() as connection:
                        for page in _pieces(items):
                            found |= await bound_among(connection, self._platform, page)
            return found

        return self._read(read)

    def _read(self, work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        try:
            return self._patiently(work)
        except OrdersUnavailableError as error:
            message = (
                f"the orders cannot be read (GEAR_DATABASE_URL): {error}; --without-orders goes on without them, "
                "but then items that are sold already are offered"
            )
            raise CommandError(message) from error

    def tell_known_again(self, items: list[int]) -> int:
        """Has those of these items that were ever ordered told to the index again; returns how many."""
        from store.outbox.index_outbox import enqueue_known

        async def write() -> int:
            told = 0
            async with self._store() as store:
                if store is None:
                    return told
                for page in _pieces(items):
                    async with store.transaction() as connection:
                        told += await enqueue_known(connection, self._platform, page, datetime.now(UTC))
            return told

        try:
            return self._patiently(write)
        except OrdersUnavailableError as error:
            message = (
                f"the items are written, but what was ordered of them meanwhile could not be noted "
                f"(GEAR_DATABASE_URL): {error}; send them again, until then sold items may be offered"
            )
            raise CommandError(message) from error

    def tell_again(self, items: Iterable[int], since: datetime) -> int:
        """Has these items, and all that changed from `since` on, told to the index again; returns how many."""
        from store.outbox.index_outbox import changed_since

        async def read(connection: "AsyncConnection", after: int | None) -> list[int]:
            return await changed_since(connection, self._platform, since, after, PAGE)

        async def both() -> int:
            told = sorted({*items, *await self._pages(read)})
            await self._touch(told)
            return len(told)

        try:
            return self._patiently(both)
        except OrdersUnavailableError as error:
            message = (
                f"the swap is done, but what was ordered meanwhile could not be noted for the new index "
                f"(GEAR_DATABASE_URL): {error}; load again, until then sold items may be offered"
            )
            raise CommandError(message) from error

    def _patiently(self, work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        waits = self._patience.waits()
        while True:
            try:
                return asyncio.run(work())
            except OrdersUnavailableError as error:
                if not waits.left():
                    raise
                waits.wait(str(error))

    async def _pages(self, read: Callable[["AsyncConnection", int | None], Any]) -> set[int]:
        found: set[int] = set()
        async with self._store() as store:
            if store is None:
                return found
            async with store.reading() as connection:
                after: int | None = None
                while page := await read(connection, after):
                    found.update(page)
                    after = page[-1]
        return found

    async def _touch(self, items: list[int]) -> None:
        from store.outbox.index_outbox import enqueue

        async with self._store() as store:
            if store is None:
                return
            for page in _pieces(items):
                async with store.transaction() as connection:
                    await enqueue(connection, self._platform, page, datetime.now(UTC))

    def _is_no_file_yet(self) -> bool:
        from store.connection.address import database_address

        address = database_address(self._url)
        return address.get_backend_name() == "sqlite" and not Path(address.database or "").exists()

    @asynccontextmanager
    async def _store(self) -> AsyncIterator["Store | None"]:
        """The database, or None where it is a file that does not exist yet: then there are no orders."""
        from store.connection.engine import Store
        from store.connection.errors import StoreError

        if self._is_no_file_yet():
            yield None
            return
        store = Store(self._url)
        try:
            yield store
        except StoreError as error:
            raise OrdersUnavailableError(str(error)) from error
        finally:
            await store.close()


def carry(client: OpenSearch, index: str, bound: set[int], patience: Patience) -> int:
    """Makes the generation's `bound` marks those of the orders; returns how many items are bound in it.

    Ordered items that are not in the catalogue any more are left out.
    """
    marked = set(_marked(client, index, patience))
    carried = len(marked & bound)
    carried += mark(client, index, sorted(bound - marked), patience, bound=True)
    mark(client, index, sorted(marked - bound), patience, bound=False)
    patience.call(lambda: client.indices.refresh(index=index))
    return carried


def _marked(client: OpenSearch, index: str, patience: Patience) -> Iterator[int]:
    """The items that are marked as bound in an index, ascending."""
    body: dict[str, Any] = {
        "query": {"term": {"bound": True}},
        "sort": ["id"],
        "size": PAGE,
        "_source": False,
        "track_total_hits": False,
    }
    while True:
        answer = patience.call(partial(_page, client, index, body))
        hits = answer["hits"]["hits"]
        yield from (int(hit["_id"]) for hit in hits)
        if len(hits) < PAGE:
            return
        body = {**body, "search_after": hits[-1]["sort"]}


def _page(client: OpenSearch, index: str, body: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = client.search(index=index, body=body, params={"allow_partial_search_results": "false"})
    return answer


def mark(client: OpenSearch, index: str, items: list[int], patience: Patience, *, bound: bool) -> int:
    """Sets `bound` on these items, one request a page; returns how many of them the index has."""
    done = 0
    document = orjson.dumps({"doc": {"bound": bound}})
    for page in _pieces(items):
        left = page
        waits = patience.waits()
        while left:
            body = b"".join([b'{"update":{"_id":"%d"}}\n%b\n' % (item, document) for item in left])
            results = patience.call(partial(_update, client, index, body))
            done += sum(result["status"] == HTTPStatus.OK for result in results)
            left = [item for item, result in zip(left, results, strict=True) if _comes_again(item, result)]
            if left:
                waits.wait("the engine has too much to do")
    return done


def _update(client: OpenSearch, index: str, body: bytes) -> list[dict[str, Any]]:
    answer = client.bulk(body=body, index=index)
    return [wrapped["update"] for wrapped in answer["items"]]


def _comes_again(item: int, result: dict[str, Any]) -> bool:
    """Whether an update is to be sent again; raises CommandError where it can never succeed."""
    status = result["status"]
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= 500:
        return True
    gone = status == HTTPStatus.NOT_FOUND and result.get("error", {}).get("type") == "document_missing_exception"
    if status == HTTPStatus.OK or gone:
        return False
    message = f"item {item} could not be marked as sold: {reason_of(result)}"
    raise CommandError(message)


def _pieces(items: list[int]) -> Iterator[list[int]]:
    rest = iter(items)
    while piece := list(islice(rest, PAGE)):
        yield piece
