"""Saved searches as clauses that the log of changes is asked with, and what its answers mean."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import orjson

from api.changes.entries import Side
from api.changes.search_fields import context_of
from api.engine.answers import SearchEngine
from api.engine.feed import MatchedEntry
from api.errors import ApiError
from api.http.json_body import checked, parse
from api.saved_searches.schemas import SavedSearchBody
from api.search.forced_filters import read_filters
from mappings.platforms import Platforms
from store.saved_searches.searches import SavedSearch

SIDES: Final = 2
NOTHING: Final = b'{"match_none":{}}'


def clause_of(engine: SearchEngine, platforms: Platforms, search: SavedSearch) -> bytes | None:
    """The clause that the items of a search meet, as JSON; None for a search that this version cannot read."""
    try:
        body = checked(SavedSearchBody, parse(search.body.encode()))
        forced = None if search.token_filters is None else read_filters(search.token_filters)
        context = context_of(engine, platforms, body, forced)
    except ApiError:
        return None
    terms = {"terms": {"platform": [platform.id for platform in context.platforms]}}
    return orjson.dumps({"bool": {"filter": [terms, context.query.offered], "_name": search.id}})


def request_of(clauses: Iterable[bytes], after: int, last: int) -> bytes:
    """The search for all sides of the changes (after, last] that meet one of the clauses, each with their names."""
    return (
        b'{"query":{"bool":{"filter":[{"range":{"seq":{"gt":%d,"lte":%d}}},{"terms":{"side":[%d,%d]}}],"should":[%b],'
        b'"minimum_should_match":1}},"size":%d,"sort":["_doc"],"_source":false,"docvalue_fields":["seq","side"],'
        b'"track_total_hits":false}'
        % (after, last, Side.BEFORE, Side.AFTER, b",".join(clauses), SIDES * (last - after))
    )


def found_by(entries: Iterable[MatchedEntry]) -> dict[str, list[int]]:
    """By the search's id, the changes after which an item matches that did not match before, in their order."""
    before, after = defaultdict[str, set[int]](set), defaultdict[str, set[int]](set)
    for entry in entries:
        side = before if entry.side == Side.BEFORE else after
        for search_id in entry.matched_queries:
            side[search_id].add(entry.seq)
    matches = {search_id: sorted(seqs - before[search_id]) for search_id, seqs in after.items()}
    return {search_id: seqs for search_id, seqs in matches.items() if seqs}


def cut(matches: Mapping[str, Sequence[int]], last: int, most: int) -> int:
    """The change up to which no more than `most` matches are told at once; at least one change is."""
    seqs = sorted(seq for each in matches.values() for seq in each)
    if len(seqs) <= most:
        return last
    return max(seqs[0], seqs[most] - 1)


def bodies_of(seqs: Sequence[int], contents: Mapping[int, bytes], size: int) -> list[bytes]:
    """JSON arrays of these changes, of so many each."""
    parts = (seqs[begin : begin + size] for begin in range(0, len(seqs), size))
    return [b"[%b]" % b",".join(contents[seq] for seq in part) for part in parts]
