"""The routes of an order's callbacks: their log, and redelivery."""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from api.auth import OrderOrFulfilToken
from api.errors import ApiError
from api.http.dependencies import NoQuery
from api.http.json_body import json_response
from api.http.openapi import TOKEN_ERRORS, responses
from api.orders.routes import OrderId, WakeWorkers
from api.orders.schemas import DeliveriesResponse, DeliveryResponse
from api.orders.services import OrderDependency
from api.orders.transitions import visible
from mappings.timestamps import rfc3339
from store.outbox import redelivery
from store.outbox.redelivery import Delivery
from store.records import Attempt

router = APIRouter(tags=["orders"])
MAX_DIGITS = 9  # of a delivery's number, so that both databases can compare it


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
    wake_workers: WakeWorkers,
) -> Response:
    """Sends the event again at once, whatever became of it, with the same `webhook-id` and a new round of attempts."""
    is_number = number.isascii() and number.isdigit() and len(number) <= MAX_DIGITS
    async with services.store.transaction() as connection:
        order = await visible(connection, token, order_id)
        delivery = await redelivery.replay(connection, order.id, int(number), datetime.now(UTC)) if is_number else None
    if delivery is None:
        raise ApiError("delivery_not_found")
    wake_workers()
    return json_response({"delivery": delivery_entry(delivery)}, 202)


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
