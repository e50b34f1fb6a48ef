"""INSERT with ON CONFLICT: a connection and a table go in, the dialect's own INSERT comes out.

SQLite and PostgreSQL share the clause, word for word; SQLAlchemy keeps it in two classes.
"""

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection


def insert_into(connection: AsyncConnection, table: Table) -> "postgresql.Insert | sqlite.Insert":
    """An INSERT that has on_conflict_do_nothing and on_conflict_do_update, for the connection's database."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)
