"""Scenarios: items, then searches with what they must give, and typed texts with theirs. A new file needs no Python."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.support.api.catalogue import CS2, put_index
from tests.support.app import serving, settings_for
from tests.support.exact_json import dumps, loads
from tests.support.search.fixtures import SearchedItems

FILES = sorted((Path(__file__).parents[3] / "scenarios").glob("*.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_scenario(file: Path, opensearch_url: str, index_prefix: str, tmp_path: Path) -> None:
    scenario = loads(file.read_text(encoding="utf-8"))
    items: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["items"]
    random.Random(file.stem).shuffle(items)  # no answer may depend on the order of the source
    settings = settings_for(opensearch_url, index_prefix, tmp_path)
    with serving(settings) as client:
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
