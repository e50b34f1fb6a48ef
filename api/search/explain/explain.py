"""Why: a search body and an item in; whether the search answers the item, at which rank, and else what keeps it out.

Each condition of the search is asked of the engine for exactly this item, so nothing is judged a second time here.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import orjson
from opensearchpy import AsyncOpenSearch
from opensearchpy.exceptions import NotFoundError

from api.errors import ApiError
from api.search.engine.client import Engine
from api.search.explain.parts import OFFER, TEXT, held_by, parts
from api.search.groups.execution import place_of
from api.search.pagination.cursor import check_cursor
from api.search.parsing.parse import understand
from api.search.query.request import Question, offered_query, sort_clauses, sort_name
from api.search.query_relaxation import in_force
from api.search.schemas.search import PAGE_WINDOW, SearchBody, check_window, platforms_of
from mappings.connection import SearchSettings
from mappings.names import generation_pattern, parse_generation
from mappings.platforms import Platform, Platforms


@dataclass(frozen=True)
class Judged:
    """One condition: the body's field, what it asks, what the item has there, and whether the engine says it is met."""

    field: str
    asked: Any
    has: Any
    met: bool


@dataclass
class Why:
    """Why an item is or is not in an answer; `reasons` are codes for machines, `sentences` the same for people."""

    platform: int
    id: int
    answered: bool = False
    reasons: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    index: str | None = None  # the generation that serves
    name: str | None = None
    parts: list[Judged] = field(default_factory=list)
    rank: int | None = None  # from 1
    page: int | None = None  # on which it is, at the body's limit
    total: int | None = None

    def because(self, reason: str, sentence: str) -> "Why":
        """The same with one more reason."""
        self.reasons.append(reason)
        self.sentences.append(sentence)
        return self

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)


@dataclass(frozen=True)
class Asker:
    """Whom to ask: the engine as searches ask it, a client for what they do not, names of indices, the platforms."""

    engine: Engine
    client: AsyncOpenSearch
    settings: SearchSettings
    platforms: Platforms

    async def why(self, platform: Platform, number: int, body: SearchBody) -> Why:
        """Why the item is or is not in the body's answer; raises ApiError for a body that the API refuses."""
        asked = platforms_of(body, self.platforms)
        check_window(body)
        check_cursor(body)
        found = Why(platform.id, number)
        alias = self.settings.alias(platform.id)
        found.index = await self._serving(alias)
        if found.index is None:
            return found.because("not_loaded", f"nothing is loaded behind {alias}: load the catalogue")
        question = await self._question(body, asked)
        if not await self._judge(found, question):
            return await self._elsewhere(found, alias)
        if platform not in asked:
            found.because("other_platform", f"the body asks platform {body.platform}, the item is on {platform.id}")
        _blame(found)
        if not found.reasons:
            await self._place(found, question, asked)
        return found

    async def _question(self, body: SearchBody, asked: Sequence[Platform]) -> Question:
        """The body with its text in the reading that is in force."""
        aliases = ",".join(self.settings.alias(platform.id) for platform in asked)
        question = Question(body, understand(body.query, asked), asked[0].minor_digits)
        first = {"query": offered_query(question), "size": 0, "track_total_hits": 1}
        if (await self._search(aliases, first))["hits"]["total"]["value"] > 0:
            return question

        async def ask(bodies: Sequence[dict[str, Any]]) -> list[int]:
            return [(await self._search(aliases, one))["hits"]["total"]["value"] for one in bodies]

        return replace(question, understood=await in_force(ask, question.understood, asked))

    async def _serving(self, alias: str) -> str | None:
        try:
            return next(iter(await self.client.indices.get_alias(name=alias)), None)
        except NotFoundError:
            return None

    async def _judge(self, found: Why, question: Question) -> bool:
        """Asks every condition of this one item; false where the serving index does not show it."""
        conditions = parts(question)
        named = {str(place): part.clause for place, part in enumerate(conditions)}
        body = {
            "query": {"ids": {"values": [str(found.id)]}},
            "size": 1,
            "_source": ["item"],
            "aggs": {"parts": {"filters": {"filters": named}}},
        }
        answer = await self._search(str(found.index), body)
        for hit in answer["hits"]["hits"]:
            item, buckets = hit["_source"]["item"], answer["aggregations"]["parts"]["buckets"]
            found.name = item["name"]
            found.parts = [
                Judged(part.field, part.asked, held_by(item, part.field), buckets[str(place)]["doc_count"] == 1)
                for place, part in enumerate(conditions)
            ]
        return bool(found.parts)

    async def _elsewhere(self, found: Why, alias: str) -> Why:
        """Tells an item that is nowhere from one that is not shown yet and from one of another generation."""
        try:
            await self.client.get(index=str(found.index), id=str(found.id), params={"_source": "false"})
            return found.because("not_yet", "it was written a moment ago; searches see it within a second")
        except NotFoundError:
            pass
        ids = {"query": {"ids": {"values": [str(found.id)]}}, "size": 100, "_source": False}
        answer = await self._search(generation_pattern(alias), ids)
        others = sorted(hit["_index"] for hit in answer["hits"]["hits"] if parse_generation(alias, hit["_index"]))
        if others:
            sentence = (
                f"what serves does not have it, but {', '.join(others)} does: it was deleted or left the catalogue"
            )
            return found.because("other_generation", f"{sentence}, or the load of that index was not swapped in")
        sentence = f"no index of platform {found.platform} has it: it was deleted, or is not in what was loaded, or was"
        return found.because("not_indexed", f"{sentence} refused there (see the load's rejects file)")

    async def _place(self, found: Why, question: Question, platforms: Sequence[Platform]) -> None:
        """Finds the item among the hits in their order, or its card among the cards."""
        body = question.body
        if body.group_by is None:
            found.rank, found.total = await self._among_hits(found, question, platforms)
        else:
            head = await self._head(found, question, platforms)
            if head["_index"] != found.index or head["_id"] != str(found.id):
                sentence = f"groupBy shows one card for its name, that of item {head['_id']}"
                found.because("grouped", f"{sentence}: it is cheaper, or as cheap with a lower id")
                return
            group = head["_source"]["group"]
            found.rank, found.total = await place_of(self.engine, platforms, question, group)
        if found.rank is None:
            sentence = f"it is behind the first {PAGE_WINDOW:,} of {found.total:,} hits, which pages do not reach"
            found.because("window", f"{sentence}: narrow the filters, or walk on with a cursor")
            return
        found.page = (found.rank - 1) // body.limit + 1
        place = f"number {found.rank:,} of {found.total:,}"
        if found.page != body.page and body.cursor is None:
            sentence = f"it is {place}, on page {found.page:,} of {body.limit} hits each"
            found.because("page", f"{sentence}; page {body.page:,} was asked for")
            return
        found.answered = True
        found.sentences.append(f"it is in the answer, {place}")

    async def _among_hits(
        self, found: Why, question: Question, platforms: Sequence[Platform]
    ) -> tuple[int | None, int]:
        """The item's place from 1 among as many hits as pages reach, and the number of all."""
        sort = sort_clauses(sort_name(question.body, question.understood))
        every = {"query": offered_query(question), "sort": sort, "track_total_hits": True}
        answer = await self._search(self._aliases(platforms), {**every, "size": PAGE_WINDOW, "_source": False})
        hits = [(hit["_index"], hit["_id"]) for hit in answer["hits"]["hits"]]
        place = (found.index, str(found.id))
        return hits.index(place) + 1 if place in hits else None, answer["hits"]["total"]["value"]

    async def _head(self, found: Why, question: Question, platforms: Sequence[Platform]) -> dict[str, Any]:
        """The hit that the card of the item's name shows: names are grouped byte for byte."""
        query = {"bool": {"filter": [offered_query(question), {"term": {"name": found.name}}]}}
        body = {"query": query, "sort": sort_clauses("price_asc"), "size": 1, "_source": ["group"]}
        answer = await self._search(self._aliases(platforms), body)
        for hit in answer["hits"]["hits"]:
            head: dict[str, Any] = hit
            return head
        raise ApiError("search_unavailable", "the item has changed while it was asked about: ask again")

    def _aliases(self, platforms: Sequence[Platform]) -> str:
        return ",".join(self.settings.alias(platform.id) for platform in platforms)

    async def _search(self, index: str, body: dict[str, Any]) -> dict[str, Any]:
        params = {"allow_partial_search_results": "false", "ignore_unavailable": "true"}
        answer: dict[str, Any] = await self.client.search(index=index, body=body, params=params)
        return answer


def _blame(found: Why) -> None:
    """A reason for each condition that is not met."""
    for part in found.parts:
        if part.met:
            continue
        if part.field == OFFER:
            sentence = "an active order binds it; `gear-indexer doctor` tells whether the orders agree"
            found.because("bound", sentence)
        elif part.field == TEXT:
            found.because("query", f"nothing in it meets {shown(part.asked)} of the text")
        else:
            found.because(part.field, f"{part.field} asks for {shown(part.asked)}; it has {shown(part.has)}")


def shown(value: Any) -> str:
    """A value as people read it: as JSON, and `none` for what is absent."""
    return "none" if value in (None, []) else orjson.dumps(value).decode()
