"""Runs `gear-indexer sample`."""

import time
from pathlib import Path
from typing import Any

from indexer.cli.context import command_result, index_of
from indexer.cli.output import write_pieces
from indexer.sample.catalogue import read_catalogue
from indexer.sample.generator import Sampler


def run_sample(count: int, seed: int, *, catalogue: Path, platform: str, output: Path | None, as_json: bool) -> None:
    """`gear-indexer sample`."""
    result: dict[str, Any] = {"count": count, "seed": seed, "output": None if output is None else str(output)}
    with command_result(result, as_json=as_json):
        began = time.monotonic()
        sampler = Sampler(read_catalogue(catalogue), index_of(platform).platform, seed)
        result["bytes"] = write_pieces(sampler.batches(count), output)
        result["seconds"] = round(time.monotonic() - began, 3)
