"""PostgreSQL is brought back to a moment as docs/recovery.md says, and nothing that was sold since is offered again."""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text

from mappings.connection import connect
from store import migrate
from store.auth import tokens
from store.connection.engine import Store
from store.connection.errors import ItemTaken
from store.orders import orders
from tests.support.api.catalogue import CS2, put_index, simple_item
from tests.support.api.waiting import until
from tests.support.app import settings_for
from tests.support.recovery_page import age, commands, configuration, run
from tests.support.store.new_order import new_order
from tests.support.store.postgres import Postgres, running_postgres

BEFORE, AFTER, SOLD, FREE = 1, 2, 3, 4


@dataclass(frozen=True)
class Archived:
    """A server that archives its log, a folder that it may write to, and the variables of the page's commands."""

    server: Postgres
    folder: Path
    environment: dict[str, str]
    section: str  # of the page, with what makes and restores its backup

    def run(self, block: str) -> None:
        """Runs commands as whoever runs the server."""
        run(block, self.folder, self.environment, self.server.process.system_user)


@pytest.fixture(params=["PostgreSQL to a point in time", "A point in time, encrypted"])
async def archived(request: pytest.FixtureRequest) -> AsyncIterator[Archived]:
    """It is set up as the page says, plain and encrypted."""
    section: str = request.param
    if section.endswith("encrypted"):
        age()
    with running_postgres() as server, tempfile.TemporaryDirectory(prefix="gear-pg-") as name:
        folder = Path(name)
        if server.process.system_user is not None:
            shutil.chown(folder, server.process.system_user)
        environment = {
            **os.environ,
            "PATH": f"{server.process.bin_path}:{os.environ['PATH']}",
            "PGHOST": str(server.folder),
            "PGUSER": "postgres",
            **{each.upper(): str(folder / each) for each in ("base", "restored", "archive")},
            "SERVER_OPTIONS": f"-h '' -k {folder}",
        }
        started = Archived(server, folder, environment, section)
        started.run('mkdir -m 700 "$ARCHIVE"')
        if section.endswith("encrypted"):
            started.run(*commands("Encrypted backups"))
        settings = configuration(section).replace("/archive", environment["ARCHIVE"]).replace("/etc/gear", str(folder))
        with (server.process.pgdata / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(settings)
        started.run(f"pg_ctl --pgdata {server.process.pgdata} --wait restart > /dev/null")
        yield started
        started.run('pg_ctl --pgdata "$RESTORED" --mode immediate stop || true')


async def order(store: Store, token: str, item: int) -> None:
    """Orders an item; raises ItemTaken."""
    async with store.transaction() as connection:
        await orders.place(connection, new_order(token, item), datetime.now(UTC))


async def archive_all(store: Store) -> None:
    """Waits until the write-ahead log up to now is archived."""
    async with store.transaction() as connection:
        name = (await connection.execute(text("SELECT pg_walfile_name(pg_switch_wal())"))).scalar_one()

    async def is_archived() -> bool:
        async with store.reading() as connection:
            last = await connection.execute(text("SELECT last_archived_wal FROM pg_stat_archiver"))
            return bool((last.scalar_one() or "") >= name)

    await until(is_archived)


async def test_a_database_goes_back_to_a_moment_and_sells_nothing_twice(
    archived: Archived, opensearch_url: str, index_prefix: str, tmp_path: Path
) -> None:
    url = archived.server.url("postgres")
    await migrate.upgrade(url)
    store = Store(url)
    async with store.transaction() as connection:
        token = (await tokens.create(connection, "shop", ["order"], False, None, datetime.now(UTC))).token.id
    back_up, restore = commands(archived.section)
    archived.run(back_up)
    await order(store, token, BEFORE)
    async with store.reading() as connection:
        target_time = (await connection.execute(text("SELECT clock_timestamp()::text"))).scalar_one()
    await order(store, token, AFTER)
    await archive_all(store)
    await store.close()
    archived.server.process.stop()

    if archived.section.endswith("encrypted"):
        files = [*archived.folder.glob("base*"), *(archived.folder / "archive").iterdir()]
        assert len(files) > 1
        assert [file.name for file in files if not file.read_bytes().startswith(b"age-encryption.org/v1\n")] == []
    archived.environment["MOMENT"] = target_time
    archived.environment["PGHOST"] = str(archived.folder)
    archived.run(restore)
    url = f"postgresql+asyncpg://postgres@/postgres?host={archived.folder}"
    restored = Store(url)
    async with restored.reading() as connection:
        assert await orders.active_order(connection, CS2.id, AFTER, None) is None, "it was placed later"
        assert await orders.active_order(connection, CS2.id, BEFORE, None) is not None

    settings = settings_for(opensearch_url, index_prefix, tmp_path, database_url=url)
    index = put_index(settings, CS2, [simple_item(number) for number in (BEFORE, AFTER, SOLD, FREE)])
    client = connect(settings)
    for item in (BEFORE, AFTER):  # the index has heard of both orders
        client.update(index=index, id=str(item), body={"doc": {"bound": True}}, params={"refresh": "true"})
    client.close()
    names = ("opensearch_url", "index_prefix", "database_url")
    variables = {f"GEAR_{name.upper()}": str(getattr(settings, name)) for name in names}
    (reconcile,) = commands("After a restored database")
    run(reconcile, tmp_path, {**os.environ, **variables})
    (keep,) = commands("After both are lost")
    run(keep, tmp_path, {**os.environ, **variables, "ITEM": str(SOLD)})
    for item in (BEFORE, AFTER, SOLD):
        with pytest.raises(ItemTaken):
            await order(restored, token, item)
    await order(restored, token, FREE)
    await restored.close()
