"""The float of one item, and those that are similar to it."""

from typing import Any

from api.engine.responses import EngineResponse
from api.search.context import Index, SearchContext
from api.search.parsing.interpretation import interpretation
from api.search.parsing.parse import parse_query
from api.search.query.request import SearchQuery
from api.search.relaxation.relax import relax
from api.search.schemas.search import SearchBody
from tests.support.platforms import shared_platforms
from tests.support.search.engines import ScriptedEngine

CS2 = next(iter(shared_platforms()))
TEXT = "ak redline 0.24550940096378"


async def relaxed(*, has_float: bool) -> SearchContext:
    """The text relaxed on an engine whose items have the terms, and the float."""

    def response(request: Any) -> EngineResponse:
        query = str(request["query"])
        matches = has_float if "'float'" in query else "24550940096378" not in query  # no name has it
        return {"hits": {"total": {"value": int(matches)}}}

    query = SearchQuery(SearchBody(query=TEXT), parse_query(TEXT, [CS2]))
    return await relax(SearchContext(Index(ScriptedEngine(response), (CS2,)), query))


async def test_the_very_float_is_wanted_where_an_item_has_it() -> None:
    (parse,) = (await relaxed(has_float=True)).query.parsed.parses
    (wear,) = parse.quantities
    assert wear.low is not None
    assert wear.high is not None
    assert wear.high - wear.low < 1e-6


async def test_similar_ones_are_wanted_where_none_has_it_and_that_is_said() -> None:
    first = parse_query(TEXT, [CS2])
    used = (await relaxed(has_float=False)).query.parsed
    explanation = interpretation(first, used)
    assert explanation["filters"]["float"]["min"] == 0.24
    assert 0.2499 < explanation["filters"]["float"]["max"] < 0.25
    assert explanation["relaxed"] == [
        {"typed": "0.24550940096378", "to": "similar floats: no item has this one"},
    ]
