"""Scenarios: items, then searches with what they must give, and typed texts with theirs. A new file needs no Python."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.settings import Settings
from tests.support.api.catalogue import CS2, put_index
from tests.support.app import serving, settings_for
from tests.support.exact_json import dumps, loads
from tests.support.indices import new_prefix
from tests.support.search.fixtures import SearchedItems

FILES = sorted((Path(__file__).parents[3] / "scenarios").glob("*.json"))


@pytest.fixture(scope="module")
def service(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Settings, httpx.Client]]:
    """An app whose catalogue each scenario replaces."""
    with new_prefix(opensearch_url) as prefix:
        settings = settings_for(opensearch_url, prefix, tmp_path_factory.mktemp("scenarios"), response_cache_mib=0)
        with serving(settings) as client:
            yield settings, client


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_scenario(file: Path, service: tuple[Settings, httpx.Client]) -> None:
    settings, client = service
    scenario = loads(file.read_text(encoding="utf-8"))
    items: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["items"]
    random.Random(file.stem).shuffle(items)  # no answer may depend on the order of the source
    put_index(settings, CS2, items)
    searched = SearchedItems(items, {}, client)
    for step in scenario["steps"]:
        if "typed" in step:
            suggested = client.get("/v1/gear/suggest", params=step["typed"]).json()["suggestions"]
            assert suggested == step["suggestions"], step["typed"]
            continue
        response = searched.ask(step["body"])
        expected = {key: value for key, value in step.items() if key in ("total", "facets")}
        assert [item["id"] for item in response.pop("gear")] == step["ids"], step["body"]
        assert loads(dumps(response)) == {"status": "success", **expected}, step["body"]
