"""Loads items as an operator does: by the indexer's own command, in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from api.settings import Settings
from tests.support.app import serving, settings_for
from tests.support.indices import drop_indices

INDEXER = Path(sys.executable).parent / "gear-indexer"


def environment(settings: Settings) -> dict[str, str]:
    """The process environment in which the commands use a test's settings."""
    return {
        **os.environ,
        "GEAR_OPENSEARCH_URL": settings.opensearch_url,
        "GEAR_INDEX_PREFIX": settings.index_prefix,
        "GEAR_DATABASE_URL": settings.database_url,
    }


def load_items(settings: Settings, items: list[dict[str, Any]], folder: Path, *options: str) -> dict[str, Any]:
    """Loads the items for platform 730 and returns the command's report; every item must have been indexed."""
    file = folder / "items.ndjson"
    file.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    command = [str(INDEXER), "load", str(file), "--platform", "730", "--json", "--quiet", *options]
    done = subprocess.run(command, env=environment(settings), cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["indexed"] == len(items)
    return report


@contextmanager
def serving_items(opensearch_url: str, items: list[dict[str, Any]], folder: Path) -> Iterator[tuple[httpx.Client, str]]:
    """A client of an app over an index of these items, and the index prefix; all of it is dropped afterwards."""
    prefix = f"t{uuid4().hex[:10]}"
    settings = settings_for(opensearch_url, prefix, folder)
    with serving(settings) as client:
        try:
            load_items(settings, items, folder)
            yield client, prefix
        finally:
            drop_indices(opensearch_url, prefix)
