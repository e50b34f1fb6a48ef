"""INSERT … ON CONFLICT, which SQLite and PostgreSQL share word for word: both take PostgreSQL's construct."""

from typing import Final

from sqlalchemy.dialects import postgresql

upsert: Final = postgresql.insert
