"""Counts of texts that were searched for in vain: added up by day, bounded, and erased in time."""

import asyncio
from datetime import date

from store import unanswered_searches
from store.connection.engine import Store
from store.unanswered_searches import SearchedText, UnansweredSearch

TODAY, YESTERDAY = date(2026, 3, 1), date(2026, 2, 28)
DLORE = SearchedText(730, "dlore", "none")
FADE = SearchedText(730, "fad", "typos")
OTHER_GAME = SearchedText(570, "dlore", "none")


async def add(store: Store, day: date, counts: dict[SearchedText, int], max_texts: int = 100) -> int:
    """Adds counts in a transaction of their own."""
    async with store.transaction() as connection:
        return await unanswered_searches.add(connection, day, counts, max_texts)


async def texts(store: Store, **of: int) -> list[tuple[str, int]]:
    """The texts since yesterday with their counts."""
    async with store.reading() as connection:
        rows = await unanswered_searches.read(connection, YESTERDAY, **of)
    return [(each.text, each.count) for each in rows]


async def test_counts_of_several_workers_and_days_add_up(store: Store) -> None:
    await add(store, YESTERDAY, {DLORE: 2, FADE: 1})
    await asyncio.gather(add(store, TODAY, {DLORE: 3, FADE: 1}), add(store, TODAY, {FADE: 2, DLORE: 1}))
    async with store.reading() as connection:
        assert list(await unanswered_searches.read(connection, YESTERDAY)) == [
            UnansweredSearch(platform=730, text="dlore", reading="none", count=6, first_day=YESTERDAY, last_day=TODAY),
            UnansweredSearch(platform=730, text="fad", reading="typos", count=4, first_day=YESTERDAY, last_day=TODAY),
        ]
        (today,) = await unanswered_searches.read(connection, TODAY, limit=1)
        assert (today.count, today.first_day) == (4, TODAY)


async def test_platforms_are_apart(store: Store) -> None:
    await add(store, TODAY, {DLORE: 2, OTHER_GAME: 1})
    assert await texts(store, platform=570) == [("dlore", 1)]
    assert await texts(store) == [("dlore", 2), ("dlore", 1)]


async def test_a_day_has_so_many_texts_and_goes_on_counting_those(store: Store) -> None:
    assert await add(store, TODAY, {DLORE: 1}, max_texts=2) == 0
    many = {DLORE: 5} | {SearchedText(730, f"word {number}", "none"): 10 for number in range(3)}
    assert await add(store, TODAY, many, max_texts=2) == 20
    assert sorted(count for _, count in await texts(store)) == [6, 10]
    assert await add(store, YESTERDAY, {FADE: 1}, max_texts=2) == 0, "each day has room of its own"


async def test_old_days_are_erased(store: Store) -> None:
    await add(store, YESTERDAY, {DLORE: 1})
    await add(store, TODAY, {FADE: 1})
    async with store.transaction() as connection:
        await unanswered_searches.erase_older(connection, TODAY)
    assert await texts(store) == [("fad", 1)]


class CountedText(SearchedText):
    """A text that counts how often its hash is asked for."""

    hashes = 0

    def __hash__(self) -> int:
        CountedText.hashes += 1
        return super().__hash__()


async def test_many_texts_are_added_in_a_time_that_grows_with_them_alone(store: Store) -> None:
    texts_of_day: dict[SearchedText, int] = {CountedText(730, f"text {number}", "none"): 1 for number in range(300)}
    assert await add(store, TODAY, texts_of_day, max_texts=200) == 100
    assert CountedText.hashes < 20 * len(texts_of_day)
