"""Loads items as an operator does: by the indexer's own command, in this process.

Where only the items count, `catalogue.put_index` puts them there in a tenth of the time.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from click.testing import CliRunner

from api.settings import Settings
from indexer.cli.main import main
from tests.support.app import serving, settings_for
from tests.support.indices import drop_indices

INDEXER = Path(sys.executable).parent / "gear-indexer"


def environment(settings: Settings) -> dict[str, str]:
    """The process environment in which the commands use a test's settings."""
    return {**os.environ, **variables(settings)}


def variables(settings: Settings) -> dict[str, str]:
    """The environment variables that name a test's engine, indices and database."""
    return {
        "GEAR_OPENSEARCH_URL": settings.opensearch_url,
        "GEAR_INDEX_PREFIX": settings.index_prefix,
        "GEAR_DATABASE_URL": settings.database_url,
    }


@contextmanager
def serving_items(opensearch_url: str, items: list[dict[str, Any]], folder: Path) -> Iterator[tuple[httpx.Client, str]]:
    """A client of an app over an index of these items, and the index prefix; all of it is dropped afterwards."""
    prefix = f"t{uuid4().hex[:10]}"
    settings = settings_for(opensearch_url, prefix, folder)
    with serving(settings) as client:
        try:
            _load(settings, items, folder)
            yield client, prefix
        finally:
            drop_indices(opensearch_url, prefix)


def _load(settings: Settings, items: list[dict[str, Any]], folder: Path) -> None:
    """Loads the items for platform 730; every one must be indexed."""
    file = folder / "items.ndjson"
    file.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    command = ["load", str(file), "--platform", "730", "--json", "--quiet"]
    result = CliRunner().invoke(main, command, env=variables(settings))
    assert result.exit_code == 0, f"{result.output}{result.exception!r}"
    report = json.loads(result.stdout.splitlines()[-1])  # the app beside it may log there too
    assert report["indexed"] == len(items)
