"""The search context: what every step of one search works with. Framework-free."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from api.engine.clauses import Clause
from api.engine.responses import (
    EngineResponse,
    Gear,
    Hit,
    Json,
    Products,
    SearchEngine,
    Source,
    hits_of,
    item_of,
    total_of,
)
from api.errors import ApiError, Detail, invalid
from api.known_platforms import known_platform
from api.search.parsing.parse import ParsedQuery, parse_query
from api.search.query.request import Position, SearchQuery, filter_clauses
from api.search.schemas.search import PAGE_WINDOW, SearchBody
from mappings.platforms import Platform, Platforms


@dataclass(frozen=True)
class Index:
    """The platforms' items as they are now."""

    engine: SearchEngine
    platforms: tuple[Platform, ...]

    async def search_all(self, bodies: Sequence[Clause], *filter_path: str) -> list[EngineResponse]:
        """The responses to search bodies, in one round trip; raises ApiError `search_unavailable`."""
        return await self.engine.search_all(self.platforms, bodies, *filter_path)


@dataclass(frozen=True)
class PointInTime:
    """A point in time of the items, kept for `keep_seconds` after each use; several cursors may share it."""

    engine: SearchEngine
    id: str
    shared: bool
    keep_seconds: float
    products: Products

    async def search(self, body: Clause) -> EngineResponse:
        """The answer to a search body; raises ApiError `search_unavailable`, PitGoneError."""
        return await self.engine.search_pit(self.request(body), self.products)

    async def search_all(self, bodies: Sequence[Clause], *_: str) -> list[EngineResponse]:
        """The responses to several search bodies; raises as `search`."""
        return await asyncio.gather(*(self.search(body) for body in bodies))

    def request(self, body: Clause) -> Clause:
        return {**body, "pit": {"id": self.id, "keep_alive": f"{round(self.keep_seconds * 1000)}ms"}}


@dataclass(frozen=True)
class Page:
    """A page of items or groups, the exact total of these, and the parse that found them.

    `hits` are those of items alone. `size` counts the items or groups of the page, also groups without an offer left,
    which are not in `gear`. `items` counts the items of all groups; it is None where the total counts items.
    A cursor's next page begins `after` the values that the last hit is sorted by, or after the head of the last group.
    """

    gear: list[Gear]
    total: int
    parsed: ParsedQuery
    hits: list[Hit] = field(default_factory=list)
    facets: Json | None = None
    next_cursor: str | None = None
    size: int = 0
    items: int | None = None
    after: Sequence[Any] = ()
    has_next: bool = False


def page_of(query: SearchQuery, responses: Sequence[EngineResponse]) -> Page:
    """The page in the responses to `hit_requests`."""
    read, limit = hits_of(responses[0]), query.body.limit
    total = total_of(responses[-1]) if query.total is None else query.total
    hits = read[:limit]
    has_next = len(read) > limit or (len(read) == limit and query.start + limit < total)
    gear, is_of_cursor = [item_of(hit) for hit in hits], query.position is not None
    after = hits[-1]["sort"] if hits and is_of_cursor else ()
    return Page(gear, total, query.parsed, hits, size=len(hits), after=after, has_next=has_next)


@dataclass(frozen=True)
class SearchContext:
    """The query of one search, the index of its platforms, and the point in time that a cursor reads."""

    index: Source
    query: SearchQuery
    pit: PointInTime | None = None

    @property
    def body(self) -> SearchBody:
        return self.query.body

    @property
    def platforms(self) -> tuple[Platform, ...]:
        return tuple({parse.platform.id: parse.platform for parse in self.query.parsed.parses}.values())

    @property
    def source(self) -> Source:
        """What is searched for hits."""
        return self.index if self.pit is None else self.pit

    def at(self, pit: PointInTime, position: Position) -> "SearchContext":
        """The same search of a point in time, from a position on."""
        return replace(self, pit=pit, query=replace(self.query, position=position))

    def with_body(self, body: SearchBody) -> "SearchContext":
        return replace(self, query=replace(self.query, body=body))

    def all_pages(self) -> "SearchContext":
        """The same search, all that its pages reach on one page."""
        return self.with_body(self.body.model_copy(update={"page": 1, "limit": PAGE_WINDOW, "facets": []}))

    def parsed_as(self, parsed: ParsedQuery) -> "SearchContext":
        return replace(self, query=replace(self.query, parsed=parsed))


def search_context(
    engine: SearchEngine, platforms: Platforms, body: SearchBody, forced: BaseModel | None = None
) -> SearchContext:
    """Parses a body; raises ApiError for an unknown platform and for fields that exclude each other. What is searched
    for meets the filters `forced` as well, whatever the body says.
    """
    searched = tuple(platforms) if body.platform is None else (known_platform(platforms, body.platform),)
    _check_paging(body)
    has_order = body.sort is not None and body.sort.value != "relevance"
    parsed = parse_query(body.query, searched, has_order=has_order)
    query = SearchQuery(body, parsed, forced=forced)
    if len({platform.currency for platform in searched}) > 1 and query.compares_prices:
        raise invalid("platform", "the platforms have different currencies: name one to compare prices")
    return SearchContext(Index(engine, searched), query)


def forced_clauses(filters: BaseModel | None, platforms: Sequence[Platform]) -> tuple[Clause, ...]:
    """What items of these platforms must meet; raises ApiError `validation_failed` for prices that do not compare."""
    clauses = filter_clauses(filters, platforms[0].minor_digits)
    if "price" in clauses and len({platform.currency for platform in platforms}) > 1:
        raise invalid("platform", "the platforms have different currencies: name one, this token filters by price")
    return tuple(clauses.values())


def _check_paging(body: SearchBody) -> None:
    if body.page * body.limit > PAGE_WINDOW:
        message = f"page x limit is {body.page * body.limit}, at most {PAGE_WINDOW} can be paged; "
        message += 'to read beyond, use a cursor: send "cursor": "*" instead of page'
        raise ApiError("page_window_exceeded", message, [Detail("page", message)])
    if body.cursor is not None and body.names_page:
        raise invalid("page", "a cursor has no pages: leave out `page`, the next cursor is in the response")
