"""Items in a real index behind a running app."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from opensearchpy import AsyncTransport

from mappings.fields import FILTERS, Kind
from tests.support.exact_json import dumps
from tests.support.load import serving_items
from tests.support.search.items import make_items

ITEMS = 400


@dataclass(frozen=True)
class SearchedItems:
    """The items, the values that each filter has in them, and the app that searches them."""

    items: list[dict[str, Any]]
    values: dict[str, list[Any]]
    client: httpx.Client
    prefix: str = ""  # of their index

    def ask(self, body: dict[str, Any]) -> dict[str, Any]:
        """The answer to a search that must succeed; decimals are sent as they are written."""
        response = self.client.post(
            "/v1/gear/search", content=dumps(body), headers={"Content-Type": "application/json"}
        )
        assert response.status_code == 200, response.text
        response_json: dict[str, Any] = response.json()
        return response_json

    def search(self, body: dict[str, Any]) -> tuple[list[dict[str, Any]], int]:
        """The hits and the total of a search that asks for nothing else and must succeed."""
        response_json = self.ask(body)
        assert set(response_json) == {"status", "gear", "total"}
        return response_json["gear"], response_json["total"]


def known_of(items: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """The values that items have for the filters that are lists."""
    return {
        row.name: sorted({row.value_in(item) for item in items} - {None})
        for row in FILTERS
        if row.kind in (Kind.FOLDED, Kind.EXACT, Kind.INTEGER)
    }


@pytest.fixture(scope="module")
def searched_items(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchedItems]:
    """400 items made by a seed, loaded as an operator loads them."""
    items = make_items(ITEMS, seed=7)
    with serving_items(opensearch_url, items, tmp_path_factory.mktemp("search")) as (client, prefix):
        yield SearchedItems(items, known_of(items), client, prefix)


@pytest.fixture
def engine_requests(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Every search that the service sends to the engine (what it caches itself: test_response_cache.py)."""
    sent: list[dict[str, Any]] = []
    perform = AsyncTransport.perform_request

    async def noted(self: AsyncTransport, method: str, url: str, **more: Any) -> Any:
        response = await perform(self, method, url, **more)
        if "/_stats/" not in url:  # whether anything changed, also for an app of other tests
            sent.append(
                {"path": url, "params": more.get("params") or {}, "body": more.get("body"), "response": response}
            )
        return response

    monkeypatch.setattr(AsyncTransport, "perform_request", noted)
    return sent


def headers_of(items: SearchedItems) -> dict[str, str]:
    """The headers of a request of its client, for a client of another kind."""
    return {"Authorization": items.client.headers["Authorization"], "Content-Type": "application/json"}
