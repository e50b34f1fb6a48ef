"""Disks: the engine's watermarks and its disks' sizes in, how much must stay free and what is past which mark out."""

import re
from dataclasses import dataclass

_UNITS = {"b": 1, "kb": 2**10, "mb": 2**20, "gb": 2**30, "tb": 2**40, "pb": 2**50}
_BYTES = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgtp]?b)", re.IGNORECASE)
_SHARE = re.compile(r"(\d+(?:\.\d+)?)(%?)")


@dataclass(frozen=True)
class Disk:
    """One data node's disk, in bytes."""

    node: str
    total: int
    free: int

    @property
    def used_percent(self) -> float:
        """From 0 to 100."""
        return 100 * (1 - self.free / self.total) if self.total else 0.0


@dataclass(frozen=True)
class Watermarks:
    """The cluster's marks as they are set: a share that may be used (`85%`, `0.85`) or what must stay free (`10gb`)."""

    low: str
    high: str
    flood: str

    def passed(self, mark: str, disk: Disk) -> bool:
        """Whether the disk is beyond a mark of these."""
        return disk.free < least_free(mark, disk.total)


def least_free(mark: str, total: int) -> float:
    """The bytes of a disk that a mark wants free; raises ValueError for a text that is no mark."""
    as_bytes = _BYTES.fullmatch(mark.strip())
    if as_bytes:
        return float(as_bytes[1]) * _UNITS[as_bytes[2].lower()]
    as_share = _SHARE.fullmatch(mark.strip())
    if not as_share:
        message = f"{mark!r} is no watermark: a share such as 85% or a size such as 10gb"
        raise ValueError(message)
    share = float(as_share[1]) / (100 if as_share[2] else 1)
    return total * (1 - share)


def readable(size: float) -> str:
    """`76.6 GB`, in units of 1000."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"
