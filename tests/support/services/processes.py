"""Processes of our commands, forked from one that has imported the service and read the package's vocabularies.

Else most of a test's time would be these. What a process of its own does at its start is tested with `two_workers`.
"""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

import httpx

from api.cli.main import main
from tests.support.api.waiting import serves

_FORKS: Final = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    ["tests.support.services.read_vocabularies", "api.app", "tests.support.services.processes", "uvicorn.loops.auto"]
)
START_SECONDS: Final = 150.0  # of a busy machine


class Command:
    """A command that runs in a process of its own, and the file that it writes to."""

    def __init__(self, process: BaseProcess, written: Path) -> None:
        self._process = process
        self.written = written

    @property
    def exit_code(self) -> int | None:
        """None while it runs, the negative signal where one ended it."""
        return self._process.exitcode

    def send_signal(self, number: signal.Signals) -> None:
        """Sends it a signal."""
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    async def wait(self) -> int:
        """Its exit code, once it has ended."""
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._process.sentinel, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(self._process.sentinel)
        assert self.exit_code is not None
        return self.exit_code

    async def until_it_serves(self, client: httpx.AsyncClient) -> None:
        """Waits until requests to the client's address are answered."""
        async with asyncio.timeout(START_SECONDS):
            while self.exit_code is None:
                if await serves(client):
                    return
                await asyncio.sleep(0.02)
        raise AssertionError(self.written.read_text(encoding="utf-8"))


def gear_api(*arguments: str) -> None:
    """`gear-api` with these arguments."""
    main(arguments, prog_name="gear-api")


@asynccontextmanager
async def command(
    folder: Path,
    variables: Mapping[str, str],
    *arguments: str,
    program: Callable[..., None] = gear_api,
    errors: Path | None = None,
) -> AsyncIterator[Command]:
    """A command with these variables in its environment, in a folder without a `.env`; killed at the end.

    Where no file for its errors is named, they are written where all else is.
    """
    written = folder / f"{program.__name__}-{arguments[0]}-{os.urandom(4).hex()}.log"
    files = (written, errors or written)
    process = _FORKS.Process(target=_run, args=(program, arguments, {**os.environ, **variables}, folder, files))
    process.start()
    started = Command(process, written)
    try:
        yield started
    finally:
        if started.exit_code is None:
            process.kill()
        await started.wait()


@dataclass(frozen=True)
class Ended:
    """What a command ended with, and what it wrote."""

    code: int
    printed: str
    errors: str


async def ran(folder: Path, variables: Mapping[str, str], *arguments: str) -> Ended:
    """A command of `gear-api` that ends by itself."""
    errors = folder / f"errors-{os.urandom(4).hex()}.log"
    async with command(folder, variables, *arguments, errors=errors) as started:
        code = await started.wait()
    return Ended(code, started.written.read_text(encoding="utf-8"), errors.read_text(encoding="utf-8"))


def _run(
    program: Callable[..., None],
    arguments: tuple[str, ...],
    environment: dict[str, str],
    folder: Path,
    files: tuple[Path, Path],
) -> None:
    """Makes the forked process what a shell would have started."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number, file in enumerate(files, 1):
        with file.open("ab") as output:
            os.dup2(output.fileno(), number)
    program(*arguments)
