"""The engine's calls of the change feed: snapshots of an index, and the log of changes.

A snapshot is a point in time that the engine keeps open.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import msgspec

from api.engine.client import Engine
from api.engine.errors import NO_INDEX, MissingError, NotLoadedError, PitGoneError
from api.engine.responses import HitsResponse, Json, decoded, hits_of, partial_response, read_json, total_of
from mappings.items.listing import Listing
from mappings.names import parse_generation, tombstones_alias
from mappings.platforms import Platform

KEEP_ALIVE: Final = "1h"
"""How long the engine keeps a snapshot that nobody reads: so long may all recorders be away."""
LOG_SETTINGS: Final[Json] = {
    "number_of_shards": 1,
    "auto_expand_replicas": "0-1",
    "refresh_interval": "-1",  # the recorder refreshes before it commits
    "sort.field": ["seq"],
    "sort.order": ["asc"],
}
LOG_INDEX_SUFFIX: Final = "-v1"  # of a log's index; its alias is without it
LOG_FIELDS: Final = ("seq", "side", "at", "id", "platform", "item")
"""What is stored of an entry; the rest is only searched."""
_OBSERVED: Final = ("_shards", "indices.*.shards.*.routing.primary", "indices.*.shards.*.seq_no.global_checkpoint")


class SnapshotHit(msgspec.Struct):
    """A hit in a snapshot."""

    key: str = msgspec.field(name="_id")
    index: str = msgspec.field(default="", name="_index")
    raw_source: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="_source")
    fields: dict[str, list[Any]] = {}
    sort: list[Any] = []

    @property
    def id(self) -> int:
        """The item's."""
        return int(self.key)

    @property
    def source(self) -> bytes:
        """The document as JSON."""
        return bytes(self.raw_source)


class LogEntry(msgspec.Struct):
    """One side of a change, as the log has it."""

    seq: int
    side: int
    at: int
    id: int
    platform: int
    item: msgspec.Raw = msgspec.Raw()


class _EntryHit(msgspec.Struct):
    entry: LogEntry = msgspec.field(name="_source")


class MatchedEntry(msgspec.Struct):
    """A side of a change, what was asked for of it, and the names of the clauses that it meets."""

    fields: dict[str, list[Any]]
    matched_queries: list[str] = []

    @property
    def seq(self) -> int:
        return int(self.fields["seq"][0])

    @property
    def side(self) -> int:
        return int(self.fields["side"][0])


_matched: Final = msgspec.json.Decoder(HitsResponse[MatchedEntry])
_listing: Final = msgspec.json.Decoder(Listing)
_hits: Final = msgspec.json.Decoder(HitsResponse[SnapshotHit])
_entries: Final = msgspec.json.Decoder(HitsResponse[_EntryHit])
_rows: Final = msgspec.json.Decoder(list[Json])


@dataclass(frozen=True)
class Observed:
    """The index behind an alias, and for each of its shards up to which operation every copy has all."""

    index: str
    checkpoints: tuple[int, ...]


class FeedEngine(Engine):
    """Calls OpenSearch for the recorder and the readers of changes, with connections of their own."""

    @property
    def properties(self) -> Mapping[str, Json]:
        """The fields of items in a log, as its mapping says."""
        return self._definition.log_properties()

    async def observe(self, platforms: Sequence[Platform]) -> dict[int, Observed]:
        """What serves each loaded platform now; raises ApiError `search_unavailable`."""
        ids = {self._settings.alias(platform.id): platform.id for platform in platforms}
        params = {"level": "shards", "ignore_unavailable": "true", "filter_path": ",".join(_OBSERVED)}
        call = self._client.indices.stats(index=",".join(ids), metric="docs", params=params)
        response = await self._read(call, read_json)
        if response["_shards"]["failed"]:
            raise partial_response(shards=response["_shards"])
        observed: dict[int, Observed] = {}
        for index, stats in response.get("indices", {}).items():
            shards = [copies for _, copies in sorted(stats["shards"].items(), key=lambda shard: int(shard[0]))]
            primaries = [copy for copies in shards for copy in copies if copy["routing"]["primary"]]
            checkpoints = tuple(copy["seq_no"]["global_checkpoint"] for copy in primaries if "seq_no" in copy)
            for alias, platform in ids.items():
                if parse_generation(alias, index) is not None and checkpoints:
                    observed[platform] = Observed(index, checkpoints)
        return observed

    async def open_snapshot(self, index: str) -> tuple[str, int]:
        """Makes all that was written visible and opens a point in time, of so many shards; raises NotLoadedError and as
        `search`.
        """
        await self.refresh(index)
        params = {"keep_alive": KEEP_ALIVE, "allow_partial_pit_creation": "false", "preference": "_primary"}
        response = await self._read(self._client.create_pit(index=index, params=params), read_json)
        return response["pit_id"], response["_shards"]["total"]

    async def refresh(self, index: str) -> None:
        """Makes all that was written visible on every copy."""
        response = await self._read(self._client.indices.refresh(index=index), read_json)
        if response["_shards"]["failed"]:
            raise partial_response(shards=response["_shards"])

    async def hits(self, pit: str, body: Json) -> list[SnapshotHit]:
        """The hits of a search in a snapshot; raises PitGoneError and as `search`."""
        return hits_of(await self._search_snapshot(pit, {**body, "track_total_hits": False}))

    async def sources(self, hits: Sequence[SnapshotHit]) -> list[bytes]:
        """The documents of hits as JSON with their items; raises PitGoneError where their products are gone."""
        listings = [(hit.index, decoded(_listing, hit.source)) for hit in hits]
        try:
            items = await self._items.of_listings(listings)
        except NotLoadedError as error:
            raise PitGoneError from error
        return [b'{"item":%b,%b' % (item, hit.source.lstrip()[1:]) for hit, item in zip(hits, items, strict=True)]

    async def count(self, pit: str) -> int:
        """How many items a snapshot has; raises as `hits`."""
        return total_of(await self._search_snapshot(pit, {"size": 0, "track_total_hits": True}))

    async def _search_snapshot(self, pit: str, body: Json) -> HitsResponse[SnapshotHit]:
        try:
            return await self.send_search(_hits, {**body, "pit": {"id": pit, "keep_alive": KEEP_ALIVE}})
        except NotLoadedError as error:
            raise PitGoneError from error

    async def deleted_since(self, platform: int, at: int) -> AsyncGenerator[list[int], None]:
        """The items whose deletes were recorded since then (microseconds since 1970), the last ones first."""
        record = tombstones_alias(self._settings.alias(platform))
        body: Json = {"query": {"range": {"at": {"gte": at}}}, "sort": [{"at": "desc"}, {"id": "asc"}], "size": 1000}
        try:
            await self.refresh(record)
            while hits := hits_of(await self.send_search(_hits, body, index=record)):
                yield [hit.id for hit in hits]
                body["search_after"] = hits[-1].sort
        except NotLoadedError:  # nothing was ever deleted
            return

    async def create_log(self, log: str) -> None:
        """Creates the index of a log, behind an alias of this name."""
        properties = {
            **self.properties,
            "seq": {"type": "long"},
            "side": {"type": "byte"},
            "at": {"type": "long", "index": False, "doc_values": False},
        }
        body = {
            "settings": {"index": LOG_SETTINGS, "analysis": self._definition.analysis()},
            "mappings": {"dynamic": False, "_source": {"includes": list(LOG_FIELDS)}, "properties": properties},
            "aliases": {log: {}},
        }
        await self._read(self._client.indices.create(index=log + LOG_INDEX_SUFFIX, body=body), bytes)

    async def append(self, log: str, lines: Sequence[bytes]) -> None:
        """Writes entries, whose lines are those of a bulk request; raises NotLoadedError where the log was lost."""
        params = {"require_alias": "true", "filter_path": "errors,items.*.error"}
        call = self._client.bulk(body=b"\n".join(lines) + b"\n", index=log, params=params)
        response = await self._read(call, read_json)
        if response["errors"]:
            error = response["items"][0]["index"]["error"]
            if error["type"] == NO_INDEX:
                raise NotLoadedError(log)
            raise partial_response(error=str(error)[:300])

    async def entries(self, log: str, body: Json) -> list[LogEntry]:
        """The entries that a search finds; raises NotLoadedError where the log was lost."""
        # without `filter_path`: with it the engine parses each source once more, which takes half as long again
        return [hit.entry for hit in hits_of(await self.send_search(_entries, body, index=log))]

    async def matched(self, log: str, body: bytes) -> list[MatchedEntry]:
        """The entries that a search finds, with the names of its clauses that they meet; raises as `entries`."""
        paths = "_shards,timed_out,hits.hits.fields,hits.hits.matched_queries"
        return hits_of(await self.send_search(_matched, body, index=log, params={"filter_path": paths}))

    async def logs(self, pattern: str) -> list[str]:
        params = {"h": "index", "format": "json"}
        rows = await self._read(self._client.cat.indices(index=pattern, params=params), partial(decoded, _rows))
        return [row["index"] for row in rows]

    async def drop(self, indices: Sequence[str]) -> None:
        """Deletes indices; those that are gone already need nothing."""
        with suppress(MissingError, NotLoadedError):
            params = {"ignore_unavailable": "true"}
            await self._read(self._client.indices.delete(index=",".join(indices), params=params), bytes)
