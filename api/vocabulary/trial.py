"""Tries searches before and after a change of the vocabulary, which changes nothing for others."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import orjson

from api.background.tasks import gather_or_cancel
from api.engine.client import Engine
from api.http.json_body import checked
from api.search.context import Page, search_context
from api.search.schemas.search import SearchBody
from api.search.service import items_page, relaxed_page
from api.vocabulary.entries import copy_with
from api.vocabulary.judged import PAGE, Change, Item, JudgedPage, JudgedQuery, Report, judged
from mappings.platforms import Platform, Platforms
from store.vocabulary_terms import StoredEntry

SHOWN_NAMES: Final = 5


async def compare(
    engine: Engine, platforms: Platforms, platform: Platform, query: str, rows: list[StoredEntry], entry: str
) -> dict[str, Any]:
    """What a text finds with the entries of the store, and with one more; raises ApiError as a search."""
    before, after = await _without_and_with(platforms, platform, rows, entry)
    return {
        "before": await find(engine, before, platform.id, query),
        "after": await find(engine, after, platform.id, query),
    }


async def compare_judged(
    engine: Engine,
    platforms: Platforms,
    platform: Platform,
    judgments: Sequence[JudgedQuery],
    rows: list[StoredEntry],
    entry: str,
) -> Report:
    """What one more entry does to judged queries, one after the other; raises ApiError as a search."""
    both = await _without_and_with(platforms, platform, rows, entry)

    async def page_of(judgment: JudgedQuery, searched: Platforms) -> JudgedPage:
        page = await _first_page(engine, searched, platform.id, judgment.query, PAGE)
        return judged(judgment, _items(page))

    changes = [
        Change(each, *await gather_or_cancel(*(page_of(each, searched) for searched in both))) for each in judgments
    ]
    return Report(len(judgments), tuple(change for change in changes if change.is_visible))


async def _without_and_with(
    platforms: Platforms, platform: Platform, rows: list[StoredEntry], entry: str
) -> list[Platforms]:
    """The platforms with the entries of the store, and with one more; made beside other searches."""
    return [await asyncio.to_thread(copy_with, platforms, platform, rows, more) for more in (None, entry)]


async def find(engine: Engine, platforms: Platforms, platform: int, query: str) -> dict[str, Any]:
    """How many items a text finds, and the names of the first; raises ApiError as a search."""
    page = await _first_page(engine, platforms, platform, query, SHOWN_NAMES)
    return {"total": page.total, "names": [item["name"] for item in _items(page)]}


async def _first_page(engine: Engine, platforms: Platforms, platform: int, query: str, limit: int) -> Page:
    body = checked(SearchBody, {"platform": platform, "query": query, "limit": limit})
    return await relaxed_page(search_context(engine, platforms, body), items_page)


def _items(page: Page) -> list[Item]:
    items: list[Item] = orjson.loads(orjson.dumps(page.gear))
    return items
