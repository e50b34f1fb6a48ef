"""The engine's client: single items, availability updates and readiness, on top of `Searches`."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import orjson
from opensearchpy import AsyncOpenSearch

from api.engine.documents import LISTING_DOCUMENTS, ListingDocument, read_documents
from api.engine.errors import LOAD_AGAIN, ForbiddenError, NotLoadedError
from api.engine.product_lookups import STICKERS
from api.engine.responses import LISTINGS, Json, StoredItem, all_of, hits_of, read_json
from api.engine.searches import Searches
from api.errors import ApiError
from api.log import log
from mappings.names import parse_generation
from mappings.platforms import Platform
from store.outbox.index_outbox import IndexUpdate

_NO_DOCUMENT = "document_missing_exception"
_CONFLICT = "version_conflict_engine_exception"
READ_AHEAD = 200  # shared documents at once, which hold the event loop for two milliseconds
_SHARED_DOCUMENTS: Json = {
    "query": {"bool": {"must_not": [{"exists": {"field": STICKERS}}]}},  # which are there to be looked up
    "sort": [{"_seq_no": "asc"}],
    "_source": False,
    "track_total_hits": False,
}
UPDATE_TRIES = 3  # of an item that something else changes between its reading and its update


class Engine(Searches):
    """Calls OpenSearch through the platforms' aliases."""

    async def item(self, platform: Platform, number: int) -> StoredItem | None:
        """The item with this id as it is now, bound or not; None if the platform has none."""
        return (await self.items(platform, [number])).get(number)

    async def items(self, platform: Platform, numbers: Sequence[int]) -> dict[int, StoredItem]:
        """Those of these items that the platform has, in their order, bound or not, in one round trip."""
        alias = self._aliases([platform])
        documents = await self._documents(alias, numbers)
        try:
            return await self._stored_items(alias, documents)
        except NotLoadedError:  # the catalogue was replaced meanwhile, and its indices removed
            return await self._stored_items(alias, await self._documents(alias, numbers))

    async def _documents(self, alias: str, numbers: Sequence[int]) -> list[ListingDocument]:
        call = self._client.mget(index=alias, body={"ids": [str(number) for number in numbers]})
        read = partial(read_documents, LISTING_DOCUMENTS, count=len(numbers))
        return [document for document in await self._read(call, read) if document.exists]

    async def _stored_items(self, alias: str, documents: Sequence[ListingDocument]) -> dict[int, StoredItem]:
        listings = [(document.index, document.source) for document in documents]
        items = await self._items.of_listings(listings)
        return {
            int(document.id): _item_of(item, document, alias) for document, item in zip(documents, items, strict=True)
        }

    async def read_ahead(self, platforms: Sequence[Platform], *, at_once: int = READ_AHEAD) -> None:
        """Reads shared documents, as many as are cached, so that the first pages need not.

        A fault, or a platform that was never loaded, ends it for that platform. The first platforms may take all room.
        """
        for index in self._product_aliases(platforms):
            page = {**_SHARED_DOCUMENTS, "size": at_once}
            with suppress(ApiError):
                while self._items.shared.has_room:
                    # it is asked once, so the engine need not remember it
                    response = await self.send_search(LISTINGS, page, index=index, params={"request_cache": "false"})
                    hits = hits_of(response)
                    if not hits:
                        break
                    await self._items.read([{"_index": hit["_index"], "_id": hit["_id"]} for hit in hits])
                    page["search_after"] = hits[-1]["sort"]

    async def bound_among(self, platform: Platform, items: Collection[int]) -> set[int]:
        """Those of these items that the index shows as bound; raises as `search` does."""
        filters = [{"terms": {"id": list(items)}}, {"term": {"bound": True}}]
        body = {"size": len(items), "query": {"bool": {"filter": filters}}, "sort": ["id"], "_source": False}
        return {hit["sort"][0] for hit in hits_of(await self.search([platform], body))}

    async def update_availability(self, items: Sequence[IndexUpdate]) -> list[bool]:
        """Hides bound items from searches and shows the others; says for each whether the index is up to date.

        An item that the index does not have needs no update; one whose index refuses must be sent again. Raises
        ApiError `search_unavailable` if none was updated.
        """
        up_to_date = [False] * len(items)
        places: Sequence[int] = range(len(items))
        for _ in range(UPDATE_TRIES):
            errors = await self._update([items[place] for place in places])
            for place, error in zip(places, errors, strict=True):
                up_to_date[place] = error is None
            places = [place for place, error in zip(places, errors, strict=True) if error == _CONFLICT]
            if not places:
                break
        return up_to_date

    async def _update(self, items: Sequence[IndexUpdate]) -> list[str | None]:
        """Updates each document as it is read here, and says for each what was in the way.

        An update that a hung node delivers after a newer one names a sequence number of the past, and is refused.
        """
        targets = [{"_index": self._settings.alias(item.platform), "_id": str(item.item)} for item in items]
        fields = ",".join(f"docs.{field}" for field in ("_id", "found", "_seq_no", "_primary_term", "error.type"))
        reading = self._client.mget(body={"docs": targets}, params={"_source": "false", "filter_path": fields})
        read = await self._read(reading, lambda content: all_of(read_json(content).get("docs", []), len(items)))
        errors = [document.get("error", {}).get("type") for document in read]
        places = [place for place, document in enumerate(read) if document.get("found")]
        lines: list[bytes] = []
        for place in places:
            as_read = {"if_seq_no": read[place]["_seq_no"], "if_primary_term": read[place]["_primary_term"]}
            lines.append(orjson.dumps({"update": {**targets[place], "require_alias": True, **as_read}}))
            lines.append(orjson.dumps({"doc": {"bound": items[place].bound}, "detect_noop": False}))
        if places:
            params = {"filter_path": "items.*.status,items.*.error.type"}
            call = self._client.bulk(body=b"\n".join(lines) + b"\n", params=params)
            updated = await self._read(call, lambda content: _updates_of(content, len(places)))
            for place, error in zip(places, updated, strict=True):
                errors[place] = error
        return errors

    async def ready(self, platforms: Sequence[Platform]) -> None:
        """Raises ApiError `search_unavailable` unless a platform's index answers, and all can be read."""
        await self.search(platforms, {"size": 0, "track_total_hits": False})
        params = {"ignore_unavailable": "true", "filter_path": "*.mappings._meta"}
        try:
            call = self._client.indices.get_mapping(index=self._aliases(platforms), params=params)
            indices = await self._read(call, read_json)
        except ForbiddenError:  # it cannot be told
            return
        for name, index in indices.items():
            if not self._definition.can_read(index["mappings"]["_meta"]):
                log.error("an index has a definition that this version cannot read: load its catalogue", index=name)
                raise ApiError("search_unavailable", f"this version cannot read {name}: {LOAD_AGAIN}")
        await self.check_products(platforms)

    async def request(self, send: Callable[[AsyncOpenSearch], Awaitable[Any]]) -> Json:
        """The JSON response to another request; raises ApiError `search_unavailable`, MissingError."""
        return await self._read(send(self._client), read_json)


def _item_of(item: bytes, document: ListingDocument, alias: str) -> StoredItem:
    source, generation = document.source, parse_generation(alias, document.index)
    return StoredItem(
        item=read_json(item),
        price=source.price,
        listed_at=source.listed_at,
        digest=source.digest,
        bound=source.bound,
        version=source.version,
        loaded_at=None if generation is None else generation.created_at,
    )


def _updates_of(content: bytes, count: int) -> list[str | None]:
    """For each update of a bulk request the type of its error; None where the index is up to date."""
    results = [entry["update"] for entry in read_json(content).get("items", ())]
    errors = [result["error"]["type"] if result["status"] >= 300 else None for result in all_of(results, count)]
    return [None if error == _NO_DOCUMENT else error for error in errors]
