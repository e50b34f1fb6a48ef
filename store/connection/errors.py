"""The store's errors, and the mapping of driver errors to them. No text holds secrets or personal data."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import exc


class StoreError(Exception):
    """Base of everything that the store raises on purpose."""


class StoreUnavailable(StoreError):
    """The database cannot serve now (gone, locked, full, too slow, not migrated); trying later may work.

    `cause` is a short sentence made of our own words: the driver's text may hold values or addresses.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(f"the database is unavailable: {cause}")
        self.cause = cause


class ItemTaken(StoreError):
    """Another active order holds the item."""

    def __init__(self, platform: int, item: int) -> None:
        super().__init__(f"item {item} of platform {platform} is held by another active order")
        self.item = item


class QuotaExceeded(StoreError):
    """The token has as many undelivered orders as it may: in all, or of one account."""

    def __init__(self, limit: int, scope: str) -> None:
        super().__init__(f"more than {limit} undelivered orders of one {scope}")
        self.limit = limit
        self.scope = scope


class Superseded(StoreError):
    """A later call with the same key has been refused, so this one must not come through any more."""


class ConstraintBroken(StoreError):
    """A row broke a rule of the schema: a fault of the calling code, never a matter of trying again.

    Raised in place of the driver's error, whose text quotes the whole row with its secrets.
    """

    def __init__(self, constraint: str) -> None:
        super().__init__(f"the database refused a row: it breaks {constraint}")


class UnknownRevision(StoreError):
    """The database, or who asked for a migration, names a revision that this version of the code does not have."""

    def __init__(self, revision: str, revisions: Sequence[str]) -> None:
        super().__init__(
            f"schema revision {revision!r} is not among those of this version ({', '.join(revisions)}): "
            "a newer version of the service may have migrated the database: use that one; a database that is older "
            "than the first release has to be made anew"
        )


class AmbiguousName(StoreError):
    """Several usable tokens share the name, so the name does not say which one is meant."""

    def __init__(self, name: str, ids: Sequence[str]) -> None:
        super().__init__(f"{len(ids)} tokens are named {name!r}: name one by its id ({', '.join(ids)})")


class AddressRefused(StoreError, ValueError):
    """GEAR_DATABASE_URL is not an address of a database that the store can use."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"GEAR_DATABASE_URL {reason}; use sqlite+aiosqlite:///path/to/file.db "
            "or postgresql+asyncpg://user:password@host:5432/database"
        )


# Primary result codes, https://www.sqlite.org/rescode.html (the low byte of an extended code).
_SQLITE = {
    5: "another process holds the write lock of the SQLite file",
    6: "a table of the SQLite file is locked",
    7: "SQLite ran out of memory",
    8: "the SQLite file cannot be written: check its owner and its folder",
    9: "the statement was interrupted",
    10: "reading or writing the SQLite file failed: check the disk",
    11: "the SQLite file is damaged: restore it from a backup",
    13: "the disk of the SQLite file is full",
    14: "the SQLite file cannot be opened: check its folder",
    26: "the file that GEAR_DATABASE_URL names is not an SQLite database",
}

# Classes of SQLSTATE, https://www.postgresql.org/docs/current/errcodes-appendix.html
_POSTGRES_CLASSES = {
    "08": "the connection to PostgreSQL was lost",
    "28": "PostgreSQL refused the user or the password of GEAR_DATABASE_URL",
    "3D": "PostgreSQL has no database of the name in GEAR_DATABASE_URL",
    "40": "PostgreSQL rolled the transaction back for a rival one",
    "53": "PostgreSQL is out of resources (disk, memory or connections)",
    "55": "a lock in PostgreSQL was not free in time",
    "57": "PostgreSQL is shutting down, starting or ended the statement",
    "58": "PostgreSQL reports a fault of its system: check its log",
    "XX": "PostgreSQL reports an internal fault: check its log",
}
READ_ONLY = "25006"
_POSTGRES_CODES = {
    READ_ONLY: "PostgreSQL is read only: GEAR_DATABASE_URL must name the primary server",
    "42501": "PostgreSQL lacks the right to a table or a file: see its log, and the rights of GEAR_DATABASE_URL's user",
}

NOT_MIGRATED = "its schema is missing or old: run gear-api migrate"
FILE_GONE = "its file was removed or replaced while it was open: put it back, or restart this process"
NO_KEY_FITS = "it has encrypted values, and no key of GEAR_ENCRYPTION_KEYRING decrypts them"
TOO_SLOW = "it did not answer in time"
NO_PRIMARY = "none of the hosts in GEAR_DATABASE_URL takes orders: see its target_session_attrs"
_NO_SCHEMA_CODES = {"42P01", "42703", "3F000"}  # undefined table, undefined column, invalid schema name
_NO_SCHEMA_TEXTS = ("no such table", "no such column", "has no column named")  # SQLite has no code of its own


def map_driver_error(error: BaseException) -> StoreError | None:
    """The store's error for a driver's or pool's error; None where the error is a fault of the calling code."""
    if isinstance(error, exc.TimeoutError):
        return StoreUnavailable("all its connections are in use")
    if isinstance(error, TimeoutError):
        return StoreUnavailable(TOO_SLOW)
    if isinstance(error, OSError):
        return StoreUnavailable(f"no connection to the address in GEAR_DATABASE_URL ({type(error).__name__})")
    original = getattr(error, "orig", None) or error
    return _map_sqlite(original) or _map_postgres(original) or _map_lost(error)


@contextmanager
def mapped_errors() -> Iterator[None]:
    """Raises the store's error for whatever a driver or the pool raises within the block; all else as it is."""
    try:
        yield
    except Exception as error:  # a driver's own errors have no class in common
        if (mapped := map_driver_error(error)) is not None:
            raise mapped from None
        raise


def _map_sqlite(error: BaseException) -> StoreError | None:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return None
    primary = code & 0xFF
    if primary in _SQLITE:
        return StoreUnavailable(_SQLITE[primary])
    if primary == 1 and any(text in str(error) for text in _NO_SCHEMA_TEXTS):
        return StoreUnavailable(NOT_MIGRATED)
    # 19 is SQLITE_CONSTRAINT; its text names the constraint or the columns, never values
    return ConstraintBroken(str(error)) if primary == 19 else None


def _map_postgres(error: BaseException) -> StoreError | None:
    state = getattr(error, "sqlstate", None)
    if not isinstance(state, str):
        return None
    if state in _NO_SCHEMA_CODES:
        return StoreUnavailable(NOT_MIGRATED)
    if state[:2] == "23":
        # SQLAlchemy keeps asyncpg's error as the cause; the constraint's name is on that one
        return ConstraintBroken(str(getattr(error.__cause__, "constraint_name", None) or f"SQLSTATE {state}"))
    cause = _POSTGRES_CODES.get(state) or _POSTGRES_CLASSES.get(state[:2])
    return StoreUnavailable(f"{cause} (SQLSTATE {state})") if cause else None


def _map_lost(error: BaseException) -> StoreError | None:
    """asyncpg's own errors have no SQLSTATE: a lost connection, or a misuse by the calling code.

    SQLAlchemy wraps them all but while it sets up a connection, where no code calls yet. Its InternalError is what
    asyncpg says of a response that it did not expect, as that of a connection which is just being lost.
    """
    if type(error).__name__ == "TargetServerAttributeNotMatched":
        return StoreUnavailable(NO_PRIMARY)
    if isinstance(error, exc.DBAPIError):
        lost = error.connection_invalidated or isinstance(error, exc.InternalError)
    else:
        lost = type(error).__module__.partition(".")[0] == "asyncpg"
    return StoreUnavailable("the connection was lost") if lost else None
