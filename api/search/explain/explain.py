"""Explains whether a response has an item, at which rank, and which condition it fails.

The engine evaluates each condition of the search for exactly this item, so nothing is judged a second time here.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import orjson
from pydantic import BaseModel

from api.engine.clauses import probe
from api.engine.client import Engine
from api.engine.errors import MissingError, NotLoadedError
from api.engine.responses import LISTINGS, Hit, hits_of, read_json, total_of
from api.errors import ApiError
from api.search.context import SearchContext, search_context
from api.search.explain.conditions import HIDDEN, OFFER, TEXT, conditions, value_of
from api.search.groups import rank_of_group
from api.search.query.request import SORTS_BY_NAME, sort_clauses
from api.search.relaxation.relax import relax
from api.search.schemas.search import PAGE_WINDOW, SearchBody
from mappings.names import generation_pattern, parse_generation
from mappings.platforms import Platform, Platforms


@dataclass(frozen=True)
class CheckedCondition:
    """A condition: the body's field, what it asks, what the item has there, and whether the engine says it is met."""

    field: str
    requested: Any
    has: Any
    matches: bool


@dataclass
class Explanation:
    """Why an item is or is not in a response; `reasons` are codes for machines, `sentences` the same for people."""

    platform: int
    id: int
    answered: bool = False
    reasons: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    index: str | None = None  # the serving generation
    name: str | None = None
    parts: list[CheckedCondition] = field(default_factory=list)
    rank: int | None = None  # from 1
    page: int | None = None  # on which it is, at the body's limit
    total: int | None = None

    def add(self, reason: str, sentence: str) -> "Explanation":
        self.reasons.append(reason)
        self.sentences.append(sentence)
        return self


async def explain_item(
    engine: Engine,
    platforms: Platforms,
    platform: Platform,
    number: int,
    body: SearchBody,
    forced: BaseModel | None = None,
) -> Explanation:
    """Why the item is or is not in the body's response to a token with these filters; raises ApiError for a body that
    the API refuses.
    """
    context = search_context(engine, platforms, body, forced)
    explanation = Explanation(platform.id, number)
    alias = engine.alias(platform)
    serving = (await engine.generations([platform])).get(platform.id)
    if serving is None:
        return explanation.add("not_loaded", f"nothing is loaded behind {alias}: load the catalogue")
    explanation.index = serving.index
    context = await _relaxed_if_empty(context)
    if not await _check_conditions(engine, explanation, context, platform):
        return await _locate(engine, explanation, alias)
    if platform not in context.platforms:
        sentence = f"the body asks platform {body.platform}, the item is on {platform.id}"
        explanation.add("other_platform", sentence)
    _add_unmet(explanation)
    if any(explanation.name in rules.pinned for rules in context.query.parsed.rules):
        explanation.sentences.append("an operator pins its name to this text: by relevance it comes first")
    if not explanation.reasons:
        await _rank(explanation, context)
    return explanation


async def _check_conditions(
    engine: Engine, explanation: Explanation, context: SearchContext, platform: Platform
) -> bool:
    """Evaluates every condition for this item; false if the serving index does not show it."""
    checked = conditions(context.query)
    filters = {str(place): condition.clause for place, condition in enumerate(checked)}
    request = {
        "query": {"ids": {"values": [str(explanation.id)]}},
        "size": 1,
        "aggs": {"parts": {"filters": {"filters": filters}}},
    }
    response = await engine.search_index([platform], str(explanation.index), request)
    for hit in hits_of(response):
        item, buckets = read_json(hit["item"]), response["aggregations"]["parts"]["buckets"]
        explanation.name = item["name"]
        explanation.parts = [
            CheckedCondition(
                condition.field,
                condition.requested,
                value_of(item, condition.field),
                buckets[str(place)]["doc_count"] == 1,
            )
            for place, condition in enumerate(checked)
        ]
    return bool(explanation.parts)


async def _locate(engine: Engine, explanation: Explanation, alias: str) -> Explanation:
    """Tells an item that is nowhere from one that is not searchable yet and one of another generation."""
    with suppress(MissingError, NotLoadedError):
        await engine.request(
            lambda client: client.get(index=str(explanation.index), id=str(explanation.id), params={"_source": "false"})
        )
        return explanation.add("not_yet", "it was written a moment ago; searches see it within a second")
    request = {"query": {"ids": {"values": [str(explanation.id)]}}, "size": 100, "_source": False}
    response = await engine.send_search(LISTINGS, request, index=generation_pattern(alias), may_be_missing=True)
    others = sorted(hit["_index"] for hit in hits_of(response) if parse_generation(alias, hit["_index"]))
    if others:
        sentence = f"what serves does not have it, but {', '.join(others)} does: it was deleted or left the catalogue"
        return explanation.add("other_generation", f"{sentence}, or the load of that index was not swapped in")
    sentence = f"no index of platform {explanation.platform} has it: it was deleted, or is not in what was loaded"
    return explanation.add("not_indexed", f"{sentence}, or was refused there (see the load's rejects file)")


async def _rank(explanation: Explanation, context: SearchContext) -> None:
    """Finds the rank of the item among the hits, or of its group among the groups."""
    body = context.body
    if body.group_by is None:
        explanation.rank, explanation.total = await _rank_among_hits(explanation, context)
    else:
        head = await _head(explanation, context)
        if head["_index"] != explanation.index or head["_id"] != str(explanation.id):
            sentence = f"groupBy shows one hit for its name, that of item {head['_id']}"
            explanation.add("grouped", f"{sentence}: it is cheaper, or as cheap with a lower id")
            return
        explanation.rank, explanation.total = await rank_of_group(context, head["sort"][-1])
    if explanation.rank is None:
        sentence = f"it is behind the first {PAGE_WINDOW:,} of {explanation.total:,} hits, which pages do not reach"
        explanation.add("window", f"{sentence}: narrow the filters, or read on with a cursor")
        return
    explanation.page = (explanation.rank - 1) // body.limit + 1
    place = f"number {explanation.rank:,} of {explanation.total:,}"
    if explanation.page != body.page and body.cursor is None:
        sentence = f"it is {place}, on page {explanation.page:,} of {body.limit} hits each"
        explanation.add("page", f"{sentence}; page {body.page:,} was asked for")
        return
    explanation.answered = True
    explanation.sentences.append(f"it is in the response, {place}")


async def _rank_among_hits(explanation: Explanation, context: SearchContext) -> tuple[int | None, int]:
    """The item's rank from 1 among as many hits as pages reach, and the total."""
    request = {**context.all_pages().query.page_and_count_request, "_source": False}
    (response,) = await context.source.search_all([request])
    hits = [(hit["_index"], hit["_id"]) for hit in hits_of(response)]
    item = (explanation.index, str(explanation.id))
    return hits.index(item) + 1 if item in hits else None, total_of(response)


async def _head(explanation: Explanation, context: SearchContext) -> Hit:
    """The hit that stands for the item's name: names are grouped byte for byte. It is sorted by its group, too."""
    request = {
        "query": {"bool": {"filter": [context.query.offered, {"term": {"name": explanation.name}}]}},
        "sort": [*sort_clauses(SORTS_BY_NAME["price_asc"]), {"group": "asc"}],
        "size": 1,
        "_source": False,
    }
    (response,) = await context.source.search_all([request])
    for hit in hits_of(response):
        return hit
    raise ApiError("search_unavailable", "the item has changed while it was asked about: ask again")


async def _relaxed_if_empty(context: SearchContext) -> SearchContext:
    """The context as the search would relax it."""
    request = probe(context.query.offered)
    with suppress(NotLoadedError):  # the body's platform is not loaded, which is another than the item's
        (response,) = await context.source.search_all([request])
        if total_of(response) == 0:
            return await relax(context)
    return context


def _add_unmet(explanation: Explanation) -> None:
    for part in explanation.parts:
        if part.matches:
            continue
        if part.field == OFFER:
            sentence = "an active order binds it; `gear-indexer doctor` tells whether the orders agree"
            explanation.add("bound", sentence)
        elif part.field == HIDDEN:
            explanation.add("hidden", "an operator hides its name here; `gear-api vocabulary list` says who")
        elif part.field == TEXT:
            explanation.add("query", f"nothing in it meets {shown(part.requested)} of the text")
        else:
            explanation.add(part.field, f"{part.field} asks for {shown(part.requested)}; it has {shown(part.has)}")


def shown(value: Any) -> str:
    """A value as people read it: as JSON, and `none` for what is absent."""
    return "none" if value in (None, []) else orjson.dumps(value).decode()
