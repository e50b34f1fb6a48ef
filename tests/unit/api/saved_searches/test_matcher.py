"""The matcher: a burst of changes that many broad searches match is told in parts, each match once, and holds up
nothing meanwhile.
"""

import asyncio
import re
import time
import zlib
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, Final, cast

import msgspec
import orjson
from sqlalchemy import select

from api.background.tasks import BackgroundTasks
from api.changes.entries import Side
from api.changes.feed import ChangeFeed
from api.changes.log import ChangeLog
from api.changes.tail import Tail
from api.engine.feed import FeedEngine, LogEntry, MatchedEntry
from api.engine.responses import Json
from api.saved_searches.matcher import Matcher, MatcherLimits
from api.settings import Settings
from store import feeds
from store.connection.engine import Store
from store.feeds import Segment
from store.records import LogPosition
from store.saved_searches import matching, searches
from store.saved_searches.searches import SavedSearch
from store.schema import saved_searches, search_matches
from tests.support.orders.desk import desk_at
from tests.support.platforms import shared_platforms

SEARCHES: Final = 600
CHANGES: Final = 1000
LIMITS: Final = MatcherLimits(max_changes=CHANGES, max_matches=3000)
NAME: Final = "gear"
NOW: Final = datetime.now(UTC)


class MatchingEngine(FeedEngine):
    """A log of items with these prices in cents, by change; `pairs` counts the clauses and changes asked for."""

    def __init__(self, cents_of: Callable[[int], int]) -> None:
        super().__init__(Settings(_env_file=None), 30)
        self.cents_of = cents_of
        self.pairs = 0

    async def matched(self, log: str, body: bytes) -> list[MatchedEntry]:
        """The changes whose price the clauses allow, or what the prefilter reads."""
        query = orjson.loads(body)["query"]["bool"]
        most = {each["bool"]["_name"]: highest_price(each) for each in query.get("should", ())}
        if most:
            seqs = query["filter"][0]["terms"]["seq"]
        else:
            bounds = query["filter"][0]["range"]["seq"]
            seqs = range(bounds["gt"] + 1, bounds["lte"] + 1)
        self.pairs += len(most) * len(seqs)
        entries = []
        for seq in seqs:
            cents = self.cents_of(seq)
            item: dict[str, list[Any]] = {"seq": [seq], "side": [Side.AFTER], "platform": [730], "bound": [False]}
            names = [name for name, price in most.items() if cents <= price]
            entries.append(MatchedEntry(item | {"price.ascending": [cents]}, names))
        return entries

    async def entries(self, log: str, body: Json) -> list[LogEntry]:
        """The items of changes."""
        seqs = body["query"]["terms"]["seq"]
        return [LogEntry(seq, Side.AFTER, 0, seq, 730, msgspec.Raw(b'{"id":%d}' % seq)) for seq in seqs]


def highest_price(clause: Json) -> int:
    """The bound of a clause, in cents."""
    [price] = re.findall(rb'"lte":([0-9]+)', orjson.dumps(clause))
    return int(price)


async def save(store: Store, token_id: str, count: int, changes: int, since: int = 0) -> None:
    """A feed, and searches with the highest prices 1, 2, 3 …, of which every other begins after `since`."""
    async with store.transaction() as connection:
        await feeds.activate(connection, NAME, NOW)
        segment = Segment(id="0" * 16, first=1, last=0, opened_at=NOW, closed_at=None)
        await feeds.open_segment(connection, NAME, 0, segment)
        await feeds.commit(connection, NAME, 0, segment.id, changes, "{}")
        await matching.begin(connection, NAME, LogPosition(segment.id, 0), NOW)
        for number in range(count):
            search = SavedSearch(
                id=searches.new_id(),
                token_id=token_id,
                name=str(number),
                body=orjson.dumps(
                    {
                        "name": "broad",
                        "callbackUrl": "https://shop.example/hook",
                        "filters": {"price": {"max": number + 1}},
                    }
                ).decode(),
                body_digest=f"{number}",
                callback_url="https://shop.example/hook",
                sandbox=False,
                since=since * (number % 2),
                created_at=NOW,
            )
            await searches.add(connection, search, count)


async def numbers_of_matches(store: Store) -> Counter[str]:
    """How many callbacks each search has."""
    async with store.reading() as connection:
        return Counter((await connection.execute(select(search_matches.c.search_id))).scalars())


async def changes_by_search(store: Store) -> dict[int, list[int]]:
    """The changes of each search's callbacks in their order, by its number."""
    changes: dict[int, list[int]] = {}
    rows = select(saved_searches.c.name, search_matches.c.changes).join(search_matches)
    async with store.reading() as connection:
        for name, content in await connection.execute(rows.order_by(search_matches.c.n)):
            listed = orjson.loads(zlib.decompress(content))
            changes.setdefault(int(name), []).extend(change["id"] for change in listed)
    return changes


async def longest_turn(turns: list[float]) -> None:
    """Measures each turn of the event loop, in seconds of its own thread: the machine may be busy."""
    while True:
        started = time.thread_time()
        await asyncio.sleep(0)
        turns.append(time.thread_time() - started)


def nothing(_: object) -> None:
    """What a metric does here."""


def matcher_of(engine: FeedEngine, store: Store, tasks: BackgroundTasks, limits: MatcherLimits) -> Matcher:
    """A matcher that reads the log of this engine."""
    log = ChangeLog(engine, NAME)
    feed = SimpleNamespace(engine=engine, log=log, tail=Tail(store, log, tasks, lambda: None, nothing))
    return Matcher(cast(ChangeFeed, feed), store, shared_platforms(), nothing, limits)


async def test_a_burst_for_many_broad_searches_is_matched_in_parts_and_holds_up_nothing(sqlite_url: str) -> None:
    engine, tasks, turns = MatchingEngine(lambda _: 1), BackgroundTasks(), list[float]()
    shared_platforms().make_tables()
    async with desk_at(sqlite_url) as desk:
        await save(desk.store, desk.token.token.id, SEARCHES, CHANGES)
        matcher = matcher_of(engine, desk.store, tasks, LIMITS)
        measuring = asyncio.create_task(longest_turn(turns))
        for run in (1, 2):
            await matcher.run_once()
            async with desk.store.reading() as connection:
                position = await matching.position(connection, NAME)
            assert position.seq == run * LIMITS.max_matches // SEARCHES
            assert set((await numbers_of_matches(desk.store)).values()) == {run}
        measuring.cancel()
    assert engine.pairs < SEARCHES * CHANGES / 2, "most are dropped before the engine is asked for them"
    assert max(turns) < 1.5, "all at once would take several seconds"
    await tasks.close()
    await engine.close()


async def test_each_match_is_queued_once_and_in_order_however_few_fit_into_a_transaction(sqlite_url: str) -> None:
    count, changes, since, cheap = 200, 30, 5, 7

    def cents_of(seq: int) -> int:
        """Half of the searches match on average, and all of them one change, which is more than fits."""
        return 1 if seq == cheap else 100 * (seq * 37 % count + 1)

    engine, tasks = MatchingEngine(cents_of), BackgroundTasks()
    async with desk_at(sqlite_url) as desk:
        await save(desk.store, desk.token.token.id, count, changes, since)
        limits = MatcherLimits(max_changes=25, max_matches=150, max_changes_a_callback=2)
        matcher = matcher_of(engine, desk.store, tasks, limits)
        while await matcher.run_once() == 0.0:
            pass
        listed = await changes_by_search(desk.store)
    for number in range(count):
        begin = 1 + since * (number % 2)
        expected = [seq for seq in range(begin, changes + 1) if cents_of(seq) <= 100 * (number + 1)]
        assert listed.get(number, []) == expected
    await tasks.close()
    await engine.close()
