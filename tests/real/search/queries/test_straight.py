"""A search is straight: few modules, and few returns to one that was left (docs/decisions/0046)."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.app import RunningApp
from tests.support.search.items import make_items
from tests.support.search.serving import serving
from tests.support.search.visits import Visits, returns

MAX_MODULES = 12
MAX_RETURNS = 10
FILTERS = {"exterior": ["Field-Tested"], "price": {"max": 50}}


@pytest.fixture(scope="module")
async def app(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningApp]:
    folder: Path = tmp_path_factory.mktemp("straight")
    async with serving(opensearch_url, folder, make_items(200, 1)) as (app, _):
        yield app


@pytest.mark.parametrize(
    "body",
    [
        {"filters": FILTERS, "sort": "price_asc"},
        {"filters": FILTERS, "sort": "price_desc"},
        {"filters": {"price": {"max": 2000}}, "query": "ak redline under 2500", "sort": "price_asc"},
    ],
    ids=["filters", "price_desc", "text"],
)
async def test_a_search_visits_few_modules_and_rarely_comes_back(app: RunningApp, body: dict[str, Any]) -> None:
    await app.search({**body, "limit": 1})  # makes what is made once
    visits = Visits()
    with visits.recorded():
        response = await app.search(body)
    assert response.json()["gear"], response.text
    stays = visits.modules()
    assert {"routes.py", "service.py", "query/request.py"} <= set(stays), stays
    assert len(set(stays)) <= MAX_MODULES, "\n".join(sorted(set(stays)))
    assert returns(stays) <= MAX_RETURNS, "\n".join(stays)
