"""The report: what a load counted and did in, one JSON object, one sentence and a table out."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

_MOST_REASONS_SHOWN = 10


@dataclass
class ChangeReport:
    """What became of live changes; `error` is None when everything that was asked for is done.

    read = written + deleted + missing + superseded + rejected, as the serving index says. `missing` are deletes of
    what was not there, `superseded` changes older than what is there, or followed by one of the same item in the same
    request.
    """

    platform: int
    alias: str
    version: int | None = None  # the time of the last request's changes, microseconds since 1970
    read: int = 0
    written: int = 0
    deleted: int = 0
    missing: int = 0
    superseded: int = 0
    rejected: int = 0
    bound: int = 0  # of the written ones
    indices: list[str] = field(default_factory=list)
    rejects: str | None = None
    reasons: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    error: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Every number, for machines."""
        return {**asdict(self), "seconds": round(self.seconds, 3)}

    def counts(self) -> str:
        """`10 read: 9 written, 0 deleted, 0 missing, 0 superseded, 1 rejected`."""
        names = ("written", "deleted", "missing", "superseded", "rejected")
        return f"{self.read:,} read: {', '.join(f'{getattr(self, name):,} {name}' for name in names)}"


@dataclass
class LoadReport:
    """What became of a load; `error` is None when everything that was asked for is done.

    read = indexed + rejected + duplicates. `superseded` items are among the indexed ones: a later live change of them
    was in the index already and stays.
    """

    platform: int
    alias: str
    index: str | None = None
    version: int | None = None  # the load's start, microseconds since 1970
    read: int = 0
    indexed: int = 0
    superseded: int = 0
    rejected: int = 0
    duplicates: int = 0
    resumed: int = 0  # of the indexed ones: acknowledged by the load that died, and not sent again
    bound: int = 0
    swapped: bool = False
    previous: str | None = None
    removed: list[str] = field(default_factory=list)
    rejects: str | None = None
    reasons: dict[str, int] = field(default_factory=dict)  # of what is in the rejects file, by field and rule
    bytes: int = 0  # sent to the engine, retries included
    retries: int = 0
    pace: dict[str, int] | None = None  # found by the end: `bytes` a request, `senders` at once; `pushedBack` times
    copies: dict[str, int] | None = None  # shards: `wanted` and `allocated` before the swap
    proof: dict[str, Any] | None = None
    phases: dict[str, float] = field(default_factory=dict)  # seconds
    seconds: float = 0.0
    error: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Every number, for machines."""
        phases = {name: round(seconds, 3) for name, seconds in self.phases.items()}
        return {**asdict(self), "phases": phases, "rates": self.rates(), "seconds": round(self.seconds, 3)}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Notes how long the block takes, whatever becomes of it."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.phases[name] = time.monotonic() - began

    def rates(self) -> dict[str, float]:
        """Items and bytes a second while the index was filled."""
        seconds = self.phases.get("fill", 0.0)
        if not seconds:
            return {"items": 0.0, "bytes": 0.0}
        return {"items": round(self.read / seconds, 1), "bytes": round(self.bytes / seconds, 1)}

    def counts(self) -> str:
        """`1,000 read, 990 indexed, 7 rejected, 3 duplicates`."""
        return (
            f"{self.read:,} read, {self.indexed:,} indexed, {self.rejected:,} rejected, {self.duplicates:,} duplicates"
        )

    def table(self) -> str:
        """The same for people, a line for each kind of number."""
        rates = self.rates()
        rows = [
            ("items", f"{self.counts()}; {self.superseded:,} superseded by live changes"),
            ("sent", f"{self.bytes / 1e6:,.1f} MB, {self.retries:,} retries"),
            ("rates", f"{rates['items']:,.0f} items/s, {rates['bytes'] / 1e6:,.1f} MB/s"),
            ("seconds", ", ".join(f"{name} {seconds:,.2f}" for name, seconds in self.phases.items())),
            ("bound", f"{self.bound:,} by active orders"),
        ]
        if self.resumed:
            rows.append(("resumed", f"{self.resumed:,} items were acknowledged before and not sent again"))
        if self.pace is not None:
            text = f"{self.pace['bytes'] / 2**20:,.1f} MiB a request, {self.pace['senders']} at once by the end"
            rows.insert(2, ("pace", f"{text}; pushed back {self.pace['pushedBack']:,} times"))
        if self.copies is not None:
            rows.append(("shards", f"{self.copies['allocated']} of {self.copies['wanted']} allocated"))
        if self.proof is not None:
            rows += [
                (side, f"{self.proof[side]['items']:,} items, digest {self.proof[side]['digest']}")
                for side in ("expected", "found")
            ]
            live = f"{self.proof['changedLive']:,} changed, {self.proof['deletedLive']:,} deleted since the load began"
            rows.append(("live", live))
        most = sorted(self.reasons.items(), key=lambda pair: -pair[1])[:_MOST_REASONS_SHOWN]
        rows += [("refused", f"{count:,} × {reason}") for reason, count in most]
        return "\n".join(f"  {name:<9} {text}" for name, text in rows)
