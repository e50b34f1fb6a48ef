"""Parses and checks GEAR_DATABASE_URL."""

from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from store.connection.errors import AddressRefused

_DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "sqlite+aiosqlite": "sqlite+aiosqlite",
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
}

# What asyncpg.connect takes as text and SQLAlchemy passes through. Anything else would only fail at the
# first connection, as a TypeError.
_POSTGRES_OPTIONS = frozenset({"host", "port", "ssl", "passfile", "prepared_statement_cache_size"})


def database_address(text: str) -> URL:
    """The address with the asynchronous driver named; SQLite paths are made absolute to the working directory.

    Raises AddressRefused, which names the setting and never quotes the address: it may hold a password.
    """
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise AddressRefused("is not a database URL") from None
    driver = _DRIVERS.get(url.drivername)
    if driver is None:
        raise AddressRefused(f"has the scheme {url.drivername!r}, which is not supported")
    url = url.set(drivername=driver)
    return _sqlite(url) if driver == "sqlite+aiosqlite" else _postgres(url)


def _sqlite(url: URL) -> URL:
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise AddressRefused("must name a file: orders in memory are lost with the process")
    if url.host or url.query:
        raise AddressRefused("must be sqlite:/// and a path alone, without host and options")
    return url.set(database=str(Path(url.database).absolute()))


def _postgres(url: URL) -> URL:
    if not url.database:
        raise AddressRefused("names no database")
    query = dict(url.query)
    if "sslmode" in query:  # libpq's word for what asyncpg calls ssl, with the same values
        query["ssl"] = query.pop("sslmode")
    unknown = sorted(set(query) - _POSTGRES_OPTIONS)
    if unknown:
        raise AddressRefused(f"has unknown options: {', '.join(unknown)}")
    return url.set(query=query)
