"""Saved searches as clauses that the log of changes is asked with, and what its responses mean."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import orjson

from api.changes.entries import Side
from api.changes.schemas import context_of
from api.engine.feed import MatchedEntry
from api.engine.responses import SearchEngine
from api.errors import ApiError
from api.http.json_body import checked, parse
from api.log import log
from api.saved_searches.prefilter import Fields, Prefilter, prefilter_of
from api.saved_searches.schemas import SavedSearchBody
from api.search.forced_filters import read_filters
from mappings.platforms import Platforms
from store.connection.engine import Store
from store.saved_searches import searches
from store.saved_searches.searches import SavedSearch

SIDES: Final = 2
MAX_COMPILED: Final = 20  # searches, then others have the event loop
NOTHING: Final = b'{"match_none":{}}'


@dataclass(frozen=True)
class Compiled:
    """The clause that the items of a search meet, as JSON, and its prefilter."""

    clause: bytes
    prefilter: Prefilter

    def named(self, name: str) -> bytes:
        return b'{"bool":{"filter":[%b],"_name":%b}}' % (self.clause, orjson.dumps(name))


def compiled(engine: SearchEngine, platforms: Platforms, fields: Fields, search: SavedSearch) -> Compiled | None:
    """A search; None for one that this version cannot read."""
    try:
        body = checked(SavedSearchBody, parse(search.body.encode()))
        forced = None if search.token_filters is None else read_filters(search.token_filters)
        context = context_of(engine, platforms, body, forced)
    except ApiError:
        return None
    terms = {"terms": {"platform": [platform.id for platform in context.platforms]}}
    clause = {"bool": {"filter": [terms, context.query.offered]}}
    return Compiled(orjson.dumps(clause), prefilter_of(fields, clause))


class ClauseCache:
    """The clauses of saved searches, each read and parsed once; `max_read` searches are read at once."""

    def __init__(self, engine: SearchEngine, store: Store, platforms: Platforms, fields: Fields, max_read: int) -> None:
        self._engine = engine
        self._store = store
        self._platforms = platforms
        self._fields = fields
        self._max_read = max_read
        self._clauses: dict[str, Compiled | None] = {}
        self._clears = 0

    def clear(self) -> None:
        """The vocabulary has changed: all texts are read anew, also those that are being read."""
        self._clears += 1
        self._clauses = {}

    async def read(self, ids: Collection[str]) -> tuple[dict[Compiled, list[str]], list[str]]:
        """These searches by their clause, which several may share, and those that this version cannot read.

        Raises StoreUnavailable.
        """
        while True:
            clears = self._clears
            clauses = await self._read(ids)
            if clears == self._clears:  # else texts mean something else by now
                break
        self._clauses = clauses
        searches_of: dict[Compiled, list[str]] = {}
        for each, clause in clauses.items():
            if clause is not None:
                searches_of.setdefault(clause, []).append(each)
        return searches_of, [each for each, clause in clauses.items() if clause is None]

    async def _read(self, ids: Collection[str]) -> dict[str, Compiled | None]:
        unknown = sorted(each for each in ids if each not in self._clauses)
        clauses = {each: self._clauses[each] for each in ids if each in self._clauses}
        same = {each.clause: each for each in clauses.values() if each is not None}
        for begin in range(0, len(unknown), self._max_read):
            async with self._store.reading() as connection:
                added = await searches.with_ids(connection, unknown[begin : begin + self._max_read])
            for number, search in enumerate(added):
                if number % MAX_COMPILED == 0:
                    await asyncio.sleep(0)
                clause = self._clause(search)
                clauses[search.id] = clause and same.setdefault(clause.clause, clause)
        return clauses

    def _clause(self, search: SavedSearch) -> Compiled | None:
        try:
            return compiled(self._engine, self._platforms, self._fields, search)
        except Exception:  # of this one: the others are matched
            log.exception("a saved search cannot be read", search=search.id)
            return None


def read_request(fields: Sequence[str], after: int, last: int) -> bytes:
    """The search for what both sides of the changes (after, last] have in these fields."""
    which = b'{"range":{"seq":{"gt":%d,"lte":%d}}}' % (after, last)
    return _request(which, b"", ["seq", "side", *fields], SIDES * (last - after))


def request_of(clauses: Iterable[bytes], seqs: Sequence[int]) -> bytes:
    """The search for the sides of these changes that meet one of the clauses, each with their names."""
    which = b'{"terms":{"seq":%b}}' % orjson.dumps(seqs)
    should = b',"should":[%b],"minimum_should_match":1' % b",".join(clauses)
    return _request(which, should, ["seq", "side"], SIDES * len(seqs))


def _request(which: bytes, should: bytes, fields: Sequence[str], size: int) -> bytes:
    return (
        b'{"query":{"bool":{"filter":[%b,{"terms":{"side":[%d,%d]}}]%b}},"size":%d,"sort":["_doc"],"_source":false,'
        b'"docvalue_fields":%b,"track_total_hits":false}'
        % (which, Side.BEFORE, Side.AFTER, should, size, orjson.dumps(fields))
    )


def sequences_by_clause(entries: Iterable[MatchedEntry]) -> dict[str, list[int]]:
    """By the clause's name, the changes after which an item matches that did not match before, in their order."""
    before, after = defaultdict[str, set[int]](set), defaultdict[str, set[int]](set)
    for entry in entries:
        side, seq = before if entry.side == Side.BEFORE else after, entry.seq
        for name in entry.matched_queries:
            side[name].add(seq)
    matches = {name: sorted(seqs - before[name]) for name, seqs in after.items()}
    return {name: seqs for name, seqs in matches.items() if seqs}


def last_within(matches: Mapping[int, int], last: int, maximum: int) -> int:
    """The change up to which there are at most `maximum` matches, or the first with matches; `matches` counts them by
    change, and `last` is the last one to take.
    """
    for seq, total in zip(seqs := sorted(matches), accumulate(matches[seq] for seq in seqs), strict=True):
        if total > maximum:
            return min(last, max(seqs[0], seq - 1))
    return last


def bodies_of(seqs: Sequence[int], contents: Mapping[int, bytes], size: int) -> list[bytes]:
    """JSON arrays of these changes, of so many each."""
    parts = (seqs[begin : begin + size] for begin in range(0, len(seqs), size))
    return [b"[%b]" % b",".join(contents[seq] for seq in part) for part in parts]
