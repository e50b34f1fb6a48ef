"""The log's entries: one for each side of a change, so that a search's own clauses find them.

A change belongs to a reader if its item is on offer and meets the reader's filters before it or after it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from functools import lru_cache
from itertools import groupby

import orjson

from api.engine.clauses import Clause, any_of
from api.engine.feed import LogEntry
from mappings.timestamps import rfc3339


class Side(IntEnum):
    """Which state of the item an entry has."""

    BEFORE = 0
    AFTER = 1
    UNKNOWN = 2  # what was before is not known: every reader receives it


@dataclass(frozen=True)
class Difference:
    """An item with its documents before and after a change, None where it was not on offer.

    `before` has no `item`. Unless `is_known`, it is not known what was before.
    """

    platform: int
    id: int
    before: bytes | None
    after: bytes | None
    is_known: bool = True

    @property
    def kind(self) -> str:
        """What it is to who reads everything."""
        if self.after is None:
            return "gone"
        return "listed" if self.before is None and self.is_known else "changed"

    def lines(self, seq: int, at: int) -> Iterator[bytes]:
        """The lines of a bulk request that writes its entries; written again they are the same."""
        if not self.is_known:
            yield b'{"index":{"_id":"%d-2"}}' % seq
            yield b'{"seq":%d,"side":2,"at":%d,"id":%d,"platform":%d}' % (seq, at, self.id, self.platform)
        for side, document in ((Side.BEFORE, self.before), (Side.AFTER, self.after)):
            if document is not None:
                yield b'{"index":{"_id":"%d-%d"}}' % (seq, side)
                yield b'{"seq":%d,"side":%d,"at":%d,' % (seq, side, at) + document[1:]


@dataclass(frozen=True)
class Change:
    seq: int
    content: bytes  # JSON


def request(offered: Clause, platforms: Sequence[int], after: int, last: int, size: int) -> Clause:
    """The search body for the entries of a subscription after `after`, up to `last`."""
    demanded = [
        {"range": {"seq": {"gt": after, "lte": last}}},
        {"terms": {"platform": list(platforms)}},
        any_of([offered, {"term": {"side": Side.UNKNOWN}}]),
    ]
    return {
        "query": {"bool": {"filter": demanded}},
        "sort": [{"seq": "asc"}, {"side": "asc"}],
        "size": size,
        "track_total_hits": False,
    }


def changes_of(entries: Sequence[LogEntry], size: int, *, with_platform: bool) -> tuple[list[Change], bool]:
    """The changes in a response of `size` entries at most, and whether there may be more.

    The last change of a full response may lack a side, so it is left to the next one.
    """
    grouped = [list(sides) for _, sides in groupby(entries, key=lambda entry: entry.seq)]
    is_full = len(entries) == size
    if is_full:
        grouped.pop()
    return [Change(sides[0].seq, _content(sides, with_platform=with_platform)) for sides in grouped], is_full


def _content(sides: Sequence[LogEntry], *, with_platform: bool) -> bytes:
    after = next((entry for entry in sides if entry.side == Side.AFTER), None)
    first = sides[0]
    kind = "gone" if after is None else "listed" if len(sides) == 1 else "changed"
    platform = b',"platform":%d' % first.platform if with_platform else b""
    gear = b"" if after is None else b',"gear":' + bytes(after.item)
    return b'{"id":%d%b,"change":"%b","at":"%b"%b}' % (first.id, platform, kind.encode(), _time_of(first.at), gear)


@lru_cache(maxsize=64)  # what is recorded together has one time
def _time_of(at: int) -> bytes:
    return rfc3339(datetime.fromtimestamp(at / 1_000_000, UTC)).encode()


def response_of(changes: Iterable[Change], following: str, *, more: bool) -> bytes:
    listed = b",".join(change.content for change in changes)
    return b'{"status":"success","changes":[%b],"next":%b,"more":%b}' % (
        listed,
        orjson.dumps(following),
        b"true" if more else b"false",
    )
