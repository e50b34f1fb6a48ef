"""A database is dumped, encrypted and restored as docs/recovery.md says; nobody reads it without the key."""

import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from store import migrate
from store.auth import tokens
from store.connection.engine import Store
from store.connection.errors import ItemTaken
from store.orders import orders
from tests.support.recovery_page import age, commands, run
from tests.support.store.new_order import new_order
from tests.support.store.postgres import Postgres

ITEM = 7


async def test_a_dump_is_encrypted_and_restored(postgres: Postgres, tmp_path: Path) -> None:
    age()
    url = await postgres.new_database("dumped")
    await postgres.execute("DROP DATABASE IF EXISTS restored")
    await migrate.upgrade(url)
    store = Store(url)
    async with store.transaction() as connection:
        token = (await tokens.create(connection, "shop", ["order"], False, None, datetime.now(UTC))).token.id
        await orders.place(connection, new_order(token, ITEM), datetime.now(UTC))
    await store.close()
    environment = {
        **os.environ,
        "PATH": f"{postgres.process.bin_path}:{os.environ['PATH']}",
        "PGHOST": str(postgres.folder),
        "PGUSER": "postgres",
        "DATABASE": "dumped",
        "RESTORED": "restored",
    }
    (keys,) = commands("Encrypted backups")
    dump, restore = commands("A dump, encrypted")
    run(keys + dump, tmp_path, environment)
    assert (tmp_path / "dumped.dump.age").read_bytes().startswith(b"age-encryption.org/v1\n")

    await postgres.execute("DROP DATABASE dumped")
    run("mv backup.key away.key\nage-keygen --output backup.key", tmp_path, environment)
    with pytest.raises(AssertionError, match="no identity matched any of the recipients"):
        run(restore, tmp_path, environment)
    await postgres.execute("DROP DATABASE restored")
    run("mv away.key backup.key", tmp_path, environment)
    run(restore, tmp_path, environment)
    restored = Store(postgres.url("restored"))
    try:
        await migrate.upgrade(postgres.url("restored"))
        with pytest.raises(ItemTaken):
            async with restored.transaction() as connection:
                await orders.place(connection, new_order(token, ITEM), datetime.now(UTC))
    finally:
        await restored.close()


def test_a_file_that_was_changed_is_not_opened(tmp_path: Path) -> None:
    age()
    (keys,) = commands("Encrypted backups")
    run(keys, tmp_path, os.environ)
    program = str(shutil.which("age"))
    encrypt = [program, "--recipients-file", "backup.pub", "--output", "backup.age"]
    subprocess.run(encrypt, cwd=tmp_path, input=b"orders" * 100_000, check=True)
    body = bytearray((tmp_path / "backup.age").read_bytes())
    body[-1000] ^= 1
    (tmp_path / "backup.age").write_bytes(body)
    with pytest.raises(AssertionError, match="failed to decrypt"):
        run("age --decrypt --identity backup.key backup.age > opened", tmp_path, os.environ)
