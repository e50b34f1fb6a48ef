"""Costs that grow, or do not: measured files in; tables, plots of lines and verdicts for docs/benchmarks.md out."""

from collections.abc import Sequence
from typing import Any

from bench.report.markdown import lines, number, size, table
from bench.report.measured import Measured

Json = dict[str, Any]

MIB = 2**20


def costs(files: Sequence[Measured]) -> str:
    """The cost by matches: for each file a row a number of matches, a column a peer, and a line a peer."""
    parts = [
        "Median and 90th percentile of one client's searches in ms, by how many items match; in brackets how many "
        "times ours the peer's median is."
    ]
    for file in files:
        series: list[Json] = file.content["series"]
        peers = list(dict.fromkeys(one["peer"] for one in series))
        classes = list(dict.fromkeys(one["matches"] for one in series))
        held = {(one["matches"], one["peer"]): one for one in series}
        rows = [
            [f"{matches:,}", *(_cell(held[matches, peer], held[matches, peers[0]]) for peer in peers)]
            for matches in classes
        ]
        searches = min(one["searches"] for one in series)
        parts.append(f"{file.link()}: {file.made()}; {searches} searches of each number of matches.")
        parts.append(table(["matches", *peers], rows))
        drawn = {peer: [held[matches, peer]["ms"] for matches in classes] for peer in peers}
        parts.append(lines(f"{size(file.items)} listings", "ms", [size(one) for one in classes], drawn))
    return "\n\n".join(parts)


def _cell(one: Json, ours: Json) -> str:
    text = f"{number(one['ms'])}, {number(one['p90'])} ms"
    return text if one is ours else f"{text} ({one['ms'] / ours['ms']:.2f})"


def memory(files: Sequence[Measured]) -> str:
    """A worker's memory: for each file the verdict, a row a tenth of the requests, and a line."""
    parts = []
    for file in files:
        verdict: Json = file.content["verdict"]
        tenths: list[Json] = verdict["tenths"]
        asked = [f"{one['requests']:,}" for one in tenths]
        resident = [one["resident"] / MIB for one in tenths]
        parts.append(f"{file.link()}: {file.made()}; {said(verdict)}")
        parts.append(table(["requests answered", *asked], [["MiB resident", *(f"{mib:.1f}" for mib in resident)]]))
        parts.append(lines("MiB resident by requests answered", "MiB", asked, {"a worker": resident}))
    return "\n\n".join(parts)


def said(verdict: Json) -> str:
    """The verdict in a sentence."""
    first, last, most = (f"{verdict[name] / MIB:.1f} MiB" for name in ("first", "last", "max"))
    kept = "flat" if verdict["flat"] else "not flat"
    room = "within" if verdict["within"] else "above"
    return f"{first} in the first tenth after the warm-up, {last} in the last: {kept}. {most} at most: {room} 150 MB."
