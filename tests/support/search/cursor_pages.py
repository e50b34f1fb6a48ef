"""Reads the pages of a cursor to the very end."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any

import httpx
from fastapi import FastAPI

from api.background.tasks import BackgroundTasks
from api.search.pagination.point_in_time import PointsInTime
from api.search.service import SearchServices
from tests.support.app import RunningApp

Search = Callable[[dict[str, Any]], Awaitable[httpx.Response]]


async def pages(search: Search, body: dict[str, Any], cursor: str = "*") -> AsyncIterator[dict[str, Any]]:
    """Every page; the walk ends where `nextCursor` is null."""
    following: str | None = cursor
    while following is not None:
        response = await search({**body, "cursor": following})
        assert response.status_code == 200, response.text
        page = response.json()
        assert set(page) - {"facets", "interpretation"} == {"status", "gear", "total", "nextCursor"}
        assert ("facets" in page, "interpretation" in page) == (bool(body.get("facets")), bool(body.get("explain")))
        yield page
        following = page["nextCursor"]


async def ids(search: Search, body: dict[str, Any]) -> tuple[list[int], set[int]]:
    """The ids of a whole walk in their order, and the totals that its pages told."""
    item_ids: list[int] = []
    totals: set[int] = set()
    async for page in pages(search, body):
        item_ids += [item["id"] for item in page["gear"]]
        totals.add(page["total"])
    return item_ids, totals


async def started(app: RunningApp, body: dict[str, Any]) -> str:
    """The cursor that the first page of a walk gives; there must be one."""
    response = await app.search({**body, "cursor": "*"})
    assert response.status_code == 200, response.text
    cursor: str = response.json()["nextCursor"]
    assert cursor
    return cursor


def keep_for(app: FastAPI, seconds: float, **options: float) -> None:
    """Has the app's cursors live only so long."""
    services: SearchServices = app.state.services[SearchServices]
    store = services.availability.store
    points_in_time = PointsInTime(services.engine, store, BackgroundTasks(), keep_seconds=seconds, **options)
    app.state.services[SearchServices] = replace(services, points_in_time=points_in_time)


async def points_in_time_of(app: FastAPI, cursors: Iterable[str]) -> set[str]:
    """The engine's views behind these cursors."""
    services: SearchServices = app.state.services[SearchServices]
    return {(await services.points_in_time.decode(cursor)).pit for cursor in cursors}
