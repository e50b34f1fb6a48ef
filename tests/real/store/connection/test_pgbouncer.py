"""PostgreSQL behind PgBouncer in transaction mode: each transaction may get another connection to the server."""

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from store import migrate
from store.connection.engine import Store
from store.database import check_schema
from tests.support.servers import free_port
from tests.support.store.postgres import Postgres
from tests.support.store.small_requests import becomes_usable, read, write

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")

CONFIGURATION = """
[databases]
* = host={socket} port=5432 user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
"""


@contextmanager
def pgbouncer(postgres: Postgres) -> Iterator[int]:
    """The port of a PgBouncer before this server."""
    assert PGBOUNCER is not None
    with tempfile.TemporaryDirectory(prefix="gear-pgbouncer-") as name:
        folder, port = Path(name), free_port()
        folder.chmod(0o755)
        file = folder / "pgbouncer.ini"
        file.write_text(CONFIGURATION.format(socket=postgres.folder, port=port))
        account = ["-u", postgres.account()] if os.geteuid() == 0 else []  # it refuses to run as root
        process = subprocess.Popen([PGBOUNCER, "-q", *account, str(file)])
        try:
            yield port
        finally:
            process.terminate()
            process.wait(10)


@pytest.mark.skipif(PGBOUNCER is None, reason="needs pgbouncer: apt install pgbouncer")
async def test_transactions_work_behind_pgbouncer(postgres: Postgres) -> None:
    await migrate.upgrade(await postgres.new_database("behind_pgbouncer"))
    with pgbouncer(postgres) as port:
        url = f"postgresql://postgres@127.0.0.1:{port}/behind_pgbouncer?prepared_statement_cache_size=0"
        workers = [Store(url, connections=5) for _ in range(2)]
        await becomes_usable(workers[0])
        for _ in range(20):
            await asyncio.gather(*(write(worker) for worker in workers for _ in range(5)))
            counts = await asyncio.gather(*(read(worker) for worker in workers for _ in range(5)))
            assert len(set(counts)) == 1
        assert await read(workers[0]) == 1 + 20 * 2 * 5
        for worker in workers:
            await check_schema(worker)
            await worker.close()
