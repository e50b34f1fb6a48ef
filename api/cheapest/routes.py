"""The route of `POST /v1/gear/cheapest`."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from api.auth import OrderToken
from api.cheapest.schemas import CheapestBody, CheapestResponse
from api.cheapest.service import CheapestDependency, order_cheapest
from api.http.dependencies import NoQuery, service_of
from api.http.json_body import body_digest, body_of, request_body
from api.http.openapi import responses
from api.orders.placing.idempotency import KEY_PARAMETER, Call, key_of
from api.orders.routes import PLACING_ERRORS, placed_response
from api.rate_limits.limits import RateLimits

router = APIRouter(tags=["orders"])


@router.post(
    "/v1/gear/cheapest",
    summary="Order the cheapest items of a search",
    status_code=201,
    responses=responses(CheapestResponse, *PLACING_ERRORS, "not_enough", status=201),
    openapi_extra={**request_body(CheapestBody), "parameters": [KEY_PARAMETER]},
)
async def order_cheapest_items(
    request: Request,
    token: OrderToken,
    _: NoQuery,
    key: Annotated[str | None, Depends(key_of)],
    body: Annotated[CheapestBody, Depends(body_of(CheapestBody))],
    services: CheapestDependency,
) -> Response:
    """Binds the `count` cheapest items that the search finds at `maxPrice` or less, each to an order of its own: all of
    them, or none and a 409 `not_enough` with `error.available`.

    Retries are safe as those of `POST /v1/gear`: with an `Idempotency-Key` the first 201 is answered again. Without
    one, the same body is answered with its orders while one of them is `created` or `processing`.
    """
    call = Call(key, body_digest(request.state.json))
    with service_of(request, RateLimits).search_slot(request.scope, token) as charge:
        await charge(body.count - 1)
        placed = await order_cheapest(services, token, body, call)
    return placed_response(placed)
