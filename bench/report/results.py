"""Files of measured runs: the figures with the commit, the machine and the data that they are of."""

import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from bench.peers.checkout import HERE
from bench.report.measured import Json, Measured


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
