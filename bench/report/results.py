"""Results: measured series in, a JSON file with all that is needed to judge them and a readable table out."""

import json
import os
import platform
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
from rich.table import Table

from bench.report.figures import show_wide
from bench.runs.search import OURS, Series


def circumstances(**more: Any) -> dict[str, Any]:
    """When, on which commit and on what machine."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "machine": {
            "cores": os.cpu_count(),
            "memoryGiB": round(psutil.virtual_memory().total / 2**30, 1),
            "system": platform.platform(),
            "python": platform.python_version(),
        },
        **more,
    }


def _commit() -> str:
    program = shutil.which("git")
    if program is None:
        return "unknown"
    here = Path(__file__).parent
    asked = [program, "-C", str(here), "describe", "--always", "--dirty"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def write(file: Path, about: dict[str, Any], measured: list[Series]) -> None:
    """Writes everything as JSON."""
    write_json(file, about, [one.as_json() for one in measured])


def write_json(file: Path, about: dict[str, Any], series: list[dict[str, Any]]) -> None:
    """Writes what was measured, each series in its own shape."""
    file.write_text(json.dumps({**about, "series": series}, indent=1), encoding="utf-8")


def show(measured: list[Series]) -> None:
    """Prints the medians, and what each peer is to this project's service."""
    table = Table("workload", "clients", "peer", "requests/s", "spread", "p50 ms", "p99 ms", "rate of ours", "items/s")
    ours = {(one.workload, one.clients): one for one in measured if one.peer == OURS}
    for one in measured:
        told = one.as_json()
        ratio = ours[one.workload, one.clients].median("rate") / one.median("rate")
        low, high = told["spread"]
        table.add_row(
            one.workload,
            str(one.clients),
            one.peer,
            f"{told['rate']:,.0f}",
            f"{low:,.0f} to {high:,.0f}",
            f"{one.median('p50') / 1000:.2f}",
            f"{one.median('p99') / 1000:.2f}",
            "" if one.peer == OURS else f"{ratio:.2f}",
            f"{told['items']:,.0f}" if "items" in told else "",
        )
    show_wide(table)
