"""Builds INSERT … ON CONFLICT for the dialect at hand.

SQLite and PostgreSQL share the clause, word for word; SQLAlchemy has one class for each.
"""

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite


def insert_for(dialect: str, table: Table) -> "postgresql.Insert | sqlite.Insert":
    """An INSERT that has on_conflict_do_nothing and on_conflict_do_update; building it costs as much as running it."""
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)
