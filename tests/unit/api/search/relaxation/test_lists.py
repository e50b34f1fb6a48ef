"""Any of several items of a text is meant once nothing is all of it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from api.engine.responses import EngineResponse
from api.search.context import Index, SearchContext
from api.search.parsing.parse import ParsedQuery, Relaxation, parse_query
from api.search.query.request import SearchQuery
from api.search.query.text import ITEM_SCORE, WHOLE_NAME_SCORE, conditions
from api.search.relaxation.fillers import any_of_items
from api.search.relaxation.relax import relax
from api.search.schemas.search import SearchBody
from tests.support.platforms import shared_platforms
from tests.support.search.engines import ScriptedEngine

CS2 = next(iter(shared_platforms()))


async def relaxed_list(text: str, has_items: Callable[[str], bool]) -> tuple[ParsedQuery, ScriptedEngine]:
    """How a text is read where the engine has what `has_items` says of what is demanded."""

    def response(request: Any) -> EngineResponse:
        demanded = {name: parts for name, parts in request["query"]["bool"].items() if name != "should"}
        return {"hits": {"total": {"value": int(has_items(str(demanded)))}}}

    query = SearchQuery(SearchBody(query=text), parse_query(text, [CS2]))
    engine = ScriptedEngine(response)
    return (await relax(SearchContext(Index(engine, (CS2,)), query))).query.parsed, engine


async def test_any_item_of_a_list_is_found_once_nothing_is_all_of_it() -> None:
    read, engine = await relaxed_list("ak redline, awp asiimov, m4 howl", lambda query: query.count("weapon") == 1)
    assert read.relaxation == Relaxation.EITHER
    assert [[term.typed for term in parse.terms] for parse in read.parses] == [
        ["ak", "redline"],
        ["awp", "asiimov"],
        ["m4", "howl"],
    ]
    assert len(engine.round_trips) == 3


async def test_of_a_list_the_items_that_are_known_are_found() -> None:
    read, _ = await relaxed_list(
        "ak redline, awp asiimov", lambda query: "asiimov" not in query and query.count("weapon") == 1
    )
    assert read.relaxation == Relaxation.FILLERS
    assert [term.typed for term in read.parses[0].terms] == ["ak", "redline"]
    read, _ = await relaxed_list(
        "ak qqqqq, awp asiimov", lambda query: "qqqqq" not in query and query.count("weapon") == 1
    )
    assert [[term.typed for term in parse.terms] for parse in read.parses] == [["awp", "asiimov"]]


async def test_a_weapon_that_is_said_twice_is_one_item() -> None:
    read, _ = await relaxed_list("banana cannon r8, the revolver banana cannon", lambda query: "'the " not in query)
    assert (len(read.parses), read.relaxation) == (1, Relaxation.FILLERS)
    assert [term.typed for term in read.parses[0].terms] == ["banana", "cannon", "r8", "revolver", "banana", "cannon"]


async def test_what_is_on_a_pasted_item_counts_where_it_is_offered_so() -> None:
    text = "AK-47 | Redline (Field-Tested) with Titan Holo"
    read, _ = await relaxed_list(text, lambda query: "stickers.typed" in query)
    assert read.relaxation == Relaxation.STICKERS
    read, _ = await relaxed_list(text, lambda query: "titan" not in query.lower())
    assert [term.typed for term in read.parses[0].terms] == ["AK 47", "Redline", "Field Tested"]


def test_several_items_are_found_in_their_order_and_several_platforms_alike() -> None:
    listed = any_of_items(parse_query("usp orion, ak redline, m4 howl", [CS2]), [item("usp orion"), item("ak redline")])
    assert listed is not None
    (condition,) = conditions(listed)
    first, second = condition.clause["bool"]["should"]
    boosts = [[each["constant_score"]["boost"] for each in query["bool"]["should"]] for query in (first, second)]
    assert boosts == [[ITEM_SCORE, WHOLE_NAME_SCORE], [WHOLE_NAME_SCORE]]
    assert "usp orion" in str(first["bool"]["should"])
    assert "ak redline" in str(second["bool"]["should"])
    (parse,) = parse_query("ak", [CS2]).parses
    (condition,) = conditions(ParsedQuery("ak", (parse, replace(parse, platform=CS2.model_copy(update={"id": 440})))))
    assert str(ITEM_SCORE) not in str(condition.clause)


async def test_a_later_item_may_have_something_on_it_or_a_seed() -> None:
    read, _ = await relaxed_list(
        "ak vulcan, awp asiimov with titan holo, ak ch 661",
        lambda query: (
            query.count("weapon") == 1
            and ("titan" in query) == ("stickers.typed" in query)
            and "'text': '661" not in query
        ),
    )
    assert [[term.typed for term in parse.terms] for parse in read.parses][1:] == [
        ["awp", "asiimov", "titan holo"],
        ["ak", "ch"],
    ]


async def test_the_order_of_a_list_is_that_of_each_item() -> None:
    read, _ = await relaxed_list("ak redline, awp asiimov cheapest", lambda query: query.count("weapon") == 1)
    assert [parse.sort for parse in read.parses] == ["price_asc", "price_asc"]


def item(text: str) -> ParsedQuery:
    return parse_query(text, [CS2])
