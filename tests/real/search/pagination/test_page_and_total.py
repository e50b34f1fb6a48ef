"""The page and the number of hits are two questions to the engine, and agree whatever happens between them."""

import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from api.engine.client import Engine
from api.engine.responses import EngineResponse
from api.search import price_desc
from api.search.price_desc import PriceHistogram
from api.search.service import SearchServices
from mappings.connection import SearchSettings, connect
from tests.support.api.catalogue import put_index, simple_item
from tests.support.api.platform_files import platform_folder
from tests.support.app import running, settings_for
from tests.support.indices import drop_indices


class ChangingEngine(Engine):
    """The real engine, with an item that comes or goes after the page was read and before its number is."""

    def __init__(self, settings: SearchSettings, change: Any) -> None:
        super().__init__(settings, timeout=30)
        self.change = change

    async def search_all(self, platforms: Any, bodies: Any, *parts: str) -> list[EngineResponse]:
        before = await super().search_all(platforms, bodies, *parts)
        if self.change is None:
            return before
        self.change()
        self.change = None
        after = await super().search_all(platforms, bodies, *parts)
        return [before[0], after[1]]


@pytest.mark.parametrize("comes", [False, True], ids=["goes", "comes"])
@pytest.mark.parametrize("limit", [3, 20])
async def test_a_page_and_its_number_are_of_one_moment(
    opensearch_url: str, tmp_path: Path, comes: bool, limit: int
) -> None:
    response = await _found_while_one(opensearch_url, tmp_path, {"limit": limit}, "comes" if comes else "goes", 1)
    assert len(response["gear"]) == min(limit, response["total"])
    if limit == 20:
        assert response["total"] == (4 if comes else 2)


async def test_hits_above_a_bound_are_no_page_though_the_number_would_fit(
    opensearch_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def histogram(*_: Any) -> PriceHistogram:
        return PriceHistogram((0,) * 7 + (20,), initial_window=4)  # from 128 minor units on: two of the three

    monkeypatch.setattr(price_desc.PriceHistograms, "of", histogram)
    response = await _found_while_one(opensearch_url, tmp_path, {"sort": "price_desc", "limit": 4}, "goes", 3)
    assert ([item["id"] for item in response["gear"]], response["total"]) == ([2, 1], 2)


async def _found_while_one(
    opensearch_url: str, folder: Path, body: dict[str, Any], moves: str, number: int
) -> dict[str, Any]:
    """The answer, of three items at 1, 2 and 3, while this one goes or one comes like it between page and number."""
    prefix = f"t{secrets.token_hex(5)}"
    files = platform_folder(folder, (570, "dota2", "USD", 2))
    settings = settings_for(opensearch_url, prefix, folder, platform_files=files)
    client = connect(settings)
    try:
        async with running(settings) as app:
            services = app.app.state.services
            platform = services[SearchServices].platforms.by_id(570)
            put_index(settings, platform, [simple_item(item_id, float(item_id), "Thing") for item_id in range(1, 4)])
            alias = settings.alias(570)

            def change() -> None:
                if moves == "comes":
                    source = client.get(index=alias, id="3")["_source"]
                    source["id"] = 9
                    client.index(index=alias, id="9", body=source, params={"refresh": "true"})
                else:
                    client.delete(index=alias, id=str(number), params={"refresh": "true"})

            engine = ChangingEngine(settings, change)
            services[SearchServices] = replace(services[SearchServices], engine=engine)
            response: dict[str, Any] = (await app.search({"platform": 570, **body})).json()
            await engine.close()
            assert engine.change is None
            return response
    finally:
        client.close()
        drop_indices(opensearch_url, prefix)
