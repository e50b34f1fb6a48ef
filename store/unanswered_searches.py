"""Texts of searches that found nothing, or only after they were read more loosely: counted by day, without a person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, NamedTuple

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection

from store.schema import unanswered_searches

MAX_TEXTS_A_DAY: Final = 5000
_KEY: Final = ("day", "platform", "text", "reading")


class SearchedText(NamedTuple):
    """A folded text on a platform, and how it was read in the end: `none`, or the relaxation that found something."""

    platform: int
    text: str
    reading: str


@dataclass(frozen=True, kw_only=True)
class UnansweredSearch:
    """How often a text was searched for, and the first and the last day of that."""

    platform: int
    text: str
    reading: str
    count: int
    first_day: date
    last_day: date


async def add(
    connection: AsyncConnection, day: date, counts: Mapping[SearchedText, int], max_texts: int = MAX_TEXTS_A_DAY
) -> int:
    """Adds to the counts of a day, up to so many texts; returns how many searches were left out."""
    of_day = unanswered_searches.c.day == day.isoformat()
    columns = unanswered_searches.c
    stored_rows = await connection.execute(
        select(columns.platform, columns.text, columns.reading).where(
            of_day, columns.text.in_({each.text for each in counts})
        )
    )
    counted = {SearchedText(*row) for row in stored_rows}
    number = (await connection.execute(select(func.count()).where(of_day))).scalar_one()
    new = [each for each in counts if each not in counted][: max(0, max_texts - number)]
    # in one order, so that two workers never wait for each other
    added = sorted([*(each for each in counts if each in counted), *new])
    if added:
        insertion = upsert(unanswered_searches)
        statement = insertion.on_conflict_do_update(
            index_elements=_KEY, set_={"count": columns.count + insertion.excluded.count}
        )
        rows = [{"day": day.isoformat(), **each._asdict(), "count": counts[each]} for each in added]
        await connection.execute(statement, rows)
    return sum(counts.values()) - sum(counts[each] for each in added)


async def read(
    connection: AsyncConnection, since: date, platform: int | None = None, limit: int = 100
) -> Sequence[UnansweredSearch]:
    """The texts that were searched for most often since a day, of a platform or of all."""
    columns = unanswered_searches.c
    total = func.sum(columns.count)
    statement = (
        select(columns.platform, columns.text, columns.reading, total, func.min(columns.day), func.max(columns.day))
        .where(columns.day >= since.isoformat(), *([] if platform is None else [columns.platform == platform]))
        .group_by(columns.platform, columns.text, columns.reading)
        .order_by(total.desc(), columns.text, columns.platform, columns.reading)
        .limit(limit)
    )
    return [
        UnansweredSearch(
            platform=number,
            text=text,
            reading=reading,
            count=int(count),
            first_day=date.fromisoformat(first),
            last_day=date.fromisoformat(last),
        )
        for number, text, reading, count, first, last in await connection.execute(statement)
    ]


async def erase_older(connection: AsyncConnection, day: date) -> None:
    await connection.execute(delete(unanswered_searches).where(unanswered_searches.c.day < day.isoformat()))
