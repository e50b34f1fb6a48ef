"""The processes of a service on one database: `gear-api serve` and `deliver`, which a test can kill."""

import asyncio
import os
import signal
import subprocess
import sys
from asyncio.subprocess import Process
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from random import Random
from typing import Final, Self

import httpx
import psutil

from api.settings import Settings
from tests.support.api.waiting import serves, until
from tests.support.servers import free_port

ROOT: Final = Path(__file__).parents[3]
COMMAND: Final = ("-c", "from api.cli.main import main; main()")
SERVE: Final = ("serve", "--workers", "2")
DELIVER: Final = ("deliver",)
START_SECONDS: Final = 150.0  # of a busy machine; a quiet one takes two


class Fleet:
    """One `gear-api serve` with two workers, which make callbacks too, and one `gear-api deliver`, within `async with`.

    `kills` counts by what was killed.
    """

    def __init__(self, settings: Settings, folder: Path) -> None:
        port = free_port()
        self.address = f"http://127.0.0.1:{port}"
        self.kills: dict[str, int] = {}
        self._folder = folder
        self._environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
            "GEAR_OPENSEARCH_URL": settings.opensearch_url,
            "GEAR_INDEX_PREFIX": settings.index_prefix,
            "GEAR_DATABASE_URL": settings.database_url,
            "GEAR_PUBLIC_URL": settings.public_url,
            "GEAR_SEARCH_TIMEOUT": "30",
            "GEAR_RATE_LIMIT": "",
            "GEAR_ADDRESS_RATE_LIMIT": "",
            "GEAR_ALLOW_INSECURE_CALLBACKS": "true",
            "GEAR_API_PORT": str(port),
        }
        self._running: dict[tuple[str, ...], Process] = {}

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as undo:
            undo.push_async_callback(self.__aexit__)
            await self._start(SERVE)
            await self._start(DELIVER)
            await self.until_it_serves()
            undo.pop_all()
        return self

    async def __aexit__(self, *_details: object) -> None:
        for arguments in list(self._running):
            await self._kill(arguments)

    async def strike(self, what: str, chance: Random) -> None:
        """SIGKILL for one worker, `deliver`, or everything; what is gone is started again."""
        self.kills[what] = self.kills.get(what, 0) + 1
        if what == "worker":
            chance.choice(await self._workers()).kill()  # uvicorn starts another one
            return
        killed = {"deliver": (DELIVER,), "all": (SERVE, DELIVER)}[what]
        for arguments in killed:
            await self._kill(arguments)
        for arguments in killed:
            await self._start(arguments)
        await self.until_it_serves()

    async def until_it_serves(self) -> None:
        """Waits until requests are answered."""
        async with httpx.AsyncClient(base_url=self.address) as client:
            await until(partial(serves, client), START_SECONDS)

    async def _workers(self) -> list[psutil.Process]:
        """The processes that serve, once there is one."""
        async with asyncio.timeout(START_SECONDS):
            while True:
                children: list[psutil.Process] = psutil.Process(self._running[SERVE].pid).children()
                if children:
                    return children
                await asyncio.sleep(0.05)

    async def _start(self, arguments: tuple[str, ...]) -> None:
        with (self._folder / f"{arguments[0]}.log").open("ab") as log:
            self._running[arguments] = await asyncio.create_subprocess_exec(
                sys.executable,
                *COMMAND,
                *arguments,
                env=self._environment,
                cwd=self._folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a group of its own, to be killed with its workers at once
            )

    async def _kill(self, arguments: tuple[str, ...]) -> None:
        process = self._running.pop(arguments)
        assert process.returncode is None, f"gear-api {arguments[0]} ended by itself, see {self._folder}"
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
