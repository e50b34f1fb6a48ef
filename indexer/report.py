"""The report: what a load counted and did in, one JSON object and one sentence out."""

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class LoadReport:
    """What became of a load; `error` is None when everything that was asked for is done."""

    platform: int
    alias: str
    index: str | None = None
    read: int = 0
    indexed: int = 0
    rejected: int = 0
    duplicates: int = 0
    bound: int = 0
    swapped: bool = False
    previous: str | None = None
    removed: list[str] = field(default_factory=list)
    rejects: str | None = None
    seconds: float = 0.0
    error: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Every number, for machines."""
        return {**asdict(self), "seconds": round(self.seconds, 3)}

    def counts(self) -> str:
        """`1,000 read, 990 indexed, 7 rejected, 3 duplicates`."""
        return (
            f"{self.read:,} read, {self.indexed:,} indexed, {self.rejected:,} rejected, {self.duplicates:,} duplicates"
        )
