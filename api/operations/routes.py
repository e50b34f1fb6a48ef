"""The route of `GET /v1/operations`."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response

from api.auth import OperateToken
from api.background.tasks import gather_or_cancel
from api.engine import state
from api.engine.client import Engine
from api.errors import ApiError
from api.http.dependencies import NoQuery, service
from api.http.json_body import json_response
from api.http.openapi import TOKEN_ERRORS, responses
from api.operations.schemas import OperationsResponse
from api.readiness import Readiness
from api.telemetry.backlogs import BacklogReader, Backlogs
from mappings.platforms import Platforms

router = APIRouter(tags=["operations"])


@dataclass(frozen=True)
class OperationsServices:
    engine: Engine
    platforms: Platforms
    backlogs: BacklogReader
    readiness: Readiness


OperationsDependency = Annotated[OperationsServices, Depends(service(OperationsServices))]


@router.get(
    "/v1/operations",
    summary="The state of the service, for its operators",
    responses=responses(OperationsResponse, *TOKEN_ERRORS),
)
async def get_operations(token: OperateToken, _: NoQuery, services: OperationsDependency) -> Response:
    """What serves each platform, who loads it, what loads and followers refused and why, what waits in the store, and
    whether the engine is well. What does not answer is null.
    """
    engine, backlogs, ready = await asyncio.gather(
        _engine(services.engine, services.platforms), services.backlogs.read(), services.readiness.check()
    )
    content = {
        "search": ready.search is None,
        "orders": ready.orders is None,
        **engine,
        "backlogs": None if backlogs is None else _waiting(backlogs),
    }
    return json_response(content)


async def _engine(engine: Engine, platforms: Platforms) -> dict[str, Any]:
    try:
        health = await state.health(engine)
        serving = await engine.generations(list(platforms))
        entries = []
        for platform in platforms:
            generation = serving.get(platform.id)
            index = None if generation is None else generation.index
            generations, work, progress = await gather_or_cancel(
                state.generations(engine, platform, index),
                state.work(engine, platform),
                state.progress_records(engine, platform),
            )
            entries.append(
                {
                    "id": platform.id,
                    "slug": platform.slug,
                    "generations": generations,
                    "work": work,
                    "intakes": progress,
                }
            )
    except ApiError:  # its cause has been logged
        return {"engine": None, "platforms": None}
    return {"engine": health, "platforms": entries}


def _waiting(backlogs: Backlogs) -> dict[str, Any]:
    return {
        "indexSyncPending": backlogs.index_sync_pending,
        "indexSyncSeconds": backlogs.index_sync_seconds,
        "callbacksOverdue": backlogs.callbacks_overdue,
        "callbacksOverdueSeconds": backlogs.callbacks_overdue_seconds,
        "callbacksFailed": sum(backlogs.callbacks_failed.values()),
        "activeOrders": sum(orders.count for orders in backlogs.active_orders),
    }
