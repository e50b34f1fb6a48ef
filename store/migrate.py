"""Migrates a database.

Alembic runs without an alembic.ini: the migrations lie beside this file, so an installed wheel has them too.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text
from sqlalchemy.engine import Connection
from sqlalchemy.ext.asyncio import AsyncConnection

from store import audit
from store.connection.address import database_address
from store.connection.drivers import Timeouts, make_engine
from store.connection.errors import ConstraintBroken, UnknownRevision, mapped_errors
from store.connection.sqlite import BEGIN_WRITING
from store.records import Actor

MIGRATION_TIMEOUTS: Final = Timeouts(connect=10.0, lock=60.0, statement=600.0)
"""Seconds. A migration may wait for another one, and may rewrite a large table."""

MAX_TABLE_WAIT: Final = "3s"
"""For a table that somebody reads, as a backup does until its end: all that come after wait as well, and an order gives
up after five seconds."""

_FOLDER: Final = Path(__file__).parent / "migrations"
_LOCK: Final = 0x67656172  # "gear" in ASCII: the advisory lock that migrations of this project share


def head() -> str:
    revision = ScriptDirectory.from_config(_config()).get_current_head()
    if revision is None:
        raise FileNotFoundError(f"no migrations in {_FOLDER}: the package is incomplete, install it again")
    return revision


async def upgrade(url: str, revision: str = "head", *, actor: Actor | None = None) -> None:
    """Brings the schema up to `revision`, all of it or nothing. A second process waits and then finds it done. What an
    actor has changed is in the audit. A schema that is newer than `head` is left as it is: this version works with it.

    Raises UnknownRevision, and StoreUnavailable, also where a table is not free within MAX_TABLE_WAIT.
    """

    def migrate(connection: Connection) -> tuple[str | None, str | None]:
        """Returns the revisions before and after."""
        config = _config()
        _check_known(config, revision)
        before = MigrationContext.configure(connection).get_current_revision()
        if revision == "head" and before is not None and before > head():
            return before, before
        _check_known(config, before or "base")
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        return before, MigrationContext.configure(connection).get_current_revision()

    async with _opened(url, BEGIN_WRITING) as connection:
        postgres = connection.dialect.name == "postgresql"
        if postgres:
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            await connection.execute(text(f"SET LOCAL lock_timeout = '{MAX_TABLE_WAIT}'"))
        before, after = await connection.run_sync(migrate)
        if actor is not None and before != after:
            await audit.record(connection, actor, "database.migrate", str(after), datetime.now(UTC), {"from": before})
        if not postgres:
            await _check_references(connection)


async def current(url: str) -> str | None:
    """The database's revision; None where no migration ever ran."""
    async with _opened(url, "BEGIN") as connection:
        return await connection.run_sync(lambda sync: MigrationContext.configure(sync).get_current_revision())


def _check_known(config: Config, revision: str) -> None:
    revisions = sorted(script.revision for script in ScriptDirectory.from_config(config).walk_revisions())
    if revision not in {"base", "head", *revisions}:
        raise UnknownRevision(revision, revisions)


async def _check_references(connection: AsyncConnection) -> None:
    """Foreign keys are off while SQLite's tables are rebuilt, so they are checked before the commit."""
    broken = (await connection.execute(text("PRAGMA foreign_key_check"))).all()
    if broken:
        raise ConstraintBroken(f"foreign keys of {', '.join(sorted({row[0] for row in broken}))}")


@asynccontextmanager
async def _opened(url: str, begin: str) -> AsyncIterator[AsyncConnection]:
    engine = make_engine(database_address(url), MIGRATION_TIMEOUTS, foreign_keys=False)
    try:
        with mapped_errors():
            async with engine.execution_options(begin=begin).begin() as connection:
                yield connection
    finally:
        await engine.dispose()


def _config() -> Config:
    config = Config()
    # Alembic reads the value as a template of configparser, where % is special
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    return config
