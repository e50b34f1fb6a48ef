"""The search context: what every step of one search works with. Pure.

A context with a point in time searches that instead of the index.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from api.engine.answers import Answer, Gear, Json, SearchEngine
from api.errors import ApiError, Detail, invalid
from api.search.parsing.parse import ParsedQuery, parse_query
from api.search.query.clauses import Clause
from api.search.query.request import SearchQuery
from api.search.schemas.search import PAGE_WINDOW, SearchBody
from mappings.platforms import Platform, Platforms


@dataclass(frozen=True)
class PointInTime:
    """A frozen view of the items, kept for `keep_seconds` after each use; several cursors may share it."""

    id: str
    shared: bool
    keep_seconds: float


@dataclass(frozen=True)
class Page:
    """A page of items or groups, the exact total, the facets if requested, and the parse that found them."""

    gear: list[Gear]
    total: int
    facets: Json | None
    parsed: ParsedQuery
    next_cursor: str | None = None


@dataclass(frozen=True)
class SearchContext:
    """The engine, the platforms and the query of one search."""

    engine: SearchEngine
    platforms: tuple[Platform, ...]
    query: SearchQuery
    pit: PointInTime | None = None

    @property
    def body(self) -> SearchBody:
        """The request body."""
        return self.query.body

    def parsed_as(self, parsed: ParsedQuery) -> "SearchContext":
        """The same search with another parse of its text."""
        return replace(self, query=replace(self.query, parsed=parsed))

    def at(self, pit: PointInTime) -> "SearchContext":
        """The same search in a point in time."""
        return replace(self, pit=pit)

    async def search(self, request: Clause, *filter_path: str) -> Answer:
        """The answer to a search body; raises ApiError `search_unavailable`, PitGoneError."""
        if self.pit is None:
            return await self.engine.search(self.platforms, request, *filter_path)
        return await self.engine.search_pit(in_pit(request, self.pit))

    async def search_all(self, requests: Sequence[Clause], *filter_path: str) -> list[Answer]:
        """The answers to several search bodies; raises as `search`."""
        if self.pit is None:
            return await self.engine.search_all(self.platforms, requests, *filter_path)
        return await asyncio.gather(*(self.search(request) for request in requests))


def search_context(engine: SearchEngine, platforms: Platforms, body: SearchBody) -> SearchContext:
    """Parses a body; raises ApiError for an unknown platform and for fields that exclude each other."""
    searched = _searched_platforms(body, platforms)
    _check_paging(body)
    query = SearchQuery(body, parse_query(body.query, searched), searched[0].minor_digits)
    if len({platform.currency for platform in searched}) > 1 and query.compares_prices:
        raise invalid("platform", "the platforms have different currencies: name one to compare prices")
    return SearchContext(engine, searched, query)


def in_pit(request: Clause, pit: PointInTime) -> Clause:
    """The search body for a point in time."""
    return {**request, "pit": {"id": pit.id, "keep_alive": f"{round(pit.keep_seconds * 1000)}ms"}}


def _searched_platforms(body: SearchBody, platforms: Platforms) -> tuple[Platform, ...]:
    if body.platform is None:
        return tuple(platforms)
    platform = platforms.by_id(body.platform)
    if platform is None:
        message = f"unknown platform {body.platform}; known are {platforms.describe()}"
        raise ApiError("unknown_platform", message, [Detail("platform", message)])
    return (platform,)


def _check_paging(body: SearchBody) -> None:
    if body.page * body.limit > PAGE_WINDOW:
        message = f"page x limit is {body.page * body.limit}, at most {PAGE_WINDOW} can be paged; "
        message += 'further on leads a cursor: start it with "cursor": "*" in the place of page'
        raise ApiError("page_window_exceeded", message, [Detail("page", message)])
    if body.cursor is not None and body.names_page:
        raise invalid("page", "a cursor has no pages: leave out `page`, the next cursor is in the answer")
    if body.cursor is not None and body.group_by is not None:
        raise invalid("groupBy", "a cursor walks over single items: leave out `groupBy` or page through the names")
