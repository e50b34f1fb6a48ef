"""Versions of the service, each from its own source: the one at hand, and the one before, from the history."""

import asyncio
import io
import os
import subprocess
import sys
import tarfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import pytest

from mappings.definition import FILES
from tests.support.api.waiting import serves
from tests.support.servers import free_port

ROOT: Final = Path(__file__).parents[3]
PACKAGES: Final = ("api", "indexer", "store", "mappings", "node")
MIGRATIONS: Final = "store/migrations/versions"
START_SECONDS: Final = 150.0


@dataclass(frozen=True)
class Version:
    """The source of a version and the variables of its commands."""

    source: Path
    variables: Mapping[str, str]

    def run(self, program: str, *arguments: str) -> str:
        """What a command (`api`, `indexer`) of this version printed; fails with what it complained of."""
        done = subprocess.run(
            self._command(program, *arguments),
            env=self._environment(),
            cwd=self.source,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @asynccontextmanager
    async def serving(self, log: Path) -> AsyncIterator[str]:
        """The address of `gear-api serve`."""
        port = free_port()
        with log.open("wb") as written:
            process = await asyncio.create_subprocess_exec(
                *self._command("api", "serve", "--port", str(port)),
                env=self._environment(),
                cwd=self.source,
                stdout=written,
                stderr=written,
            )
        address = f"http://127.0.0.1:{port}"
        try:
            async with asyncio.timeout(START_SECONDS), httpx.AsyncClient(base_url=address) as client:
                while not await serves(client):
                    assert process.returncode is None, f"it ended by itself, see {log}"
                    await asyncio.sleep(0.05)
            yield address
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()

    def _command(self, program: str, *arguments: str) -> list[str]:
        return [sys.executable, "-c", f"from {program}.cli.main import main; main()", *arguments]

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.source), **self.variables}


def before_migration() -> str:
    """The commit before the one of the newest migration."""
    migration = max((ROOT / MIGRATIONS).glob("m*.py"))
    return f"{_git('log', '-1', '--format=%H', '--diff-filter=A', '--', str(migration)).decode().strip()}^"


def first_of_definition() -> str:
    """The first commit with this version's definition of indices."""
    return _git("log", "-1", "--format=%H", "--", *(f"mappings/{file}" for file in FILES)).decode().strip()


def earlier_version(commit: Callable[[], str], folder: Path) -> Path:
    """The source of a commit, in this folder; skips the test where the history is not here."""
    try:
        archive = _git("archive", commit(), *PACKAGES)
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("this checkout has no history, so an earlier version cannot be had")
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return folder


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True).stdout
