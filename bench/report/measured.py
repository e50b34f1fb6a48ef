"""Measured files: JSON files of runs in, what each is of, how it was made and what it holds out."""

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.peers.search_peers import STAC

Json = dict[str, Any]


class PageError(ValueError):
    """Files that no page can be made of; the text says which."""


@dataclass(frozen=True)
class Measured:
    """One file: its name, and what it holds."""

    name: str
    content: Json

    @property
    def items(self) -> int:
        """Of how many listings it tells."""
        return int(self.content["read"] if self.is_report else self.content["items"])

    @property
    def workers(self) -> int:
        """How many processes each service had."""
        return int(self.content.get("workers", 1))

    def clients(self, workload: str) -> set[int]:
        """With how many clients a workload was asked."""
        return {one["clients"] for one in self.content["series"] if one["workload"] == workload}

    @property
    def is_report(self) -> bool:
        """Whether it is what `gear-indexer load --json` printed."""
        return "proof" in self.content

    def has(self, *names: str) -> bool:
        """Whether it holds series that have all of these."""
        series = self.content.get("series") or [{}]
        return all(name in series[0] for name in names)

    def told(self) -> str:
        """Where its rounds are and how they came to be."""
        link = self.link()
        if self.is_report:
            proof = "agrees" if self.content["proof"]["agrees"] else "does not agree"
            minutes = self.content["seconds"] / 60
            return f"{link}: one load by `gear-indexer load`, {minutes:.0f} minutes; the proof {proof}."
        rounds = max(len(one["rounds"]) for one in self.content["series"])
        widths = [(high - low) / one["rate"] for one in self.content["series"] for low, high in [one["spread"]]]
        more = f", {STAC} {self.content['stac']}" if "stac" in self.content else ""
        if self.workers > 1:
            more += f", {self.workers} workers of each service"
        apart = f"which lie {statistics.median(widths):.0%} apart in the median and {max(widths):.0%} at most"
        return f"{link}: {self.made()}{more}; medians of {rounds} rounds, {apart}."

    def link(self) -> str:
        """How many listings, leading to the file."""
        return f"[{self.items:,} listings](measured/{self.name})"

    def made(self) -> str:
        """When, of which commit, on how many cores."""
        return f"{self.content['at'][:10]}, commit `{self.content['commit']}`, {self.content['machine']['cores']} cores"


def read(files: Sequence[Path]) -> list[Measured]:
    """The files, the smallest number of items first; raises PageError for one of no known kind."""
    found = [Measured(file.name, json.loads(file.read_text(encoding="utf-8"))) for file in files]
    for one in found:
        if not any(kind(one) for kind in (is_search, is_load, is_matches, is_memory)):
            message = f"{one.name} holds no searches, loads, costs by matches or memory: leave it out"
            raise PageError(message)
    return sorted(found, key=lambda one: (one.items, one.name))


def is_search(one: Measured) -> bool:
    """Whether it was written by `python -m bench search`."""
    return one.has("workload", "clients", "peer")


def is_load(one: Measured) -> bool:
    """Whether it was written by `python -m bench load`, or is the report of one load."""
    return one.is_report or (one.has("peer", "rounds") and not is_search(one))


def is_matches(one: Measured) -> bool:
    """Whether it was written by `python -m bench matches`."""
    return one.has("matches", "peer")


def is_memory(one: Measured) -> bool:
    """Whether it was written by `python -m bench memory`."""
    return one.has("requests", "resident")
