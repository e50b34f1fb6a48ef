"""A walk by cursor stands still while the catalogue changes, sells out, is loaded anew, and goes away."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from api.settings import Settings
from mappings.connection import connect
from tests.support.api.catalogue import CS2, put_index
from tests.support.api.envelope import error_of
from tests.support.app import RunningApp, running, settings_for
from tests.support.load import INDEXER, environment
from tests.support.orders.shop import place_past_the_app
from tests.support.search import oracle
from tests.support.search.cursor_pages import ids, pages, started
from tests.support.search.items import make_items

ITEMS = [{**item, "price": item["price"] or 1.0} for item in make_items(600, seed=3)]
IN_ORDER = [item["id"] for item in oracle.in_order(ITEMS, "price_asc")]


@pytest.fixture
async def app(opensearch_url: str, index_prefix: str, tmp_path: Path) -> AsyncIterator[RunningApp]:
    """The app with 600 items, all of them on offer."""
    settings = settings_for(opensearch_url, index_prefix, tmp_path)
    async with running(settings) as started_app:
        put_index(settings, CS2, ITEMS)
        yield started_app


async def changed(settings: Settings, command: str, *lines: object) -> None:
    """Runs a command of the indexer with these lines as its input; it must succeed."""
    process = await asyncio.create_subprocess_exec(
        *(str(INDEXER), command, "-", "--platform", "730", "--quiet", *(["--min-share", "0"] * (command == "load"))),
        env=environment(settings),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    text = "".join(json.dumps(line) + "\n" for line in lines)
    _, output = await process.communicate(text.encode())
    assert process.returncode == 0, output.decode()


async def test_a_cursor_stands_still_while_the_index_changes_and_is_swapped(app: RunningApp) -> None:
    walk = pages(app.search, {"limit": 100})
    walked = [item["id"] for item in (await anext(walk))["gear"]]
    deleted, moved = IN_ORDER[-150:-100], [{**item, "price": 0.01} for item in ITEMS if item["id"] in IN_ORDER[-50:]]
    new = [{**item, "id": item["id"] + 10**6, "price": 3.0} for item in ITEMS[:50]]
    steps = [
        changed(app.settings, "upsert", *moved, *new),
        changed(app.settings, "delete", *deleted),
        changed(app.settings, "load", *new),
    ]
    async for page in walk:
        assert page["total"] == 600
        walked += [item["id"] for item in page["gear"]]
        if steps:
            await steps.pop(0)
    assert steps == []
    assert walked == IN_ORDER
    item_ids, totals = await ids(app.search, {"limit": 100})
    assert (sorted(item_ids), totals) == (sorted(item["id"] for item in new), {50})


async def test_a_cursor_whose_index_is_removed_says_so(app: RunningApp) -> None:
    cursor = await started(app, {})
    other = await started(app, {"sort": "newest"})
    put_index(app.settings, CS2, ITEMS)
    assert (await app.search({"cursor": cursor})).status_code == 200
    client = connect(app.settings)
    try:
        serving = set(client.indices.get_alias(name=app.settings.alias(730)))
        indices = set(client.indices.get(index=f"{app.settings.alias(730)}-*"))
        client.indices.delete(index=",".join(indices - serving))
    finally:
        client.close()
    error_of(await app.search({"cursor": cursor}), "cursor_expired")
    error_of(await app.search({"cursor": other, "sort": "newest"}), "cursor_expired")
    assert (await app.search({"cursor": "*"})).status_code == 200


async def test_what_is_bound_is_offered_by_no_page_from_then_on(app: RunningApp) -> None:
    """The total is the view's own and stays; the pages of what was bound since are shorter."""
    walk = pages(app.search, {"limit": 100})
    sold = [IN_ORDER[0], *IN_ORDER[150:155], IN_ORDER[-1]]
    item_ids = [item["id"] for item in (await anext(walk))["gear"]]
    for item in sold:
        await place_past_the_app(app.settings, item)
    sizes = []
    async for page in walk:
        assert page["total"] == 600
        sizes.append(len(page["gear"]))
        item_ids += [item["id"] for item in page["gear"]]
    assert sizes == [95, 100, 100, 100, 99]
    assert item_ids == [item for item in IN_ORDER if item not in sold[1:]]
    assert sold[0] not in [item["id"] for item in (await app.search({"limit": 100, "cursor": "*"})).json()["gear"]]


async def test_a_cursor_goes_on_where_pages_end(app: RunningApp) -> None:
    """Pages reach the first 10,000 hits, a cursor the very last."""
    many = [{"id": number, "name": f"Sticker | {number % 97}", "price": number % 31} for number in range(12_000)]
    put_index(app.settings, CS2, many)
    error_of(await app.search({"page": 101, "limit": 100}), "page_window_exceeded")
    item_ids, totals = await ids(app.search, {"limit": 100})
    assert totals == {12_000}
    assert item_ids == [item["id"] for item in sorted(many, key=lambda item: (item["price"], item["id"]))]
