"""Liveness and readiness."""

import asyncio
from typing import Annotated, Literal

import orjson
from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel

from api.http.openapi import answers
from api.http.query_params import only_query
from api.services import Services, services_of

router = APIRouter(tags=["health"], dependencies=[Depends(only_query())])
_SUCCESS = orjson.dumps({"status": "success"})


class Healthy(BaseModel):
    """The success of a health check."""

    status: Literal["success"]


@router.get(
    "/health/live", summary="The process lives", responses=answers(Healthy, {"status": "success"}, "validation_failed")
)
async def live() -> Response:
    """Succeeds as long as the process runs."""
    return Response(_SUCCESS, media_type="application/json")


@router.get(
    "/health/ready",
    summary="The process can work",
    responses=answers(Healthy, {"status": "success"}, "validation_failed", "search_unavailable", "store_unavailable"),
)
async def ready(services: Annotated[Services, Depends(services_of)]) -> Response:
    """Checks the index of every platform and the schema of the store."""
    await asyncio.gather(services.engine.ready(list(services.platforms)), services.store.check())
    return Response(_SUCCESS, media_type="application/json")
