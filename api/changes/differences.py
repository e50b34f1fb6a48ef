"""The differences between two snapshots of a platform's items, in batches."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import msgspec

from api.background.tasks import gather_or_cancel
from api.changes.entries import Difference
from api.engine.feed import FeedEngine, SnapshotHit
from mappings.items.item import MAX_INTEGER

BATCH: Final = 1000
MERGED: Final = 10_000  # ids a page: the engine's most
COMPARED: Final = 500  # ids, then others have the event loop

Ids = AsyncGenerator[list[int], None]
Differences = AsyncGenerator[list[Difference], None]
Page = TypeVar("Page")

_CONTENT: Final = ("digest.a", "digest.b", "digest.c", "digest.d", "bound")


class _Facts(msgspec.Struct):
    bound: bool = False
    digest: dict[str, int] | None = None


_facts: Final = msgspec.json.Decoder(_Facts)


@dataclass(frozen=True)
class _Document:
    id: int
    facts: _Facts
    source: bytes

    @property
    def offered(self) -> bytes | None:
        """The document if the item is on offer."""
        return None if self.facts.bound else self.source


@dataclass(frozen=True)
class Snapshot:
    """The items of a platform at a point in time of their index."""

    engine: FeedEngine
    platform: int
    pit: str

    async def count(self) -> int:
        return await self.engine.count(self.pit)

    async def changed_since(self, positions: Sequence[int]) -> AsyncIterator[list[_Document]]:
        """The items that were written after the operation that is named for their shard, or for all shards, each
        shard's in the order of their last one.
        """
        for shard, position in enumerate(positions):
            body: dict[str, Any] = {"sort": [{"_seq_no": "asc"}, {"id": "asc"}], "size": BATCH}
            body["query"] = {"range": {"_seq_no": {"gt": position}}}
            if len(positions) > 1:  # where there are as many slices as shards, each is one shard
                body["slice"] = {"id": shard, "max": len(positions)}
            while hits := await self.engine.hits(self.pit, body):
                yield await self._with_items(hits)
                if len(hits) < BATCH:
                    break
                body["search_after"] = hits[-1].sort

    async def documents(self, ids: Sequence[int], *, with_items: bool) -> dict[int, _Document]:
        body: dict[str, Any] = {"query": {"ids": {"values": [str(each) for each in ids]}}, "size": len(ids)}
        hits = await self.engine.hits(self.pit, body) if ids else []
        documents = await self._with_items(hits) if with_items else [_document(hit, hit.source) for hit in hits]
        return {document.id: document for document in documents}

    async def _with_items(self, hits: Sequence[SnapshotHit]) -> list[_Document]:
        sources = await self.engine.sources(hits)
        return [_document(hit, source) for hit, source in zip(hits, sources, strict=True)]

    async def contents(self) -> AsyncGenerator[tuple[int, tuple[Any, ...]], None]:
        """Every id, ascending, and what tells whether its item has changed."""
        body: dict[str, Any] = {"sort": ["id"], "size": MERGED, "_source": False, "docvalue_fields": list(_CONTENT)}
        following = asyncio.create_task(self.engine.hits(self.pit, body))
        try:
            while hits := await following:
                if len(hits) == MERGED:  # read ahead
                    following = asyncio.create_task(self.engine.hits(self.pit, {**body, "search_after": hits[-1].sort}))
                for hit in hits:
                    yield hit.id, tuple(hit.fields.get(name, [None])[0] for name in _CONTENT)
                if len(hits) < MERGED:
                    return
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)  # so that no request outlives its owner


def _document(hit: SnapshotHit, source: bytes) -> _Document:
    return _Document(hit.id, _facts.decode(source), source)


async def diff_same_index(before: Snapshot, after: Snapshot, positions: Sequence[int], deleted: Ids) -> Differences:
    """The differences between two snapshots of one index; `before` shows all operations up to `positions`.

    Deletes leave no trace in a snapshot but in the number of items. Those that are recorded are looked for first.
    """
    missing = await before.count() - await after.count()
    async for page in after.changed_since(positions):
        earlier = await before.documents([document.id for document in page], with_items=False)
        missing += len(page) - len(earlier)
        yield _differences(after.platform, [(earlier.get(document.id), document) for document in page])
    deleted_ids = set[int]()
    if missing:
        async with aclosing(joined(deleted, _differing(before, after, only_deleted=True))) as candidates:
            async for ids in candidates:
                unseen = [each for each in ids if each not in deleted_ids]
                earlier, later = await _documents(before, after, unseen, with_items=False)
                absent = {each: document for each, document in earlier.items() if each not in later}
                deleted_ids |= absent.keys()
                yield _differences(after.platform, [(document, None) for document in absent.values()])
                if len(deleted_ids) == missing:
                    return


async def diff_after_lost_snapshot(after: Snapshot, positions: Sequence[int], deleted: Ids) -> Differences:
    """What may differ from a lost snapshot, which showed all operations up to `positions`; some of it does not."""
    async for page in after.changed_since(positions):
        yield [Difference(after.platform, each.id, None, each.offered, is_known=False) for each in page]
    async for ids in deleted:
        later = await after.documents(ids, with_items=False)
        yield [Difference(after.platform, each, None, None, is_known=False) for each in ids if each not in later]


async def diff_indices(before: Snapshot | None, after: Snapshot) -> Differences:
    """The differences between snapshots of two indices; None: there was no item before."""
    if before is None:
        async for page in after.changed_since([-1]):
            yield _differences(after.platform, [(None, document) for document in page])
        return
    async with aclosing(_differing(before, after, only_deleted=False)) as differing:
        async for ids in differing:
            earlier, later = await _documents(before, after, ids, with_items=True)
            yield _differences(after.platform, [(earlier.get(each), later.get(each)) for each in ids])


def _differences(platform: int, documents: Sequence[tuple[_Document | None, _Document | None]]) -> list[Difference]:
    differences = []
    for before, after in documents:
        if before is not None and after is not None and before.facts == after.facts:
            continue
        earlier, later = (None if document is None else document.offered for document in (before, after))
        document = before or after
        if document is not None and (earlier is not None or later is not None):
            differences.append(Difference(platform, document.id, earlier, later))
    return differences


async def _documents(
    before: Snapshot, after: Snapshot, ids: Sequence[int], *, with_items: bool
) -> list[dict[int, _Document]]:
    """These items before and after, `with_items` as readers see them afterwards."""
    return await gather_or_cancel(before.documents(ids, with_items=False), after.documents(ids, with_items=with_items))


async def joined(*parts: AsyncGenerator[Page, None]) -> AsyncGenerator[Page, None]:
    """The pages of all parts, one part after the other."""
    for part in parts:
        async with aclosing(part):
            async for page in part:
                yield page


async def _differing(before: Snapshot, after: Snapshot, *, only_deleted: bool) -> Ids:
    """The ids of items that only one of the snapshots has or that have changed; or of those that only `before` has."""
    batch: list[int] = []
    compared = 0
    async with aclosing(_merged(before, after)) as merged:
        async for each, content, following in merged:
            compared += 1
            if content != following and not (only_deleted and following is not None):
                batch.append(each)
            if len(batch) == BATCH or compared % MERGED == 0:  # an empty batch says that it goes on
                yield batch
                batch = []
            if compared % COMPARED == 0:
                await asyncio.sleep(0)
    yield batch


async def _merged(before: Snapshot, after: Snapshot) -> AsyncGenerator[tuple[int, Any, Any], None]:
    """Every id of either snapshot with its contents in both, None where it is not."""
    async with aclosing(before.contents()) as older, aclosing(after.contents()) as newer:
        left, right = await _next(older), await _next(newer)
        while (each := min(left[0], right[0])) <= MAX_INTEGER:
            is_left, is_right = left[0] == each, right[0] == each
            yield each, left[1] if is_left else None, right[1] if is_right else None
            left = await _next(older) if is_left else left
            right = await _next(newer) if is_right else right


async def _next(contents: AsyncIterator[tuple[int, Any]]) -> tuple[int, Any]:
    """The next item; one after all ids at the end."""
    try:
        return await anext(contents)
    except StopAsyncIteration:
        return MAX_INTEGER + 1, None
