"""Files of measured runs: the figures with the commit, the machine and the data, and what kind of run each is of."""

import json
import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from bench.peers.checkout import HERE

Json = dict[str, Any]

STAC = "stac-fastapi.opensearch"  # measured once; its runner is not kept


class PageError(ValueError):
    """Files of which no page can be made; the text says which."""


@dataclass(frozen=True)
class Measured:
    """One file: its name and its content."""

    name: str
    content: Json

    @property
    def series(self) -> list[Json]:
        """The measured series."""
        series: list[Json] = self.content.get("series", [])
        return series

    @property
    def items(self) -> int:
        """The number of listings."""
        return int(self.content["read"] if self.is_report else self.content["items"])

    @property
    def is_report(self) -> bool:
        """Whether it is the report of `gear-indexer load --json`."""
        return "proof" in self.content

    def find(self, workload: str, clients: int, peer: str) -> Json | None:
        """A peer's series of a workload with so many clients."""
        key = (workload, clients, peer)
        return next((row for row in self.series if (row["workload"], row["clients"], row["peer"]) == key), None)

    def has(self, *names: str) -> bool:
        """Whether its series have all of these."""
        return bool(self.series) and all(name in self.series[0] for name in names)

    @property
    def title(self) -> str:
        """The number of listings with a link to the file, and when, of which commit and on how many cores it is."""
        link = f"[{self.items:,} listings](measured/{self.name})"
        if self.is_report:
            proof = "agrees" if self.content["proof"]["agrees"] else "does not agree"
            minutes = self.content["seconds"] / 60
            return f"{link}: one load by `gear-indexer load`, {minutes:.0f} minutes; the proof {proof}"
        machine = f"{self.content['machine']['cores']} cores"
        return f"{link}: {self.content['at'][:10]}, commit `{self.content['commit']}`, {machine}"

    @property
    def title_with_rounds(self) -> str:
        """The title, the versions, and how far apart the rounds are."""
        if self.is_report:
            return f"{self.title}."
        rounds = max(len(row["rounds"]) for row in self.series)
        widths = [(high - low) / row["rate"] for row in self.series for low, high in [row["spread"]]]
        versions = f", {STAC} {self.content['stac']}" if "stac" in self.content else ""
        workers = self.content.get("workers", 1)
        if workers > 1:
            versions += f", {workers} workers of each service"
        if rounds == 1:
            return f"{self.title}{versions}; one round."
        apart = f"{statistics.median(widths):.0%} apart in the median, {max(widths):.0%} at most"
        return f"{self.title}{versions}; medians of {rounds} rounds, {apart}."


def circumstances(**more: Any) -> Json:
    """When, of which commit and on what machine."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": HERE.commit(),
        "machine": {
            "cores": os.cpu_count(),
            "memoryGiB": round(psutil.virtual_memory().total / 2**30, 1),
            "system": platform.platform(),
            "python": platform.python_version(),
        },
        **more,
    }


def write(file: Path, circumstances: Json, series: list[Json]) -> Measured:
    """Writes a run, each series in its own shape; returns it as the page reads it."""
    content = {**circumstances, "series": series}
    file.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return Measured(file.name, content)


def read(files: Sequence[Path]) -> list[Measured]:
    """The files, the smallest number of items first; raises PageError for one of no known kind."""
    measured = [Measured(file.name, json.loads(file.read_text(encoding="utf-8"))) for file in files]
    for file in measured:
        if not any(is_kind(file) for is_kind in (is_search, is_load, is_changes, is_at_size)):
            message = f"{file.name} holds no searches, loads, changes or phases: leave it out"
            raise PageError(message)
    return sorted(measured, key=lambda file: (file.items, file.name))


def is_search(file: Measured) -> bool:
    """Whether it was written by `python -m bench search`."""
    return file.has("workload", "clients", "peer")


def is_load(file: Measured) -> bool:
    """Whether it was written by `python -m bench load`, or is the report of one load."""
    return file.is_report or (file.has("peer", "rounds") and not is_search(file))


def is_changes(file: Measured) -> bool:
    """Whether it was written by `python -m bench changes`."""
    return file.has("part", "name", "rounds")


def is_at_size(file: Measured) -> bool:
    """Whether it was written by `python -m tests.scale`."""
    return file.has("phase", "figures")
