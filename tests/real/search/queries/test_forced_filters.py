"""A token with filters reads as if nothing else were loaded: no body widens them, and no cached answer passes them."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.api.envelope import error_of
from tests.support.app import new_token
from tests.support.examples import examples
from tests.support.load import serving_items
from tests.support.search import oracle, suggest_oracle
from tests.support.search.bodies import TEXTS, bodies
from tests.support.search.fixtures import SearchedItems, known_of
from tests.support.search.items import make_items

FILTERS = (
    '{"weapon": ["karambit", "AK-47"]}',
    '{"price": {"min": 0.29, "max": 19.99}, "exterior": ["Field-Tested", "Minimal Wear"]}',
    '{"attachments": {"any": [{"name": "Sticker | NiKo"}]}, "type": ["Rifle", "Pistol", "SMG", "Sticker"]}',
    '{"ids": [-1000]}',
)


@dataclass(frozen=True)
class Restricted:
    """All items, and for each of FILTERS those of a token with it, with its client."""

    every: SearchedItems
    parts: dict[str, SearchedItems]


@pytest.fixture(scope="module")
def restricted(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restricted]:
    """400 items behind a real server, and a token for each of FILTERS."""
    items, folder = make_items(400, seed=7), tmp_path_factory.mktemp("forced")
    with serving_items(opensearch_url, items, folder) as (client, _):
        every = SearchedItems(items, known_of(items), client)
        parts = {
            text: replace(every, items=visible(items, text), client=_client(client, folder, text)) for text in FILTERS
        }
        yield Restricted(every, parts)
        for part in parts.values():
            part.client.close()


def _client(client: httpx.Client, folder: Path, filters: str) -> httpx.Client:
    token = asyncio.run(new_token(f"sqlite+aiosqlite:///{folder}/gear.db", "search", filters=filters))
    return httpx.Client(base_url=client.base_url, headers={"Authorization": f"Bearer {token}"}, timeout=60)


def visible(items: list[dict[str, Any]], filters: str) -> list[dict[str, Any]]:
    """The items that pass the filters."""
    return [item for item in items if oracle.matches(item, {"filters": json.loads(filters, parse_float=Decimal)})]


def test_the_filters_divide_the_items(restricted: Restricted) -> None:
    assert [0 < len(part.items) < 200 for part in restricted.parts.values()] == [True, True, True, False]


@settings(max_examples=examples(60, 240), suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_a_search_answers_as_if_nothing_else_were_loaded(restricted: Restricted, data: Any) -> None:
    part = restricted.parts[data.draw(st.sampled_from(FILTERS))]
    body = data.draw(bodies(part.values))
    expected, total = oracle.response(part.items, body)
    response = part.ask(body)
    assert response["total"] == total
    assert response.get("facets") == (oracle.facets(part.items, body) if body.get("facets") else None)
    assert expected is None or [item["id"] for item in response["gear"]] == expected
    hits = {item["id"] for item in oracle.hits_of(part.items, body)}
    for item in response["gear"]:
        assert item["id"] in hits
        if body.get("groupBy"):
            assert item["offers"] == oracle.offers(part.items, body, item["name"])


@pytest.mark.parametrize("filters", FILTERS)
def test_a_body_narrows_the_filters_and_never_widens_them(restricted: Restricted, filters: str) -> None:
    part, others = restricted.parts[filters], restricted.every
    outside = [item for item in others.items if item not in part.items]
    for name in ("weapon", "type", "exterior"):
        values = sorted({item["details"][name] for item in outside} - {None})
        body = {"filters": {name: values}, "limit": 100, "facets": list(oracle.FACETS)}
        response = part.ask(body)
        assert {item["id"] for item in response["gear"]} <= {item["id"] for item in part.items}
        assert response["facets"] == oracle.facets(part.items, body)
    hits, total = part.search({"filters": {"ids": [item["id"] for item in outside[:1000]]}})
    assert (hits, total) == ([], 0)


@pytest.mark.parametrize("filters", FILTERS)
def test_a_text_is_relaxed_by_what_the_token_reads(restricted: Restricted, filters: str) -> None:
    part = restricted.parts[filters]
    for text in TEXTS:
        body = {"query": text, "sort": "price_asc", "limit": 100}
        gear, total = part.search(body)
        assert ([item["id"] for item in gear], total) == oracle.response(part.items, body), text


@pytest.mark.parametrize("typed", ["p", "asi", "karam", "niko", "sticker", "jormun", "redlien"])
def test_suggestions_are_of_what_the_token_reads(restricted: Restricted, typed: str) -> None:
    for part in (restricted.every, *restricted.parts.values()):
        response = part.client.get("/v1/gear/suggest", params={"q": typed, "limit": 20}).json()
        assert suggest_oracle.suggested(response) == suggest_oracle.expected(part.items, typed, 20)


@pytest.mark.parametrize("filters", FILTERS)
def test_single_items_and_counts_are_of_what_the_token_reads(restricted: Restricted, filters: str) -> None:
    part = restricted.parts[filters]
    ids = {item["id"] for item in part.items}
    for item in restricted.every.items[:60]:
        response = part.client.get(f"/v1/gear/{item['id']}")
        if item["id"] in ids:
            assert response.json()["gear"]["id"] == item["id"]
        else:
            error_of(response, "item_not_found")
    (platform,) = part.client.get("/v1/platforms").json()["platforms"]
    assert platform["items"] == len(part.items)


def test_a_cursor_reads_what_its_token_reads_and_no_other_token_continues_it(restricted: Restricted) -> None:
    clients = {text: part.client for text, part in restricted.parts.items() if part.items}
    clients[""] = restricted.every.client
    body = {"limit": 10, "sort": "price_desc"}
    cursors: dict[str, str] = {}
    for text, client in clients.items():
        items = restricted.parts[text].items if text else restricted.every.items
        response = client.post("/v1/gear/search", json={**body, "cursor": "*"}).json()
        cursors[text] = response["nextCursor"]
        read = [item["id"] for item in response["gear"]]
        while response["nextCursor"] is not None:
            response = client.post("/v1/gear/search", json={**body, "cursor": response["nextCursor"]}).json()
            read += [item["id"] for item in response["gear"]]
        assert read == [item["id"] for item in oracle.in_order(items, "price_desc")]
    for text, cursor in cursors.items():
        for other, client in clients.items():
            if other != text:
                response = client.post("/v1/gear/search", json={**body, "cursor": cursor})
                assert "was started with another body" in error_of(response, "validation_failed")["message"]


def test_cached_responses_differ_by_the_filters(restricted: Restricted) -> None:
    for body in ({"limit": 3}, {"query": "asiimov", "facets": ["weapon"]}):
        for _ in range(3):
            for part in (restricted.every, *restricted.parts.values()):
                assert part.ask(body)["total"] == oracle.response(part.items, body)[1]
