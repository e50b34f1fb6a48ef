"""The measured items: how many in; one seeded file of listings, in this project's index and the plain peer's, out."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import zstandard
from opensearchpy import OpenSearch

from bench.peers import plain, services, stac
from bench.peers.services import Service
from mappings.connection import SearchSettings, connect

SEED = 1


def listings(count: int, folder: Path) -> Path:
    """The file of so many listings, the same bytes every time; made where it is not there yet."""
    file = folder / f"listings-{count}-{SEED}.ndjson.zst"
    if not file.exists():
        part = file.with_name(f"part-{file.name}")
        _indexer(["sample", "--count", str(count), "--seed", str(SEED), "--output", str(part)], {})
        part.rename(file)
    return file


def digest(file: Path) -> str:
    """The SHA-256 of a file, the first 16 digits."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:16]


def items(file: Path) -> Iterator[dict[str, Any]]:
    """The items of a compressed file of listings."""
    with zstandard.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield orjson.loads(line)


def indices(count: int, opensearch_url: str, folder: Path, *, with_plain: bool) -> tuple[Path, str, str | None]:
    """The file of so many listings, the prefix of this project's index of them, and the plain peer's index where it is
    wanted: made and loaded where they are not there yet.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file, prefix, index = listings(count, folder), f"bench-{count}", f"bench-plain-{count}" if with_plain else None
    load_ours(file, count, opensearch_url, prefix, folder)
    if index is not None:
        load_plain(file, count, opensearch_url, index)
    return file, prefix, index


def load_ours(file: Path, count: int, opensearch_url: str, prefix: str, folder: Path, *, anew: bool = False) -> None:
    """Loads the file by `gear-indexer load`; unless `anew`, not where so many items serve already."""
    client = connect(SearchSettings(_env_file=None, opensearch_url=opensearch_url), timeout=600)
    if not anew and _held(client, f"{prefix}-730") == count:
        return
    load_fresh(file, opensearch_url, prefix, folder)


def load_fresh(file: Path, opensearch_url: str, prefix: str, folder: Path) -> None:
    """Loads the file by `gear-indexer load`, whatever serves now."""
    names = {"GEAR_OPENSEARCH_URL": opensearch_url, "GEAR_INDEX_PREFIX": prefix}
    store = {"GEAR_DATABASE_URL": f"sqlite+aiosqlite:///{folder}/bench.db"}
    _api(["migrate"], names | store)
    _indexer(["load", str(file), "--platform", "730", "--quiet"], names | store)


def load_plain(file: Path, count: int, opensearch_url: str, index: str) -> None:
    """Loads the file as the plain peer does, unless so many items are there already."""
    client = connect(SearchSettings(_env_file=None, opensearch_url=opensearch_url), timeout=600)
    if _held(client, index) != count:
        plain.load(plain.client_of(opensearch_url), index, items(file))


@contextmanager
def independent(python: Path, file: Path, count: int, opensearch_url: str, folder: Path) -> Iterator[Service]:
    """The independent peer, run by that interpreter; loaded unless so many items are there already."""
    names = stac.Names(f"bench-stac-{count}")
    with services.stac(python, stac.settings(opensearch_url, names), folder) as service:
        client = plain.client_of(opensearch_url)
        if _held(client, names.items) != count:
            stac.create(service.address, client, names)
            stac.load(client, names, items(file))
        yield service


def _held(client: OpenSearch, name: str) -> int:
    if not client.indices.exists(index=name):
        return 0
    return int(client.count(index=name)["count"])


def _indexer(arguments: list[str], environment: dict[str, str]) -> None:
    _run("gear-indexer", arguments, environment)


def _api(arguments: list[str], environment: dict[str, str]) -> None:
    _run("gear-api", arguments, environment)


def _run(program: str, arguments: list[str], environment: dict[str, str]) -> None:
    command = [str(Path(sys.executable).with_name(program)), *arguments]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    if done.returncode:
        message = f"{json.dumps(command)}: {done.stderr[-1000:]}"
        raise RuntimeError(message)
