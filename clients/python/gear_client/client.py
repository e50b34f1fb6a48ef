"""The clients: each method is one operation of the HTTP API and takes its fields by their names there."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, Unpack, cast

import httpx
import stamina

from gear_client import calls
from gear_client.calls import Call
from gear_client.errors import ConnectionFailedError, error_of
from gear_client.models import (
    CatalogueAnswer,
    ChangesAnswer,
    ChangesBody,
    CheapestAnswer,
    CheapestBody,
    DeleteBody,
    DeliveriesAnswer,
    DeliveryAnswer,
    FulfilmentAnswer,
    ItemAnswer,
    OrderAnswer,
    OrderBody,
    OrdersAnswer,
    OrderWithHistoryAnswer,
    PlatformsAnswer,
    PricesAnswer,
    RemovedSearchAnswer,
    SavedSearchAnswer,
    SavedSearchBody,
    SavedSearchesAnswer,
    SearchAnswer,
    SearchBody,
    SearchHit,
    SuggestAnswer,
    TransitionBody,
)

TIMEOUT_SECONDS = 30.0
ATTEMPTS = 5
PAGE = 100
CHANGES = 1000
WAIT_SECONDS = 20  # below the deadline of a call


class GearClient:
    """The service, blocking. Raises GearError where it refuses a call, ConnectionFailedError where no answer comes.

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

    def search(self, **body: Unpack[SearchBody]) -> SearchAnswer:
        """Items on offer by text and filters."""
        return cast(SearchAnswer, self._send(calls.question("/v1/gear/search", body)))

    def search_all(self, **body: Unpack[SearchBody]) -> Iterator[SearchHit]:
        """Every hit of a search, page after page, of one moment."""
        following: str | None = "*"
        while following is not None:
            answer = self.search(**cast(SearchBody, {"limit": PAGE, **body, "cursor": following}))
            yield from answer["gear"]
            following = answer.get("nextCursor")

    def list_changes(self, **body: Unpack[ChangesBody]) -> ChangesAnswer:
        """What came, changed and went since a bookmark, from now on without one; `wait` takes less than the timeout."""
        return cast(ChangesAnswer, self._send(calls.question("/v1/gear/changes", body)))

    def follow_changes(self, **body: Unpack[ChangesBody]) -> Iterator[ChangesAnswer]:
        """The pages of changes, without end: keep `next` of each once its changes are applied, and resume from it."""
        while True:
            answer = self.list_changes(**cast(ChangesBody, {"limit": CHANGES, "wait": WAIT_SECONDS, **body}))
            yield answer
            body["since"] = answer["next"]

    def get_suggestions(self, q: str, *, platform: int | str | None = None, limit: int | None = None) -> SuggestAnswer:
        """Names, weapons, finishes, collections and stickers that begin with a text."""
        return cast(SuggestAnswer, self._send(calls.get("/v1/gear/suggest", q=q, platform=platform, limit=limit)))

    def get_item(self, item: int, *, platform: int | str | None = None) -> ItemAnswer:
        """One item, and whether it is on offer."""
        return cast(ItemAnswer, self._send(calls.get(f"/v1/gear/{item}", platform=platform)))

    def get_prices(self, platform: int | str) -> PricesAnswer:
        """What every name on offer costs."""
        return cast(PricesAnswer, self._send(calls.get("/v1/gear/prices", platform=platform)))

    def list_platforms(self) -> PlatformsAnswer:
        """The platforms, and every limit, sort and error code."""
        return cast(PlatformsAnswer, self._send(calls.get("/v1/platforms")))

    def order_item(self, *, idempotency_key: str | None = None, **body: Unpack[OrderBody]) -> OrderAnswer:
        """Orders one item."""
        return cast(OrderAnswer, self._send(calls.order("/v1/gear", body, idempotency_key)))

    def order_cheapest_items(
        self, *, idempotency_key: str | None = None, **body: Unpack[CheapestBody]
    ) -> CheapestAnswer:
        """Orders the cheapest items of a search, all or none."""
        return cast(CheapestAnswer, self._send(calls.order("/v1/gear/cheapest", body, idempotency_key)))

    def get_order(self, order: str) -> OrderWithHistoryAnswer:
        """One order with its history."""
        return cast(OrderWithHistoryAnswer, self._send(calls.get(f"/v1/orders/{order}")))

    def list_orders(self, **query: Any) -> OrdersAnswer:
        """A page of orders, newest first; the parameters are those of `GET /v1/orders`."""
        return cast(OrdersAnswer, self._send(calls.get("/v1/orders", **query)))

    def transition_order(self, order: str, **body: Unpack[TransitionBody]) -> OrderAnswer:
        """Moves an order to another state."""
        return cast(OrderAnswer, self._send(calls.change(f"/v1/orders/{order}/transitions", body)))

    def get_fulfilment(self, order: str) -> FulfilmentAnswer:
        """Where an order's item is sent to."""
        return cast(FulfilmentAnswer, self._send(calls.get(f"/v1/orders/{order}/fulfilment")))

    def list_deliveries(self, order: str) -> DeliveriesAnswer:
        """An order's callbacks."""
        return cast(DeliveriesAnswer, self._send(calls.get(f"/v1/orders/{order}/deliveries")))

    def replay_delivery(self, order: str, n: int) -> DeliveryAnswer:
        """Sends a callback again."""
        return cast(DeliveryAnswer, self._send(calls.change(f"/v1/orders/{order}/deliveries/{n}/replay")))

    def save_search(self, **body: Unpack[SavedSearchBody]) -> SavedSearchAnswer:
        """Saves a search that calls back; the same one again is the same."""
        return cast(SavedSearchAnswer, self._send(calls.question("/v1/searches", body)))

    def list_saved_searches(self, **query: Any) -> SavedSearchesAnswer:
        """A page of the token's saved searches, newest first, by `limit` and `cursor`."""
        return cast(SavedSearchesAnswer, self._send(calls.get("/v1/searches", **query)))

    def get_saved_search(self, search: str) -> SavedSearchAnswer:
        """One saved search."""
        return cast(SavedSearchAnswer, self._send(calls.get(f"/v1/searches/{search}")))

    def delete_saved_search(self, search: str) -> RemovedSearchAnswer:
        """Deletes a saved search, and what it was still to be told."""
        return cast(RemovedSearchAnswer, self._send(calls.remove(f"/v1/searches/{search}")))

    def put_items(
        self, platform: int | str, items: Sequence[Mapping[str, Any]], *, visible: bool = False
    ) -> CatalogueAnswer:
        """Puts new and changed items, at most 5,000; with `visible` it returns once searches show them."""
        call = calls.write("PUT", f"/v1/catalogue/{platform}/items", items, visible=visible)
        return cast(CatalogueAnswer, self._send(call))

    def delete_items(
        self, platform: int | str, *, visible: bool = False, **body: Unpack[DeleteBody]
    ) -> CatalogueAnswer:
        """Deletes items, at most 5,000; with `visible` it returns once no search shows them."""
        call = calls.write("DELETE", f"/v1/catalogue/{platform}/items", body, visible=visible)
        return cast(CatalogueAnswer, self._send(call))

    def _send(self, call: Call) -> Any:
        try:
            for attempt in stamina.retry_context(on=call.pause_after, attempts=self._attempts, timeout=None):
                with attempt:
                    return _answer_of(self._http.send(_request(self._http, call)))
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

    async def search(self, **body: Unpack[SearchBody]) -> SearchAnswer:
        """Items on offer by text and filters."""
        return cast(SearchAnswer, await self._send(calls.question("/v1/gear/search", body)))

    async def search_all(self, **body: Unpack[SearchBody]) -> AsyncIterator[SearchHit]:
        """Every hit of a search, page after page, of one moment."""
        following: str | None = "*"
        while following is not None:
            answer = await self.search(**cast(SearchBody, {"limit": PAGE, **body, "cursor": following}))
            for hit in answer["gear"]:
                yield hit
            following = answer.get("nextCursor")

    async def list_changes(self, **body: Unpack[ChangesBody]) -> ChangesAnswer:
        """What came, changed and went since a bookmark, from now on without one; `wait` takes less than the timeout."""
        return cast(ChangesAnswer, await self._send(calls.question("/v1/gear/changes", body)))

    async def follow_changes(self, **body: Unpack[ChangesBody]) -> AsyncIterator[ChangesAnswer]:
        """The pages of changes, without end: keep `next` of each once its changes are applied, and resume from it."""
        while True:
            answer = await self.list_changes(**cast(ChangesBody, {"limit": CHANGES, "wait": WAIT_SECONDS, **body}))
            yield answer
            body["since"] = answer["next"]

    async def get_suggestions(
        self, q: str, *, platform: int | str | None = None, limit: int | None = None
    ) -> SuggestAnswer:
        """Names, weapons, finishes, collections and stickers that begin with a text."""
        call = calls.get("/v1/gear/suggest", q=q, platform=platform, limit=limit)
        return cast(SuggestAnswer, await self._send(call))

    async def get_item(self, item: int, *, platform: int | str | None = None) -> ItemAnswer:
        """One item, and whether it is on offer."""
        return cast(ItemAnswer, await self._send(calls.get(f"/v1/gear/{item}", platform=platform)))

    async def get_prices(self, platform: int | str) -> PricesAnswer:
        """What every name on offer costs."""
        return cast(PricesAnswer, await self._send(calls.get("/v1/gear/prices", platform=platform)))

    async def list_platforms(self) -> PlatformsAnswer:
        """The platforms, and every limit, sort and error code."""
        return cast(PlatformsAnswer, await self._send(calls.get("/v1/platforms")))

    async def order_item(self, *, idempotency_key: str | None = None, **body: Unpack[OrderBody]) -> OrderAnswer:
        """Orders one item."""
        return cast(OrderAnswer, await self._send(calls.order("/v1/gear", body, idempotency_key)))

    async def order_cheapest_items(
        self, *, idempotency_key: str | None = None, **body: Unpack[CheapestBody]
    ) -> CheapestAnswer:
        """Orders the cheapest items of a search, all or none."""
        return cast(CheapestAnswer, await self._send(calls.order("/v1/gear/cheapest", body, idempotency_key)))

    async def get_order(self, order: str) -> OrderWithHistoryAnswer:
        """One order with its history."""
        return cast(OrderWithHistoryAnswer, await self._send(calls.get(f"/v1/orders/{order}")))

    async def list_orders(self, **query: Any) -> OrdersAnswer:
        """A page of orders, newest first; the parameters are those of `GET /v1/orders`."""
        return cast(OrdersAnswer, await self._send(calls.get("/v1/orders", **query)))

    async def transition_order(self, order: str, **body: Unpack[TransitionBody]) -> OrderAnswer:
        """Moves an order to another state."""
        return cast(OrderAnswer, await self._send(calls.change(f"/v1/orders/{order}/transitions", body)))

    async def get_fulfilment(self, order: str) -> FulfilmentAnswer:
        """Where an order's item is sent to."""
        return cast(FulfilmentAnswer, await self._send(calls.get(f"/v1/orders/{order}/fulfilment")))

    async def list_deliveries(self, order: str) -> DeliveriesAnswer:
        """An order's callbacks."""
        return cast(DeliveriesAnswer, await self._send(calls.get(f"/v1/orders/{order}/deliveries")))

    async def replay_delivery(self, order: str, n: int) -> DeliveryAnswer:
        """Sends a callback again."""
        return cast(DeliveryAnswer, await self._send(calls.change(f"/v1/orders/{order}/deliveries/{n}/replay")))

    async def save_search(self, **body: Unpack[SavedSearchBody]) -> SavedSearchAnswer:
        """Saves a search that calls back; the same one again is the same."""
        return cast(SavedSearchAnswer, await self._send(calls.question("/v1/searches", body)))

    async def list_saved_searches(self, **query: Any) -> SavedSearchesAnswer:
        """A page of the token's saved searches, newest first, by `limit` and `cursor`."""
        return cast(SavedSearchesAnswer, await self._send(calls.get("/v1/searches", **query)))

    async def get_saved_search(self, search: str) -> SavedSearchAnswer:
        """One saved search."""
        return cast(SavedSearchAnswer, await self._send(calls.get(f"/v1/searches/{search}")))

    async def delete_saved_search(self, search: str) -> RemovedSearchAnswer:
        """Deletes a saved search, and what it was still to be told."""
        return cast(RemovedSearchAnswer, await self._send(calls.remove(f"/v1/searches/{search}")))

    async def put_items(
        self, platform: int | str, items: Sequence[Mapping[str, Any]], *, visible: bool = False
    ) -> CatalogueAnswer:
        """Puts new and changed items, at most 5,000; with `visible` it returns once searches show them."""
        call = calls.write("PUT", f"/v1/catalogue/{platform}/items", items, visible=visible)
        return cast(CatalogueAnswer, await self._send(call))

    async def delete_items(
        self, platform: int | str, *, visible: bool = False, **body: Unpack[DeleteBody]
    ) -> CatalogueAnswer:
        """Deletes items, at most 5,000; with `visible` it returns once no search shows them."""
        call = calls.write("DELETE", f"/v1/catalogue/{platform}/items", body, visible=visible)
        return cast(CatalogueAnswer, await self._send(call))

    async def _send(self, call: Call) -> Any:
        try:
            async for attempt in stamina.retry_context(on=call.pause_after, attempts=self._attempts, timeout=None):
                with attempt:
                    return _answer_of(await self._http.send(_request(self._http, call)))
        except httpx.TransportError as error:
            raise _unreachable(error) from error


def _headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "User-Agent": "gear-client-python/0.1"}


def _request(http: httpx.Client | httpx.AsyncClient, call: Call) -> httpx.Request:
    return http.build_request(call.method, call.path, json=call.body, params=call.query, headers=call.headers)


def _answer_of(response: httpx.Response) -> Any:
    if response.is_success:
        return response.json()
    raise error_of(response)


def _unreachable(error: httpx.TransportError) -> ConnectionFailedError:
    return ConnectionFailedError(f"{type(error).__name__}: {error}")
