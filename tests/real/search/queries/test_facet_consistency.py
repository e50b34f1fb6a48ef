"""The page and its facets are several questions to the engine, and agree whatever happens between them."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from api.search.service import CONTRADICTION
from mappings.histograms import NO_BUCKET
from tests.support.api.catalogue import CS2, simple_item
from tests.support.app import RunningApp, running
from tests.support.faults.changing_proxy import ChangingProxy, Exchange, changing
from tests.support.search.serving import serving

AK, AWP = "AK-47 | Redline (Field-Tested)", "AWP | Asiimov (Field-Tested)"
ITEMS = [
    {**simple_item(1, 1.0, AK), "details": {"weapon": "AK-47", "type": "Rifle"}, "paint": {"float": 0.16}},
    {**simple_item(2, 1.5, AWP), "details": {"weapon": "AWP", "type": "Sniper Rifle"}, "paint": {"float": 0.2}},
    {**simple_item(3, 1.9, AK), "details": {"weapon": "AK-47", "type": "Rifle"}, "paint": {"float": 0.3}},
]
BODIES: dict[str, dict[str, Any]] = {
    "of what the page shows": {"facets": ["type"]},
    "a text": {"query": "ak-47 redline", "facets": ["type"]},
    "the most expensive": {"facets": ["type"], "sort": "price_desc"},
    "the field's own filter": {"filters": {"weapon": ["AK-47"]}, "facets": ["weapon"]},
    "the price's own filter": {"filters": {"price": {"min": 1, "max": 1.99}}, "facets": ["price"]},
    "the float's own filter": {"filters": {"float": {"max": 0.5}}, "facets": ["float"]},
    "groups by price": {"groupBy": "name", "facets": ["type"], "sort": "price_asc"},
    "groups by float": {"groupBy": "name", "facets": ["type"], "sort": "float_desc"},
}


class Shop:
    """The app on three items, its engine behind a proxy, and what happens to an item within a search."""

    def __init__(self, app: RunningApp, proxy: ChangingProxy, engine: httpx.Client) -> None:
        self.app = app
        self._proxy = proxy
        self._engine = engine
        self._documents = f"/{app.settings.alias(CS2.id)}/_doc"
        self._third = engine.get(f"{self._documents}/3").json()["_source"]

    async def responses(self, body: dict[str, Any], moves: str, *, within: bool) -> tuple[Any, Any]:
        """The answer of a search under which an item goes or one comes, and that of the same search afterwards; then
        the items are as before.

        That happens `within` its first round trip, between the page and its facets, or else behind it.
        """
        engine_requests: list[str] = []
        number = 3 if moves == "goes" else 9
        happen, undo = (self._delete, self._put) if moves == "goes" else (self._put, self._delete)

        def change(exchange: Exchange) -> None:
            counts_facets = exchange.path.startswith("/_msearch") and any(self._are_of_facets(exchange, body))
            if engine_requests or not counts_facets:
                return
            engine_requests.append(exchange.path)
            happen(number)
            if within:
                exchange.json = {**exchange.json, "responses": self._spliced(exchange, body)}

        self._proxy.change = change
        first = await self.app.search(body)
        self._proxy.change = lambda _: None
        assert engine_requests
        again = await self.app.search(body)
        undo(number)
        return first.json(), again.json()

    @staticmethod
    def _are_of_facets(exchange: Exchange, body: dict[str, Any]) -> list[bool]:
        """Which of the requests of one round trip count facets."""
        requests = [json.loads(line) for line in exchange.sent.splitlines()[1::2]]
        return [not set(body["facets"]).isdisjoint(request.get("aggregations", ())) for request in requests]

    def _spliced(self, exchange: Exchange, body: dict[str, Any]) -> list[Any]:
        """The answers from before, those of facets from now."""
        again = self._engine.post(exchange.path, content=exchange.sent, headers={"Content-Type": "application/json"})
        responses = zip(
            self._are_of_facets(exchange, body), exchange.json["responses"], again.json()["responses"], strict=True
        )
        return [new if is_of_facets else old for is_of_facets, old, new in responses]

    @contextmanager
    def altered(self, fields: dict[str, Any]) -> Iterator[None]:
        """With these fields in the document of the third item."""
        self._put(3, **fields)
        yield
        self._put(3)

    def _put(self, number: int, **fields: Any) -> None:
        """The third item under this number."""
        document = {**self._third, "id": number, **fields}
        put = self._engine.put(f"{self._documents}/{number}", params={"refresh": "true"}, json=document)
        assert put.is_success, put.text

    def _delete(self, number: int) -> None:
        deleted = self._engine.delete(f"{self._documents}/{number}", params={"refresh": "true"})
        assert deleted.status_code == 200, deleted.text


@pytest.fixture(scope="module")
async def shop(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shop]:
    async with serving(opensearch_url, tmp_path_factory.mktemp("facets"), ITEMS) as (direct, _):
        with changing(opensearch_url) as proxy, httpx.Client(base_url=opensearch_url, timeout=60) as engine:
            settings = direct.settings.model_copy(update={"opensearch_url": proxy.url})
            async with running(settings) as app:
                yield Shop(app, proxy, engine)


@pytest.mark.parametrize("moves", ["goes", "comes"])
@pytest.mark.parametrize("name", BODIES)
async def test_a_page_and_its_facets_are_of_one_moment(shop: Shop, name: str, moves: str) -> None:
    response, now = await shop.responses(BODIES[name], moves, within=True)
    assert response == now


@pytest.mark.parametrize("moves", ["goes", "comes"])
@pytest.mark.parametrize("facet", ["price", "float"])
async def test_a_histogram_and_its_ends_are_of_one_moment(shop: Shop, facet: str, moves: str) -> None:
    response, now = await shop.responses({"facets": [facet]}, moves, within=False)
    assert response == now


@pytest.mark.parametrize(
    ("field", "bucket"),
    [
        ("priceBucket", NO_BUCKET),
        ("floatBucket", "99"),
        ("priceBucket", "100"),
        ("floatBucket", "101"),
        ("floatBucket", "x"),
    ],
)
async def test_a_listing_whose_value_is_not_of_its_bucket_is_a_503_that_says_so(
    shop: Shop, field: str, bucket: str
) -> None:
    with shop.altered({field: bucket}), capture_logs() as lines:
        response = await shop.app.search({"facets": ["type", field.removesuffix("Bucket")]})
    assert response.status_code == 503
    assert response.json()["error"]["code"] == "search_unavailable"
    assert "load the catalogue again" in response.json()["error"]["message"]
    assert [line["event"] for line in lines if line["log_level"] == "error"] == [CONTRADICTION]
    assert (await shop.app.search({"facets": ["type"]})).status_code == 200
