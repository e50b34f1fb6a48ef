"""Versions of the service, each from its own source: the one at hand, and the one before, from the history."""

import asyncio
import io
import os
import subprocess
import sys
import tarfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

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


def version_before(folder: Path) -> Path | None:
    """The source of the version before the newest migration, in this folder; None where the history is not here."""
    migration = max((ROOT / MIGRATIONS).glob("m*.py"))
    newest = _git("log", "-1", "--format=%H", "--diff-filter=A", "--", str(migration)).decode().strip()
    try:
        archive = _git("archive", f"{newest}^", *PACKAGES)
    except subprocess.CalledProcessError:
        return None
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return folder


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True).stdout
