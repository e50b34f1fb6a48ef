"""The errors of the store: what went wrong goes in, a text without secrets or personal data comes out."""

from collections.abc import Sequence


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
        self.platform = platform
        self.item = item


class Overtaken(StoreError):
    """A later call with the same key has been refused, so this one must not come through any more."""

    def __init__(self) -> None:
        super().__init__("a later call with the same key has been refused meanwhile")


class ConstraintBroken(StoreError):
    """A row broke a rule of the schema: a fault of the calling code, never a matter of trying again.

    Raised in place of the driver's error, whose text quotes the whole row with its secrets.
    """

    def __init__(self, constraint: str) -> None:
        super().__init__(f"the database refused a row: it breaks {constraint}")
        self.constraint = constraint


class UnknownRevision(StoreError):
    """The database, or who asked for a migration, names a revision that this version of the code does not have."""

    def __init__(self, revision: str, known: Sequence[str]) -> None:
        super().__init__(
            f"schema revision {revision!r} is not among those of this version ({', '.join(known)}): "
            "a newer version of the service may have migrated the database; use that one"
        )
        self.revision = revision


class AmbiguousName(StoreError):
    """Several usable tokens share the name, so the name does not say which one is meant."""

    def __init__(self, name: str, ids: Sequence[str]) -> None:
        super().__init__(f"{len(ids)} tokens are named {name!r}: name one by its id ({', '.join(ids)})")
        self.name = name
        self.ids = tuple(ids)


class AddressRefused(StoreError, ValueError):
    """GEAR_DATABASE_URL is not an address of a database that the store can use."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"GEAR_DATABASE_URL {reason}; use sqlite+aiosqlite:///path/to/file.db "
            "or postgresql+asyncpg://user:password@host:5432/database"
        )
