"""Liveness and readiness."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel

from api.auth import charge_address
from api.errors import ApiError
from api.http.dependencies import only_query, service
from api.http.fields import success
from api.http.json_body import json_response
from api.http.openapi import NO_TOKEN, responses
from api.readiness import Readiness

router = APIRouter(tags=["health"])
Capability = Literal["search", "orders"]


Healthy = success("Healthy", "The success of a health check.", BaseModel)
Ready = success("Ready", "What the process can do.", BaseModel, search=bool, orders=bool)


@router.get(
    "/health/live",
    summary="The process lives",
    responses=responses(Healthy, "validation_failed"),
    dependencies=[Depends(only_query())],
    openapi_extra=NO_TOKEN,
)
async def get_liveness() -> Response:
    """Succeeds as long as the process runs."""
    return json_response({})


@router.get(
    "/health/ready",
    summary="The process can work",
    responses=responses(Ready, "validation_failed", "rate_limited", "search_unavailable", "store_unavailable"),
    dependencies=[Depends(charge_address), Depends(only_query("for"))],
    openapi_extra=NO_TOKEN,
)
async def get_readiness(
    request: Request,
    readiness: Annotated[Readiness, Depends(service(Readiness))],
    wanted: Annotated[Capability | None, Query(alias="for", description="the one that is needed")] = None,
) -> Response:
    """Whether searches and new orders work; 503 where neither does, or where the one that `for` names does not.

    It checks the index of every platform and the schema of the store. The response may be a second old. A server that
    is about to stop is not ready, though it serves.
    """
    if request.app.state.drain.is_draining:
        raise ApiError("overloaded", "the server is stopping")
    state = await readiness.check()
    works = {"search": state.search is None, "orders": state.orders is None}
    error = state.orders if wanted == "orders" else state.search
    if error is not None and (wanted is not None or not any(works.values())):
        raise ApiError(error.code)  # the reason is in the log: anybody may ask
    return json_response(works)
