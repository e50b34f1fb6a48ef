"""The files of an SQLite database are their owner's alone: they hold secrets and personal data."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from store import migrate
from store.connection.engine import Store
from tests.support.store.small_requests import read, write


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    """A umask that lets everybody read what a process makes."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    return {path.name: oct(path.stat().st_mode & 0o777) for path in folder.iterdir()}


def mode(folder: Path) -> str:
    return oct(folder.stat().st_mode & 0o777)


def widen(folder: Path) -> None:
    """Lets everybody read the folder and its files."""
    for path in folder.iterdir():
        path.chmod(0o644)
    folder.chmod(0o755)


async def test_a_new_database_and_its_folder_are_private(tmp_path: Path) -> None:
    folder = tmp_path / "var"
    url = f"sqlite:///{folder / 'gear.db'}"
    await migrate.upgrade(url)
    store = Store(url)
    await write(store)
    assert modes(folder) == dict.fromkeys(("gear.db", "gear.db-wal", "gear.db-shm"), "0o600")
    assert mode(folder) == "0o700"
    await store.close()


async def test_files_that_everybody_can_read_are_narrowed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'gear.db'}"
    await migrate.upgrade(url)
    before = Store(url)
    await write(before)  # keeps the journals open
    widen(tmp_path)
    after = Store(url)
    await write(after)
    assert modes(tmp_path) == dict.fromkeys(("gear.db", "gear.db-wal", "gear.db-shm"), "0o600")
    assert mode(tmp_path) == "0o755"  # a folder that was there is its owner's to choose
    assert await read(before) == 2
    await before.close()
    await after.close()


async def test_a_group_that_was_chosen_keeps_its_access(tmp_path: Path) -> None:
    file = tmp_path / "gear.db"
    url = f"sqlite:///{file}"
    await migrate.upgrade(url)
    file.chmod(0o640)
    store = Store(url)
    await write(store)
    assert modes(tmp_path) == dict.fromkeys(("gear.db", "gear.db-wal", "gear.db-shm"), "0o640")
    await store.close()
