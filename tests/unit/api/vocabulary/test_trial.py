"""What a text finds before and after a change, and what that costs the engine."""

from typing import Any

import orjson
import pytest

from api.engine.responses import EngineResponse
from api.vocabulary.trial import SHOWN_NAMES, find
from tests.support.platforms import shared_platforms
from tests.support.search.engines import ScriptedEngine

CS2 = next(iter(shared_platforms()))
ITEM = {"id": "1", "name": "AK-47 | Redline (Field-Tested)"}


@pytest.mark.parametrize(("matching", "pages"), [("the first page", 1), ("a relaxation", 2), ("nothing", 1)])
async def test_a_text_is_searched_again_only_where_it_was_relaxed(matching: str, pages: int) -> None:
    sizes: list[int] = []

    def response(body: Any) -> EngineResponse:
        sizes.append(body["size"])
        relaxed = matching == "a relaxation" and len(sizes) > 2  # after the page and the text as it was typed
        total = int(relaxed or matching == "the first page")
        hits: list[Any] = [{"item": orjson.dumps(ITEM)}] * total
        return {"hits": {"total": {"value": total}, "hits": hits}}

    engine: Any = ScriptedEngine(response)
    shown = await find(engine, shared_platforms(), CS2.id, "ak redlin")
    assert sizes.count(SHOWN_NAMES) == pages
    assert shown["total"] == (matching != "nothing")


async def test_a_page_that_a_refresh_took_apart_is_read_again() -> None:
    """As a search does: else a text would be shown as found, without the names that it finds."""
    sizes: list[int] = []

    def response(body: Any) -> EngineResponse:
        sizes.append(body["size"])
        hits: list[Any] = [{"item": orjson.dumps(ITEM)}] if len(sizes) > 2 else []  # after the page and its count
        return {"hits": {"total": {"value": 1}, "hits": hits}}

    engine: Any = ScriptedEngine(response)
    shown = await find(engine, shared_platforms(), CS2.id, "cheapest ak redline")
    assert shown == {"total": 1, "names": [ITEM["name"]]}
