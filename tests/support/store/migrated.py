"""Migrated databases without the migrations' time: they run once a process, on a file that is copied then."""

import asyncio
import atexit
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from store import migrate
from store.connection.address import database_address


@cache
def _folder() -> Path:
    """Where this process has its migrated SQLite file; removed with the process."""
    folder = Path(mkdtemp(prefix="gear-migrated-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


async def migrated(url: str) -> str:
    """The address, once its database has the newest schema: a new SQLite file is a copy, all else is migrated."""
    address = database_address(url)
    file = Path(address.database or "")
    if address.get_backend_name() != "sqlite" or await asyncio.to_thread(file.exists):
        if await migrate.current(url) != migrate.head():
            await migrate.upgrade(url)
        return url
    template = _folder() / "gear.db"
    if not await asyncio.to_thread(template.exists):
        await migrate.upgrade(f"sqlite:///{template}")
    await asyncio.to_thread(file.parent.mkdir, parents=True, exist_ok=True)
    await asyncio.to_thread(shutil.copyfile, template, file)
    return url
