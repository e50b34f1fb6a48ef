"""The report of a load: what it counted and did, as JSON and as a table."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from indexer.loading.rules import PriceChanges

_MAX_REASONS_SHOWN = 10


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
    resumed: int = 0  # of the indexed ones: acknowledged by the interrupted load, and not sent again
    bound: int = 0
    swapped: bool | None = False  # None: not known
    previous: str | None = None
    removed: list[str] = field(default_factory=list)
    rejects: str | None = None
    reasons: dict[str, int] = field(default_factory=dict)  # of what is in the rejects file, by field and rule
    bytes: int = 0  # sent to the engine, retries included
    retries: int = 0
    throttle: dict[str, int] | None = None  # `bytes` a request and `concurrency` in the end; `throttled` times
    prices: PriceChanges = field(default_factory=PriceChanges)  # of a sample, against what serves
    copies: dict[str, int] | None = None  # shards: `total` and `allocated` before the swap
    proof: dict[str, Any] | None = None
    phases: dict[str, float] = field(default_factory=dict)  # seconds
    error: str | None = None
    started: float = field(default_factory=time.monotonic, repr=False)

    def as_json(self) -> dict[str, Any]:
        phases = {name: round(seconds, 3) for name, seconds in self.phases.items()}
        values = asdict(self)
        seconds = round(time.monotonic() - values.pop("started"), 3)
        return {**values, "phases": phases, "rates": self.rates(), "seconds": seconds}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measures how long the block takes, whatever becomes of it."""
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
        """Every number for people, a line for each kind."""
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
        if self.throttle is not None:
            text = f"{self.throttle['bytes'] / 2**20:,.1f} MiB a request, {self.throttle['concurrency']} at once"
            rows.insert(2, ("requests", f"{text}; throttled {self.throttle['throttled']:,} times"))
        if self.prices.compared:
            rows.append(("prices", self.prices.sentence()))
        if self.copies is not None:
            rows.append(("shards", f"{self.copies['allocated']} of {self.copies['total']} allocated"))
        if self.proof is not None:
            rows += [
                (side, f"{self.proof[side]['items']:,} items, digest {self.proof[side]['digest']}")
                for side in ("expected", "found")
            ]
            live = f"{self.proof['changedLive']:,} changed, {self.proof['deletedLive']:,} deleted since the load began"
            rows.append(("live", live))
        reasons = sorted(self.reasons.items(), key=lambda pair: -pair[1])[:_MAX_REASONS_SHOWN]
        rows += [("refused", f"{count:,} × {reason}") for reason, count in reasons]
        return "\n".join(f"  {name:<9} {text}" for name, text in rows)
