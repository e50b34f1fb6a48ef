"""The routes of orders, of their callbacks, and of the buyer's page."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import RedirectResponse

from api.auth import FulfilToken, OrderOrFulfilToken, OrderToken, charge_address
from api.errors import ApiError
from api.http.dependencies import NoQuery, only_query
from api.http.fields import ResourceId, parse_item_id
from api.http.json_body import body_digest, body_of, json_response, request_body
from api.http.negotiation import is_unchanged
from api.http.openapi import BODY_ERRORS, TOKEN_ERRORS, responses
from api.list_pages import DEFAULT_LIMIT, Cursor, PageLimit, page_of, position_of
from api.orders import page
from api.orders.placing.idempotency import KEY_PARAMETER, REPLAYED_HEADER, Call, key_of
from api.orders.responses import history_entries, platform_of
from api.orders.schemas import (
    MAX_ACCOUNT_CHARACTERS,
    DeliveriesResponse,
    DeliveryResponse,
    FulfilmentResponse,
    OrderBody,
    OrderResponse,
    OrdersResponse,
    OrderWithHistoryResponse,
    TransitionBody,
)
from api.orders.service import Placed, entry_of, place_order, read_fulfilment
from api.orders.services import OrderDependency, OrderServices
from api.orders.transitions import move_order, visible
from mappings.items.item import Text
from mappings.timestamps import rfc3339
from store.orders import orders
from store.orders.orders import OrderFilter
from store.outbox import redelivery
from store.outbox.redelivery import Delivery
from store.records import Attempt, Order, OrderEvent
from store.states import State

router = APIRouter(tags=["orders"])
MAX_DIGITS = 9  # of a delivery's number, so that both databases can compare it
PLACING_ERRORS = (*BODY_ERRORS, "unknown_platform", "idempotency_key_reused", "too_many_orders", "search_unavailable")
"""What every operation that places orders may answer."""


OrderId = Annotated[ResourceId, Path(alias="id", description="the order's id")]
OfState = Annotated[State | None, Query(alias="state", description="only orders that are in this state")]
OfAccount = Annotated[
    Text | None,
    Query(min_length=1, max_length=MAX_ACCOUNT_CHARACTERS, description="only orders of this reference"),
]
OfItem = Annotated[str | None, Query(pattern=r"^-?[0-9]{1,19}$", description="only orders of the item with this id")]


@router.post(
    "/v1/gear",
    summary="Order an item",
    status_code=201,
    responses=responses(
        OrderResponse, *PLACING_ERRORS, "item_not_found", "item_unavailable", "price_changed", status=201
    ),
    openapi_extra={**request_body(OrderBody), "parameters": [KEY_PARAMETER]},
)
async def order_item(
    request: Request,
    token: OrderToken,
    _: NoQuery,
    key: Annotated[str | None, Depends(key_of)],
    body: Annotated[OrderBody, Depends(body_of(OrderBody))],
    services: OrderDependency,
) -> Response:
    """Binds the item to a new order: it is out of searches within 2 seconds, and nobody else can order it.

    Retries are safe. With an `Idempotency-Key` the first 201 is answered again, whatever has changed since; without
    one, the same body is answered with the order that it placed while that is active. `Idempotent-Replayed: true`
    marks both. A refusal is not kept, but it is final for what was sent before it: a call with the same key that is
    still on its way orders nothing any more.
    """
    placed = await place_order(services, token, body, Call(key, body_digest(request.state.json)))
    return placed_response(placed)


@router.get(
    "/v1/orders/{id}",
    summary="One order with its history",
    responses=responses(OrderWithHistoryResponse, *TOKEN_ERRORS, "order_not_found"),
)
async def get_order(order_id: OrderId, token: OrderOrFulfilToken, _: NoQuery, services: OrderDependency) -> Response:
    """The order as it is now; the scope `order` sees its own token's orders, `fulfil` sees all."""
    async with services.store.reading() as connection:
        order = await visible(connection, token, order_id)
        events = await orders.events(connection, order.id)
    return _with_history(services, order, events)


@router.get(
    "/v1/orders",
    summary="Orders, newest first",
    responses=responses(OrdersResponse, *TOKEN_ERRORS),
)
async def list_orders(
    token: OrderOrFulfilToken,
    _: Annotated[None, Depends(only_query("state", "account", "item", "limit", "cursor"))],
    services: OrderDependency,
    state: OfState = None,
    account: OfAccount = None,
    item: OfItem = None,
    limit: PageLimit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Response:
    """A page of the orders that have all of this; the scope `order` lists its own token's orders, `fulfil` all."""
    after = position_of(cursor)
    number = None if item is None else parse_item_id(item)
    rows: Sequence[Order] = ()
    if item is None or number is not None:  # else it is no id in canonical form: no order is of such an item
        owner = None if "fulfil" in token.scopes and not token.sandbox else token.id
        wanted = OrderFilter(sandbox=token.sandbox, token_id=owner, state=state, account=account, item=number)
        async with services.store.reading() as connection:
            rows = await orders.list_newest(connection, wanted, after, limit + 1)
    listed, following = page_of(rows, limit)
    return json_response({"orders": [entry_of(services, order) for order in listed], "nextCursor": following})


@router.post(
    "/v1/orders/{id}/transitions",
    summary="Move an order to another state",
    responses=responses(OrderWithHistoryResponse, *BODY_ERRORS, "order_not_found", "invalid_transition"),
    openapi_extra=request_body(TransitionBody),
)
async def transition_order(
    order_id: OrderId,
    token: OrderOrFulfilToken,
    _: NoQuery,
    body: Annotated[TransitionBody, Depends(body_of(TransitionBody))],
    services: OrderDependency,
) -> Response:
    """Moves the order: any way that exists with the scope `fulfil`; its own token may cancel it while it is `created`.

    An order is never moved to the state that it is in: where the answer to a call was lost and the call is made
    again, the 409 says that the order is there already.
    """
    order, events = await move_order(services, token, order_id, body)
    if not order.sandbox:
        services.metrics.count_transitions(order.state)
    services.wake_workers()
    return _with_history(services, order, events)


@router.get(
    "/v1/orders/{id}/fulfilment",
    summary="Where an order's item is sent to",
    responses=responses(FulfilmentResponse, *TOKEN_ERRORS, "order_not_found", "personal_data_erased"),
)
async def get_fulfilment(order_id: OrderId, token: FulfilToken, _: NoQuery, services: OrderDependency) -> Response:
    """The buyer's data, which no other response has. Each read is recorded with the token that made it."""
    return json_response(await read_fulfilment(services, token, order_id))


@router.get(
    "/v1/orders/{id}/deliveries",
    summary="An order's callbacks",
    responses=responses(DeliveriesResponse, *TOKEN_ERRORS, "order_not_found"),
)
async def list_deliveries(
    order_id: OrderId, token: OrderOrFulfilToken, _: NoQuery, services: OrderDependency
) -> Response:
    """The callback of each event of the order, with every attempt."""
    async with services.store.reading() as connection:
        order = await visible(connection, token, order_id)
        log = await redelivery.of_order(connection, order.id)
    return json_response({"deliveries": [delivery_entry(delivery) for delivery in log]})


@router.post(
    "/v1/orders/{id}/deliveries/{n}/replay",
    summary="Send a callback again",
    status_code=202,
    responses=responses(
        DeliveryResponse,
        *TOKEN_ERRORS,
        "bad_request",
        "order_not_found",
        "delivery_not_found",
        status=202,
    ),
)
async def replay_delivery(
    order_id: OrderId,
    number: Annotated[str, Path(alias="n", description="the delivery's `n`")],
    token: OrderOrFulfilToken,
    _: NoQuery,
    services: OrderDependency,
) -> Response:
    """Sends the event again at once, whatever became of it, with the same `webhook-id` and a new round of attempts."""
    is_number = number.isascii() and number.isdigit() and len(number) <= MAX_DIGITS
    async with services.store.transaction() as connection:
        order = await visible(connection, token, order_id)
        delivery = await redelivery.replay(connection, order.id, int(number), datetime.now(UTC)) if is_number else None
    if delivery is None:
        raise ApiError("delivery_not_found")
    services.wake_workers()
    return json_response({"delivery": delivery_entry(delivery)}, 202)


@router.get("/orders/{status_key}", include_in_schema=False, dependencies=[Depends(charge_address)])
async def order_page(
    request: Request,
    status_key: ResourceId,
    _: Annotated[None, Depends(only_query("language"))],
    services: OrderDependency,
    language: str | None = None,
) -> Response:
    """The order's page for its buyer, who has its unguessable address and no token, in their language."""
    async with services.store.reading() as connection:
        order = await orders.get_by_status_key(connection, status_key)
    if order is None:
        raise ApiError("order_not_found", "no order has this address")
    target = page.next_url(order)
    if target is not None:
        return RedirectResponse(target, 303, page.headers(order))
    spoken = page.language_of(language, request.headers.get("Accept-Language", ""))
    content = page.render(order, platform_of(order, services.platforms), spoken)
    version = page.version_of(content)
    headers = {**page.headers(order), "ETag": version, "Content-Language": spoken, "Vary": "Accept-Language"}
    if is_unchanged(request.headers.get("If-None-Match", ""), version):
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type="text/html")


def _with_history(services: OrderServices, order: Order, events: Sequence[OrderEvent]) -> Response:
    return json_response({"order": {**entry_of(services, order), "history": history_entries(events)}})


def placed_response(placed: Placed) -> Response:
    """The 201, marked where an earlier call placed what it says."""
    headers = {"Location": f"/v1/orders/{placed.order_id}", **({REPLAYED_HEADER: "true"} if placed.replayed else {})}
    return Response(placed.response, 201, headers, "application/json")


def delivery_entry(delivery: Delivery) -> dict[str, Any]:
    next_attempt_at = delivery.next_attempt_at
    return {
        "n": delivery.n,
        "event": delivery.event,
        "state": delivery.state,
        "attempts": [_attempt_entry(attempt) for attempt in delivery.attempts],
        "nextAttemptAt": None if next_attempt_at is None else rfc3339(next_attempt_at),
    }


def _attempt_entry(attempt: Attempt) -> dict[str, Any]:
    return {
        "at": rfc3339(attempt.at),
        "outcome": attempt.outcome,
        "statusCode": attempt.status_code,
        "milliseconds": attempt.milliseconds,
    }
