"""Runs `gear-indexer export`."""

import time
from pathlib import Path
from typing import Any

from indexer.cli.context import command_result, index_of, say
from indexer.cli.output import write_pieces
from indexer.maintenance.export import Export


def run_export(platform: str, *, output: Path | None, quiet: bool, as_json: bool) -> None:
    """`gear-indexer export`."""
    result: dict[str, Any] = {"platform": platform, "output": None if output is None else str(output)}
    with command_result(result, as_json=as_json):
        index = index_of(platform)
        result.update({"platform": index.platform.id, "alias": index.alias, "complete": False})
        export = Export(index.connected(), index.alias)
        began = time.monotonic()
        try:
            result["bytes"] = write_pieces(export.pieces(), output)
            result["complete"] = True
        finally:
            seconds = round(time.monotonic() - began, 3)
            result.update({"items": export.items, "expected": export.expected, "seconds": seconds})
        if not quiet:
            say(f"{export.items:,} items of {index.alias} in {seconds:,.1f} s")
