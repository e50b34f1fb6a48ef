"""Grouping: a question in, one card a name, the exact number of names and the facets out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from api.errors import ApiError
from api.search.engine.client import Engine
from api.search.engine.results import Gear
from api.search.facets.execution import Facets, with_facets
from api.search.groups import groups
from api.search.query.request import Question
from api.search.schemas.search import PAGE_WINDOW
from mappings.platforms import Platform

# Cards are read after their order. Where all offers of one have gone in between, both are read again.
ATTEMPTS = 3


@dataclass(frozen=True)
class Page:
    """A page of cards or of items, the number of all, and the facets of who asked for some."""

    gear: list[Gear]
    total: int
    facets: Facets | None


@dataclass(frozen=True)
class _Order:
    groups: list[int]
    total: int
    facets: Facets | None


async def cards(engine: Engine, platforms: Sequence[Platform], question: Question) -> Page:
    """The body's page of cards; raises ApiError `search_unavailable`."""
    for _ in range(ATTEMPTS):
        order = await _order(engine, platforms, question)
        if not order.groups:
            return Page([], order.total, order.facets)
        request = groups.cards_request(question, order.groups)
        (answer,) = await engine.search_all(platforms, [request])
        gear = groups.cards_of(answer, order.groups, question.minor_digits)
        if gear is not None:
            return Page(gear, order.total, order.facets)
    raise ApiError("search_unavailable", "the offers change faster than they can be read")


async def place_of(
    engine: Engine, platforms: Sequence[Platform], question: Question, group: int
) -> tuple[int | None, int]:
    """The place of a group's card among all, from 1, None where it is behind what pages reach; the number of all."""
    first = question.body.model_copy(update={"page": 1, "limit": PAGE_WINDOW, "facets": []})
    order = await _order(engine, platforms, replace(question, body=first))
    return order.groups.index(group) + 1 if group in order.groups else None, order.total


async def _order(engine: Engine, platforms: Sequence[Platform], question: Question) -> _Order:
    if not groups.by_price(question):
        return await _order_of_heads(engine, platforms, question)
    bodies = [groups.page_request(question), groups.count_request(question)]
    wanted = (groups.SORT_VALUES, groups.UNSENT)
    (page, count), facets = await with_facets(engine, platforms, question, bodies, *wanted)
    total = groups.number_of(count)
    if total is None:
        return await _order_of_heads(engine, platforms, question)
    return _Order(groups.groups_of(page), total, facets)


async def _order_of_heads(engine: Engine, platforms: Sequence[Platform], question: Question) -> _Order:
    bodies = [groups.heads_request(question)]
    (answer,), facets = await with_facets(engine, platforms, question, bodies, groups.SORT_VALUES)
    heads = groups.heads_of(answer)
    if heads is None:
        heads = await _halves(engine, platforms, question, groups.LEAST_GROUP, groups.MOST_GROUP)
    return _Order(groups.in_order(question, heads), len(heads), facets)


async def _halves(
    engine: Engine, platforms: Sequence[Platform], question: Question, least: int, most: int
) -> list[groups.Head]:
    """The heads within bounds that hold more of them than one answer: groups are spread evenly over all numbers."""
    middle = (least + most) // 2
    heads: list[groups.Head] = []
    for low, high in ((least, middle), (middle + 1, most)):
        (answer,) = await engine.search_all(platforms, [groups.heads_request(question, low, high)], groups.SORT_VALUES)
        found = groups.heads_of(answer)
        heads += await _halves(engine, platforms, question, low, high) if found is None else found
    return heads
