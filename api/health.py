"""Health: whether this process lives, and whether it can do its work."""

import asyncio
from typing import Annotated, Literal

import orjson
from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel

from api.http.openapi import answers
from api.http.query_params import only_query
from api.services import Services, services_of

router = APIRouter(tags=["health"], dependencies=[Depends(only_query())])
_WELL = orjson.dumps({"status": "success"})


class Well(BaseModel):
    """All is well."""

    status: Literal["success"]


@router.get(
    "/health/live", summary="The process lives", responses=answers(Well, {"status": "success"}, "validation_failed")
)
async def live() -> Response:
    """Answers as long as the process can answer at all."""
    return Response(_WELL, media_type="application/json")


@router.get(
    "/health/ready",
    summary="The process can work",
    responses=answers(Well, {"status": "success"}, "validation_failed", "search_unavailable", "store_unavailable"),
)
async def ready(services: Annotated[Services, Depends(services_of)]) -> Response:
    """Asks the engine for every platform's index and the store for its schema."""
    await asyncio.gather(services.engine.ready(list(services.platforms)), services.store.check())
    return Response(_WELL, media_type="application/json")
