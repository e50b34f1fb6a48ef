"""A platform's file says of how many parts its index is; answers are the same for any number of them."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from api.settings import Settings
from mappings.connection import connect
from mappings.platforms import PLATFORM_FILES
from tests.support.app import serving, settings_for
from tests.support.indices import drop_indices
from tests.support.load import INDEXER, environment
from tests.support.search.items import make_items

SHARDS = 3
FACETS = ["price", "weapon", "exterior", "quality", "float"]
_GROUPED = ("price_asc", "newest", "name_asc")
BODIES: list[dict[str, Any]] = [
    {"limit": 100},
    {"sort": "price_desc", "page": 2, "limit": 50},
    {"sort": "newest", "filters": {"price": {"min": 5, "max": 500}}},
    {"sort": "price_asc", "filters": {"price": {"min": 20}}},
    {"sort": "float_asc", "filters": {"float": {"min": 0.1, "max": 0.6}}},
    {"sort": "name_asc", "query": "ak"},
    {"query": "st ak redline", "explain": True},
    {"query": "asimov"},
    {"facets": FACETS, "filters": {"exterior": ["Field-Tested"]}},
    *({"groupBy": "name", "sort": sort, "limit": 100, "facets": ["type"]} for sort in _GROUPED),
]


class Shop:
    """One catalogue in an index of so many parts, and a client of the service before it."""

    def __init__(self, settings: Settings, files: Path, folder: Path) -> None:
        self.settings, self.files, self.folder = settings, files, folder

    def indexer(self, *arguments: str) -> dict[str, Any]:
        """Runs a command of the indexer that must succeed."""
        names = {**environment(self.settings), "GEAR_PLATFORM_FILES": str(self.files)}
        command = [str(INDEXER), *arguments, "--json"]
        done = subprocess.run(command, env=names, cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        report: dict[str, Any] = json.loads(done.stdout)
        return report


@pytest.fixture(scope="module")
def shops(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[tuple[Shop, httpx.Client]]]:
    """The same 400 items in an index of one part and in one of three."""
    items = make_items(400, seed=11)
    started: list[tuple[Shop, httpx.Client]] = []
    with ExitStack() as stack:
        for shards in (1, SHARDS):
            folder = tmp_path_factory.mktemp(f"shards{shards}")
            files = folder / "platforms"
            shutil.copytree(PLATFORM_FILES, files)
            file = files / "730.toml"
            file.write_text(f"shards = {shards}\n{file.read_text(encoding='utf-8')}", encoding="utf-8")
            (folder / "items.ndjson").write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
            settings = settings_for(opensearch_url, f"t{uuid4().hex[:10]}", folder, platform_files=files)
            stack.callback(drop_indices, opensearch_url, settings.index_prefix)
            shop = Shop(settings, files, folder)
            client = stack.enter_context(serving(settings))
            shop.indexer("load", "items.ndjson", "--platform", "730", "--quiet")
            started.append((shop, client))
        yield started


def test_the_index_has_as_many_parts_as_the_file_says_and_nothing_is_wrong_with_it(
    shops: list[tuple[Shop, httpx.Client]],
) -> None:
    shop, _ = shops[1]
    client = connect(shop.settings)
    try:
        (index_settings,) = client.indices.get_settings(index=shop.settings.alias(730)).values()
    finally:
        client.close()
    assert index_settings["settings"]["index"]["number_of_shards"] == str(SHARDS)
    codes = {finding["code"] for finding in shop.indexer("doctor", "--without-orders")["findings"]}
    assert not codes & {"settings", "mapping-drift"}


@pytest.mark.parametrize("body", BODIES, ids=[json.dumps(body)[:60] for body in BODIES])
def test_answers_do_not_depend_on_the_number_of_parts(
    shops: list[tuple[Shop, httpx.Client]], body: dict[str, Any]
) -> None:
    single, several = (client.post("/v1/gear/search", json={"platform": 730, **body}) for _, client in shops)
    assert single.status_code == 200, single.text
    assert several.json() == single.json()
    assert single.json()["total"]


def test_a_cursor_over_all_parts_meets_each_item_once(shops: list[tuple[Shop, httpx.Client]]) -> None:
    walks = []
    for _, client in shops:
        ids: list[int] = []
        cursor: str | None = "*"
        while cursor is not None:
            body = {"platform": 730, "cursor": cursor, "limit": 90, "sort": "price_asc"}
            page = client.post("/v1/gear/search", json=body).json()
            ids += [item["id"] for item in page["gear"]]
            cursor = page["nextCursor"]
        walks.append(ids)
    assert walks[0] == walks[1]
    assert len(set(walks[0])) == len(walks[0])


def test_a_dry_run_reads_the_same_platforms(shops: list[tuple[Shop, httpx.Client]]) -> None:
    shop, _ = shops[1]
    file = shop.files / "1999.toml"
    file.write_text('id = 1999\nslug = "own"\nname = "Own"\ncurrency = "USD"\nminor_digits = 2\n', encoding="utf-8")
    try:
        report = shop.indexer("load", "items.ndjson", "--platform", "own", "--dry-run", "--quiet")
        assert report["wouldSwap"] is True
    finally:
        file.unlink()
