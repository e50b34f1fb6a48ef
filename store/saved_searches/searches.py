"""Saves searches of a token, lists and removes them."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, delete, func, insert, or_, select, tuple_, union_all, update
from sqlalchemy.ext.asyncio import AsyncConnection

from store.newest import Position, page_after
from store.schema import PENDING, deliveries, delivery_attempts, saved_searches, search_matches, tokens

_ID_BYTES: Final = 18


@dataclass(frozen=True, kw_only=True)
class SavedSearch:
    """A search of a token; `body` is the JSON of its request. Only changes after `since` are
    delivered; `gap_at` is when a match was last dropped.
    """

    id: str
    token_id: str
    name: str
    body: str
    body_digest: str
    callback_url: str = field(repr=False)
    sandbox: bool
    since: int
    matches: int = 0
    created_at: datetime
    gap_at: datetime | None = None
    removed_at: datetime | None = None
    token_filters: str | None = None


class TooManySearchesError(Exception):
    """The token has as many searches as it may."""


def new_id() -> str:
    return "sch_" + secrets.token_urlsafe(_ID_BYTES)


async def add(connection: AsyncConnection, search: SavedSearch, limit: int) -> SavedSearch:
    """Saves the search; returns the one that the token has already of the same body. Raises TooManySearchesError."""
    # one at a time, so that the limit holds; SQLite's writers are. A stronger lock would wait for the token's orders.
    owner = select(tokens.c.id).where(tokens.c.id == search.token_id)
    await connection.execute(owner.with_for_update(key_share=True))
    same = select(saved_searches).where(_of(search.token_id), saved_searches.c.body_digest == search.body_digest)
    row = (await connection.execute(same)).one_or_none()
    if row is not None:
        return SavedSearch(**row._mapping)
    count = (
        await connection.execute(select(func.count()).select_from(saved_searches).where(_of(search.token_id)))
    ).scalar_one()
    if count >= limit:
        raise TooManySearchesError
    values = {name: value for name, value in vars(search).items() if name != "token_filters"}
    await connection.execute(insert(saved_searches).values(values))
    return search


async def get(connection: AsyncConnection, token_id: str, search_id: str) -> SavedSearch | None:
    row = (
        await connection.execute(select(saved_searches).where(_of(token_id), saved_searches.c.id == search_id))
    ).one_or_none()
    return None if row is None else SavedSearch(**row._mapping)


async def list_newest(
    connection: AsyncConnection, token_id: str, after: Position | None, limit: int
) -> list[SavedSearch]:
    """A page of at most `limit` searches of the token behind a position, or the first page."""
    page = page_after(saved_searches, [_of(token_id)], after, limit)
    return [SavedSearch(**row._mapping) for row in await connection.execute(page)]


async def remove(connection: AsyncConnection, token_id: str, search_id: str, now: datetime) -> bool:
    """Removes the token's search and the callbacks that it still waits for; False where it has none of this id."""
    emptied = {"removed_at": now, "name": "", "body": "{}", "callback_url": ""}
    removed = await connection.execute(
        update(saved_searches).where(_of(token_id), saved_searches.c.id == search_id).values(emptied)
    )
    if not removed.rowcount:
        return False
    ended = {"state": "failed", "receiver": "", "next_attempt_at": None, "leased_until": None}
    await connection.execute(update(deliveries).where(deliveries.c.order_id == search_id, PENDING).values(ended))
    await connection.execute(delete(search_matches).where(search_matches.c.search_id == search_id))
    return True


async def any_live(connection: AsyncConnection, now: datetime) -> bool:
    """Whether `live` would return something."""
    return (await connection.execute(_live(now).limit(1))).first() is not None


async def live(connection: AsyncConnection, now: datetime) -> dict[str, int]:
    """Every search of a token that may read, by its id, with the last change that it is not called for."""
    table = saved_searches.c
    rows = await connection.execute(_live(now).with_only_columns(table.id, table.since))
    return {row[0]: row[1] for row in rows}


async def with_ids(connection: AsyncConnection, ids: Sequence[str]) -> list[SavedSearch]:
    """These searches, each with the filters that its token forces."""
    which = select(saved_searches, tokens.c.filters.label("token_filters")).join(
        tokens, tokens.c.id == saved_searches.c.token_id
    )
    return [SavedSearch(**row._mapping) for row in await connection.execute(which.where(saved_searches.c.id.in_(ids)))]


async def erase(connection: AsyncConnection, removed_before: datetime, matched_before: datetime, limit: int) -> int:
    """Erases up to `limit` ended callbacks that are older, or whose search was removed before then, and the searches
    that have none left; returns how many callbacks. A pending one stays.
    """
    of = deliveries.c.order_id == saved_searches.c.id
    of_match = and_(search_matches.c.search_id == deliveries.c.order_id, search_matches.c.n == deliveries.c.n)
    of_removed = deliveries.join(saved_searches, of), saved_searches.c.removed_at < removed_before
    of_old = deliveries.join(search_matches, of_match), search_matches.c.at < matched_before
    ended = (
        select(deliveries.c.order_id, deliveries.c.n).select_from(joined).where(old, ~PENDING)
        for joined, old in (of_removed, of_old)
    )
    which = union_all(*ended).limit(limit)
    keys = list({tuple(row) for row in await connection.execute(which)})
    if keys:
        for table in (delivery_attempts, deliveries):
            await connection.execute(delete(table).where(tuple_(table.c.order_id, table.c.n).in_(keys)))
        condition = tuple_(search_matches.c.search_id, search_matches.c.n).in_(keys)
        await connection.execute(delete(search_matches).where(condition))
    empty = (
        ~select(deliveries.c.n).where(of).exists(),
        ~select(search_matches.c.n).where(search_matches.c.search_id == saved_searches.c.id).exists(),
    )
    await connection.execute(delete(saved_searches).where(saved_searches.c.removed_at < removed_before, *empty))
    return len(keys)


def _of(token_id: str) -> ColumnElement[bool]:
    """The searches that a token has."""
    return (saved_searches.c.token_id == token_id) & saved_searches.c.removed_at.is_(None)


def _live(now: datetime) -> Any:
    usable = (
        tokens.c.revoked_at.is_(None),
        tokens.c.callbacks_stopped_at.is_(None),
        or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > now),
    )
    joined = saved_searches.join(tokens, tokens.c.id == saved_searches.c.token_id)
    return select(saved_searches.c.id).select_from(joined).where(saved_searches.c.removed_at.is_(None), *usable)
