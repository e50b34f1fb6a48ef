"""INSERT with ON CONFLICT: a connection and a table go in, the dialect's own INSERT comes out.

SQLite and PostgreSQL share the clause, word for word; SQLAlchemy keeps it in two classes.
"""

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection


def insert_into(connection: AsyncConnection, table: Table) -> "postgresql.Insert | sqlite.Insert":
    """An INSERT that has on_conflict_do_nothing and on_conflict_do_update, for the connection's database."""
    return insert_for(connection.dialect.name, table)


def insert_for(dialect: str, table: Table) -> "postgresql.Insert | sqlite.Insert":
    """The same by the dialect's name, for statements that are made once and kept: making one anew costs as much as
    running it.
    """
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)
