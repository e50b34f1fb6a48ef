"""Tries a search before and after a change of the vocabulary, which changes nothing for others."""

from typing import Any, Final

import orjson

from api.engine.client import Engine
from api.http.json_body import checked
from api.search.context import page_of, search_context
from api.search.relaxation import relax
from api.search.schemas.search import SearchBody
from api.vocabulary.entries import copy_with
from mappings.platforms import Platform, Platforms
from store.vocabulary_terms import AddedTerm

SHOWN_NAMES: Final = 5


async def compare(
    engine: Engine, platforms: Platforms, platform: Platform, query: str, rows: list[AddedTerm], entry: str
) -> dict[str, Any]:
    """What a text finds with the entries of the store, and with one more; raises ApiError as a search."""
    return {
        when: await find(engine, copy_with(platforms, platform, rows, more), platform.id, query)
        for when, more in (("before", None), ("after", entry))
    }


async def find(
    engine: Engine, platforms: Platforms, platform: int, query: str, limit: int = SHOWN_NAMES
) -> dict[str, Any]:
    """How many items a text finds, and the names of the first; raises ApiError as a search."""
    body = checked(SearchBody, {"platform": platform, "query": query, "limit": limit})
    context = search_context(engine, platforms, body)
    for relaxed in (False, True):
        if relaxed:
            context = await relax(context)
        page = page_of(context.query, await engine.search_all(context.platforms, context.query.hit_requests))
        if page.total:
            break
    return {"total": page.total, "names": [item["name"] for item in orjson.loads(orjson.dumps(page.gear))]}
