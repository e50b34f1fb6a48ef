"""The engine's means on the page: files of `means`, `request-cache` and `deaths` in, their tables in Markdown out."""

from collections.abc import Sequence
from statistics import mean
from typing import Any

from bench.means import QUESTIONS
from bench.report.markdown import number, table
from bench.report.measured import Measured

Json = dict[str, Any]


def means(files: Sequence[Measured]) -> str:
    """A table for each file, with what its columns are."""
    parts = []
    for file in files:
        if file.has("asked"):
            turns = _TURNS if "turns" in file.content else ""
            parts += [_told(file) + _ASKED + turns + ".", variants_table(file)]
        elif file.has("hit_count"):
            parts += [_told(file) + _CACHE, cache_table(file.content["series"])]
        else:
            parts += [_told(file) + _DEATHS, deaths_table(file.content["series"])]
    return "\n\n".join(parts)


_ASKED = (
    "; filling and merging in seconds, in brackets the engine's processor seconds (of each load, where there were"
    " several); searches in ms, the median of all, in brackets those of the rounds"
)
_TURNS = "; last the engine's processor ms of one"
_CACHE = "; a node of its own for each size, 512 MB of heap; one client."
_DEATHS = "; three nodes; seconds since the death; medians before it, until all copies were there again, and after."


def _told(file: Measured) -> str:
    nodes = file.content.get("nodes", 1)
    return f"{file.link()}: {file.made()}" + (f", {nodes} nodes" if nodes > 1 else "")


def variants_table(file: Measured) -> str:
    """A row for each variant."""
    rows = []
    for one in file.content["series"]:
        fills, merge = one.get("fills", []), one.get("merge")
        asked = [_asked(one["asked"][name], "turns" in file.content) for name in QUESTIONS]
        rows.append(
            [
                one["variant"],
                _took(fills),
                _took([merge] if merge else []),
                _megabytes(one["disk"]),
                str(one["segments"]),
                *asked,
            ]
        )
    return table(["", "filled", "merged", "MB", "segments", *QUESTIONS], rows)


def _asked(one: Json, in_turns: bool) -> str:
    """The median and those of the rounds; the processor's time where it was taken in turns, else it drifts."""
    low, high = min(one["rounds"]), max(one["rounds"])
    text = f"{number(one['p50'])} ({number(low)} to {number(high)})"
    return f"{text}, {number(one['processor'])}" if in_turns else text


def _took(runs: Sequence[Json]) -> str:
    if not runs:
        return ""
    used = ", ".join(f"{run['engine_seconds']:.0f}" for run in runs)
    return f"{mean(run['seconds'] for run in runs):.0f} ({used})"


def _megabytes(count: int) -> str:
    return number(count / 1e6)


def cache_table(series: Sequence[Json]) -> str:
    """A row for each size of the cache."""
    head = [
        "workload",
        "size",
        "kept MB",
        "pages and numbers",
        "hits",
        "evicted",
        "median ms",
        "mean ms",
        "processor ms",
    ]
    rows = []
    for one in series:
        share = one["hit_count"] / (one["hit_count"] + one["miss_count"])
        times = [number(one[name]) for name in ("p50", "mean", "processor")]
        rows.append(
            [
                f"`{one['workload']}`",
                one["size"],
                _megabytes(one["kept"]),
                str(2 * one["distinct"]),
                f"{share:.0%}",
                f"{one['evictions']:,}",
                *times,
            ]
        )
    return table(head, rows)


def deaths_table(series: Sequence[Json]) -> str:
    """A row for each death."""
    head = [
        "dead",
        "noticed",
        "green",
        "answers",
        "not answered",
        "from, to",
        "slowest s",
        "compared, wrong",
        "median ms",
    ]
    rows = []
    for one in series:
        failed = ", ".join(f"{count} × {status}" for status, count in one["failed"].items()) or "0"
        when = f"{one['first_failed']}, {one['last_failed']}" if one["failed"] else ""
        compared = f"{one['compared']:,}, {one['wrong']}"
        medians = ", ".join(number(value) for value in one["medians"].values())
        cells = [
            one["noticed"],
            one["green"],
            f"{one['answers']:,}",
            failed,
            when,
            one["slowest"],
            compared,
            medians,
        ]
        rows.append([_VICTIMS[one["victim"]], *map(str, cells)])
    return table(head, rows)


_VICTIMS = {"manager": "the node that manages the cluster", "other": "another node"}
