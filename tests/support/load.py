"""Loads items as an operator does: by the indexer's own command, in this process."""

import asyncio
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


def load_items(settings: Settings, items: list[dict[str, Any]], folder: Path, *options: str) -> dict[str, Any]:
    """Loads the items for platform 730 and returns the command's report; every item must have been indexed."""
    file = folder / "items.ndjson"
    file.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    any_price = ("--max-price-change", "100")  # what a test loads anew may cost anything
    command = ["load", str(file), "--platform", "730", "--json", "--quiet", *any_price, *options]
    exit_code, stdout, output = _run(command, settings)
    assert exit_code == 0, output
    report: dict[str, Any] = json.loads(stdout.splitlines()[-1])  # the app beside it may log there too
    assert report["indexed"] == len(items)
    return report


def _run(command: list[str], settings: Settings) -> tuple[int, str, str]:
    """Runs the indexer; returns its exit code, its stdout, and all that tells of a failure.

    A command runs an event loop and handles signals: beside a loop that runs in this thread it needs a process.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        result = CliRunner().invoke(main, command, env=variables(settings))
        return result.exit_code, result.stdout, f"{result.output}{result.exception!r}"
    done = subprocess.run([INDEXER, *command], env=environment(settings), capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stdout + done.stderr


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
