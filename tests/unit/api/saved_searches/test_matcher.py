"""The matcher: a burst of changes that many broad searches match is told in parts, and holds up nothing meanwhile."""

import asyncio
import time
from collections import Counter
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, Final, cast

import msgspec
import orjson
from sqlalchemy import select

from api.background import BackgroundTasks
from api.changes.entries import Side
from api.changes.feed import ChangeFeed
from api.changes.log import ChangeLog
from api.changes.tail import Tail
from api.engine.feed import FeedEngine, LogEntry, MatchedEntry
from api.engine.responses import Json
from api.saved_searches.matcher import Limits, Matcher
from api.settings import Settings
from store import feeds
from store.connection.engine import Store
from store.feeds import Segment
from store.records import Place
from store.saved_searches import matching, searches
from store.saved_searches.searches import SavedSearch
from store.search_schema import search_matches
from tests.support.orders.desk import desk_at
from tests.support.platforms import shared_platforms

SEARCHES: Final = 600
CHANGES: Final = 1000
LIMITS: Final = Limits(max_changes=CHANGES, max_matches=3000)
NAME: Final = "gear"
NOW: Final = datetime.now(UTC)


class MatchingEngine(FeedEngine):
    """A log in which every clause matches every change; `pairs` counts what was asked for."""

    def __init__(self) -> None:
        super().__init__(Settings(_env_file=None), 30)
        self.pairs = 0

    async def matched(self, log: str, body: bytes) -> list[MatchedEntry]:
        """What each clause matches, or what the prefilter reads."""
        query = orjson.loads(body)["query"]["bool"]
        names = [clause["bool"]["_name"] for clause in query.get("should", ())]
        if names:
            seqs = query["filter"][0]["terms"]["seq"]
        else:
            bounds = query["filter"][0]["range"]["seq"]
            seqs = range(bounds["gt"] + 1, bounds["lte"] + 1)
        self.pairs += len(names) * len(seqs)
        item: dict[str, list[Any]] = {"side": [Side.AFTER], "platform": [730], "bound": [False], "price.ascending": [1]}
        return [MatchedEntry({"seq": [seq], **item}, list(names)) for seq in seqs]

    async def entries(self, log: str, body: Json) -> list[LogEntry]:
        """The items of changes."""
        seqs = body["query"]["terms"]["seq"]
        return [LogEntry(seq, Side.AFTER, 0, seq, 730, msgspec.Raw(b'{"id":%d}' % seq)) for seq in seqs]


async def save(store: Store, token_id: str) -> None:
    """A feed with changes, and searches that were saved before them."""
    async with store.transaction() as connection:
        await feeds.activate(connection, NAME, NOW)
        segment = Segment(id="0" * 16, first=1, last=0, opened_at=NOW, closed_at=None)
        await feeds.open_segment(connection, NAME, 0, segment)
        await feeds.commit(connection, NAME, 0, segment.id, CHANGES, "{}")
        await matching.begin(connection, NAME, Place(segment.id, 0), NOW)
        for number in range(SEARCHES):
            search = SavedSearch(
                id=searches.new_id(),
                token_id=token_id,
                name="broad",
                body=orjson.dumps(
                    {
                        "name": "broad",
                        "callbackUrl": "https://shop.example/hook",
                        "filters": {"price": {"max": 1000 + number}},
                    }
                ).decode(),
                body_digest=f"{number}",
                callback_url="https://shop.example/hook",
                sandbox=False,
                since=0,
                created_at=NOW,
            )
            await searches.add(connection, search, SEARCHES)


async def numbers_of_matches(store: Store) -> Counter[str]:
    """How many callbacks each search has."""
    async with store.reading() as connection:
        return Counter((await connection.execute(select(search_matches.c.search_id))).scalars())


async def longest_turn(turns: list[float]) -> None:
    """Measures each turn of the event loop, in seconds of its own thread: the machine may be busy."""
    while True:
        started = time.thread_time()
        await asyncio.sleep(0)
        turns.append(time.thread_time() - started)


def nothing(_: object) -> None:
    """What a metric does here."""


async def test_a_burst_for_many_broad_searches_is_told_in_parts_and_holds_up_nothing(sqlite_url: str) -> None:
    engine, tasks, turns = MatchingEngine(), BackgroundTasks(), list[float]()
    log = ChangeLog(engine, NAME)
    shared_platforms().make_tables()
    async with desk_at(sqlite_url) as desk:
        await save(desk.store, desk.token.token.id)
        feed = SimpleNamespace(engine=engine, log=log, tail=Tail(desk.store, log, tasks, lambda: None, nothing))
        matcher = Matcher(cast(ChangeFeed, feed), desk.store, shared_platforms(), nothing, LIMITS)
        measuring = asyncio.create_task(longest_turn(turns))
        for run in (1, 2):
            await matcher.run_once()
            async with desk.store.reading() as connection:
                place = await matching.place(connection, NAME)
            assert place.seq == run * LIMITS.max_matches // SEARCHES
            assert set((await numbers_of_matches(desk.store)).values()) == {run}
        measuring.cancel()
    assert engine.pairs < SEARCHES * CHANGES / 2, "most are dropped before the engine is asked for them"
    assert max(turns) < 0.25
    await tasks.close()
    await engine.close()
