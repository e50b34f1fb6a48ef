"""The clients: each method is one operation of the HTTP API and takes its fields by their names there."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Unpack, cast

import httpx
import stamina

from gear_client import calls
from gear_client.calls import Call
from gear_client.errors import ConnectionFailedError, error_of
from gear_client.models import (
    CatalogueResponse,
    ChangesBody,
    ChangesResponse,
    CheapestBody,
    CheapestResponse,
    DeleteBody,
    DeliveriesResponse,
    DeliveryResponse,
    FulfilmentResponse,
    ItemResponse,
    OrderBody,
    OrderResponse,
    OrdersResponse,
    OrderWithHistoryResponse,
    PlatformsResponse,
    PricesResponse,
    RemovedSearchResponse,
    SavedSearchBody,
    SavedSearchesResponse,
    SavedSearchResponse,
    SearchBody,
    SearchHit,
    SearchResponse,
    SuggestResponse,
    TransitionBody,
)

TIMEOUT_SECONDS = 30.0
ATTEMPTS = 5
PAGE = 100
CHANGES = 1000
WAIT_SECONDS = 20  # below the deadline of a call


class GearClient:
    """The service, blocking. Raises GearError where it refuses a call, ConnectionFailedError where no response comes.

    A call is repeated after a lost connection or a refusal that passes, if that is safe; orders carry an idempotency
    key, so that a repeated one is placed once.
    """

    def __init__(self, url: str, token: str, *, timeout: float = TIMEOUT_SECONDS, attempts: int = ATTEMPTS) -> None:
        self._http = httpx.Client(base_url=url, headers=_headers(token), timeout=timeout)
        self._attempts = attempts

    def __enter__(self) -> "GearClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes all connections."""
        self._http.close()

    def search(self, **body: Unpack[SearchBody]) -> SearchResponse:
        """Items on offer by text and filters."""
        return cast(SearchResponse, self._send(calls.post_query("/v1/gear/search", body)))

    def search_all(self, **body: Unpack[SearchBody]) -> Iterator[SearchHit]:
        """Every hit of a search, page after page, of one moment."""
        following: str | None = "*"
        while following is not None:
            response = self.search(**cast(SearchBody, {"limit": PAGE, **body, "cursor": following}))
            yield from response["gear"]
            following = response.get("nextCursor")

    def list_changes(self, **body: Unpack[ChangesBody]) -> ChangesResponse:
        """What came, changed and went since a bookmark, from now on without one; `wait` takes less than the timeout."""
        return cast(ChangesResponse, self._send(calls.post_query("/v1/gear/changes", body)))

    def follow_changes(self, **body: Unpack[ChangesBody]) -> Iterator[ChangesResponse]:
        """The pages of changes, without end: keep `next` of each once its changes are applied, and resume from it."""
        while True:
            response = self.list_changes(**cast(ChangesBody, {"limit": CHANGES, "wait": WAIT_SECONDS, **body}))
            yield response
            body["since"] = response["next"]

    def get_suggestions(
        self, q: str, *, platform: int | str | None = None, limit: int | None = None
    ) -> SuggestResponse:
        """Names, weapons, finishes, collections and stickers that begin with a text."""
        return cast(SuggestResponse, self._send(calls.get("/v1/gear/suggest", q=q, platform=platform, limit=limit)))

    def get_item(self, item: int, *, platform: int | str | None = None) -> ItemResponse:
        """One item, and whether it is on offer."""
        return cast(ItemResponse, self._send(calls.get(f"/v1/gear/{item}", platform=platform)))

    def get_prices(self, platform: int | str) -> PricesResponse:
        """What every name on offer costs."""
        return cast(PricesResponse, self._send(calls.get("/v1/gear/prices", platform=platform)))

    def list_platforms(self) -> PlatformsResponse:
        """The platforms, and every limit, sort and error code."""
        return cast(PlatformsResponse, self._send(calls.get("/v1/platforms")))

    def order_item(self, *, idempotency_key: str | None = None, **body: Unpack[OrderBody]) -> OrderResponse:
        """Orders one item."""
        return cast(OrderResponse, self._send(calls.order("/v1/gear", body, idempotency_key)))

    def order_cheapest_items(
        self, *, idempotency_key: str | None = None, **body: Unpack[CheapestBody]
    ) -> CheapestResponse:
        """Orders the cheapest items of a search, all or none."""
        return cast(CheapestResponse, self._send(calls.order("/v1/gear/cheapest", body, idempotency_key)))

    def get_order(self, order: str) -> OrderWithHistoryResponse:
        """One order with its history."""
        return cast(OrderWithHistoryResponse, self._send(calls.get(f"/v1/orders/{order}")))

    def list_orders(self, **query: Any) -> OrdersResponse:
        """A page of orders, newest first; the parameters are those of `GET /v1/orders`."""
        return cast(OrdersResponse, self._send(calls.get("/v1/orders", **query)))

    def transition_order(self, order: str, **body: Unpack[TransitionBody]) -> OrderResponse:
        """Moves an order to another state."""
        return cast(OrderResponse, self._send(calls.change(f"/v1/orders/{order}/transitions", body)))

    def get_fulfilment(self, order: str) -> FulfilmentResponse:
        """Where an order's item is sent to."""
        return cast(FulfilmentResponse, self._send(calls.get(f"/v1/orders/{order}/fulfilment")))

    def list_deliveries(self, order: str) -> DeliveriesResponse:
        """An order's callbacks."""
        return cast(DeliveriesResponse, self._send(calls.get(f"/v1/orders/{order}/deliveries")))

    def replay_delivery(self, order: str, n: int) -> DeliveryResponse:
        """Sends a callback again."""
        return cast(DeliveryResponse, self._send(calls.change(f"/v1/orders/{order}/deliveries/{n}/replay")))

    def save_search(self, **body: Unpack[SavedSearchBody]) -> SavedSearchResponse:
        """Saves a search that calls back; the same one again is the same."""
        return cast(SavedSearchResponse, self._send(calls.post_query("/v1/searches", body)))

    def list_saved_searches(self, **query: Any) -> SavedSearchesResponse:
        """A page of the token's saved searches, newest first, by `limit` and `cursor`."""
        return cast(SavedSearchesResponse, self._send(calls.get("/v1/searches", **query)))

    def get_saved_search(self, search: str) -> SavedSearchResponse:
        """One saved search."""
        return cast(SavedSearchResponse, self._send(calls.get(f"/v1/searches/{search}")))

    def delete_saved_search(self, search: str) -> RemovedSearchResponse:
        """Deletes a saved search, and what it was still to be told."""
        return cast(RemovedSearchResponse, self._send(calls.remove(f"/v1/searches/{search}")))

    def put_items(
        self, platform: int | str, items: Sequence[Mapping[str, Any]], *, visible: bool = False
    ) -> CatalogueResponse:
        """Puts new and changed items, at most 5,000; with `visible` it returns once searches show them."""
        call = calls.write("PUT", f"/v1/catalogue/{platform}/items", items, visible=visible)
        return cast(CatalogueResponse, self._send(call))

    def delete_items(
        self, platform: int | str, *, visible: bool = False, **body: Unpack[DeleteBody]
    ) -> CatalogueResponse:
        """Deletes items, at most 5,000; with `visible` it returns once no search shows them."""
        call = calls.write("DELETE", f"/v1/catalogue/{platform}/items", body, visible=visible)
        return cast(CatalogueResponse, self._send(call))

    def _send(self, call: Call) -> Any:
        try:
            for attempt in stamina.retry_context(on=call.pause_after, attempts=self._attempts, timeout=None):
                with attempt:
                    return _response_of(self._http.send(_request(self._http, call)))
        except httpx.TransportError as error:
            raise _unreachable(error) from error


class AsyncGearClient:
    """The service, for asyncio; otherwise as GearClient."""

    def __init__(self, url: str, token: str, *, timeout: float = TIMEOUT_SECONDS, attempts: int = ATTEMPTS) -> None:
        self._http = httpx.AsyncClient(base_url=url, headers=_headers(token), timeout=timeout)
        self._attempts = attempts

    async def __aenter__(self) -> "AsyncGearClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes all connections."""
        await self._http.aclose()

    async def search(self, **body: Unpack[SearchBody]) -> SearchResponse:
        """Items on offer by text and filters."""
        return cast(SearchResponse, await self._send(calls.post_query("/v1/gear/search", body)))

    async def search_all(self, **body: Unpack[SearchBody]) -> AsyncIterator[SearchHit]:
        """Every hit of a search, page after page, of one moment."""
        following: str | None = "*"
        while following is not None:
            response = await self.search(**cast(SearchBody, {"limit": PAGE, **body, "cursor": following}))
            for hit in response["gear"]:
                yield hit
            following = response.get("nextCursor")

    async def list_changes(self, **body: Unpack[ChangesBody]) -> ChangesResponse:
        """What came, changed and went since a bookmark, from now on without one; `wait` takes less than the timeout."""
        return cast(ChangesResponse, await self._send(calls.post_query("/v1/gear/changes", body)))

    async def follow_changes(self, **body: Unpack[ChangesBody]) -> AsyncIterator[ChangesResponse]:
        """The pages of changes, without end: keep `next` of each once its changes are applied, and resume from it."""
        while True:
            response = await self.list_changes(**cast(ChangesBody, {"limit": CHANGES, "wait": WAIT_SECONDS, **body}))
            yield response
            body["since"] = response["next"]

    async def get_suggestions(
        self, q: str, *, platform: int | str | None = None, limit: int | None = None
    ) -> SuggestResponse:
        """Names, weapons, finishes, collections and stickers that begin with a text."""
        call = calls.get("/v1/gear/suggest", q=q, platform=platform, limit=limit)
        return cast(SuggestResponse, await self._send(call))

    async def get_item(self, item: int, *, platform: int | str | None = None) -> ItemResponse:
        """One item, and whether it is on offer."""
        return cast(ItemResponse, await self._send(calls.get(f"/v1/gear/{item}", platform=platform)))

    async def get_prices(self, platform: int | str) -> PricesResponse:
        """What every name on offer costs."""
        return cast(PricesResponse, await self._send(calls.get("/v1/gear/prices", platform=platform)))

    async def list_platforms(self) -> PlatformsResponse:
        """The platforms, and every limit, sort and error code."""
        return cast(PlatformsResponse, await self._send(calls.get("/v1/platforms")))

    async def order_item(self, *, idempotency_key: str | None = None, **body: Unpack[OrderBody]) -> OrderResponse:
        """Orders one item."""
        return cast(OrderResponse, await self._send(calls.order("/v1/gear", body, idempotency_key)))

    async def order_cheapest_items(
        self, *, idempotency_key: str | None = None, **body: Unpack[CheapestBody]
    ) -> CheapestResponse:
        """Orders the cheapest items of a search, all or none."""
        return cast(CheapestResponse, await self._send(calls.order("/v1/gear/cheapest", body, idempotency_key)))

    async def get_order(self, order: str) -> OrderWithHistoryResponse:
        """One order with its history."""
        return cast(OrderWithHistoryResponse, await self._send(calls.get(f"/v1/orders/{order}")))

    async def list_orders(self, **query: Any) -> OrdersResponse:
        """A page of orders, newest first; the parameters are those of `GET /v1/orders`."""
        return cast(OrdersResponse, await self._send(calls.get("/v1/orders", **query)))

    async def transition_order(self, order: str, **body: Unpack[TransitionBody]) -> OrderResponse:
        """Moves an order to another state."""
        return cast(OrderResponse, await self._send(calls.change(f"/v1/orders/{order}/transitions", body)))

    async def get_fulfilment(self, order: str) -> FulfilmentResponse:
        """Where an order's item is sent to."""
        return cast(FulfilmentResponse, await self._send(calls.get(f"/v1/orders/{order}/fulfilment")))

    async def list_deliveries(self, order: str) -> DeliveriesResponse:
        """An order's callbacks."""
        return cast(DeliveriesResponse, await self._send(calls.get(f"/v1/orders/{order}/deliveries")))

    async def replay_delivery(self, order: str, n: int) -> DeliveryResponse:
        """Sends a callback again."""
        return cast(DeliveryResponse, await self._send(calls.change(f"/v1/orders/{order}/deliveries/{n}/replay")))

    async def save_search(self, **body: Unpack[SavedSearchBody]) -> SavedSearchResponse:
        """Saves a search that calls back; the same one again is the same."""
        return cast(SavedSearchResponse, await self._send(calls.post_query("/v1/searches", body)))

    async def list_saved_searches(self, **query: Any) -> SavedSearchesResponse:
        """A page of the token's saved searches, newest first, by `limit` and `cursor`."""
        return cast(SavedSearchesResponse, await self._send(calls.get("/v1/searches", **query)))

    async def get_saved_search(self, search: str) -> SavedSearchResponse:
        """One saved search."""
        return cast(SavedSearchResponse, await self._send(calls.get(f"/v1/searches/{search}")))

    async def delete_saved_search(self, search: str) -> RemovedSearchResponse:
        """Deletes a saved search, and what it was still to be told."""
        return cast(RemovedSearchResponse, await self._send(calls.remove(f"/v1/searches/{search}")))

    async def put_items(
        self, platform: int | str, items: Sequence[Mapping[str, Any]], *, visible: bool = False
    ) -> CatalogueResponse:
        """Puts new and changed items, at most 5,000; with `visible` it returns once searches show them."""
        call = calls.write("PUT", f"/v1/catalogue/{platform}/items", items, visible=visible)
        return cast(CatalogueResponse, await self._send(call))

    async def delete_items(
        self, platform: int | str, *, visible: bool = False, **body: Unpack[DeleteBody]
    ) -> CatalogueResponse:
        """Deletes items, at most 5,000; with `visible` it returns once no search shows them."""
        call = calls.write("DELETE", f"/v1/catalogue/{platform}/items", body, visible=visible)
        return cast(CatalogueResponse, await self._send(call))

    async def _send(self, call: Call) -> Any:
        try:
            async for attempt in stamina.retry_context(on=call.pause_after, attempts=self._attempts, timeout=None):
                with attempt:
                    return _response_of(await self._http.send(_request(self._http, call)))
        except httpx.TransportError as error:
            raise _unreachable(error) from error


def _headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "User-Agent": "gear-client-python/0.1"}


def _request(http: httpx.Client | httpx.AsyncClient, call: Call) -> httpx.Request:
    return http.build_request(call.method, call.path, json=call.body, params=call.query, headers=call.headers)


def _response_of(response: httpx.Response) -> Any:
    if response.is_success:
        with suppress(ValueError):  # as of a proxy's page
            return response.json()
    raise error_of(response)


def _unreachable(error: httpx.TransportError) -> ConnectionFailedError:
    return ConnectionFailedError(f"{type(error).__name__}: {error}")
