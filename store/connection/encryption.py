"""Encryption at rest of single columns: their type, and the keys that an engine's dialect has.

Encrypted values are Fernet tokens behind a prefix. The first key encrypts, each of them decrypts. Without keys values
are stored as they are, and what was stored so is read with keys too.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final
from weakref import WeakKeyDictionary

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from sqlalchemy import ColumnElement, Text, type_coerce
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from store.connection.errors import NO_KEY_FITS, StoreUnavailable

_PREFIX: Final = "fernet:"


def new_key() -> str:
    """A random key, as a line of the file of keys."""
    return Fernet.generate_key().decode()


def cipher_of(keys: Sequence[str]) -> MultiFernet:
    """Raises ValueError for no keys, and for one that is none; its text quotes no key."""
    if not keys:
        raise ValueError("holds no key: gear-api encryption key makes one")
    try:
        return MultiFernet([Fernet(key) for key in keys])
    except ValueError:
        raise ValueError("holds a line that is no key: gear-api encryption key makes one") from None


def read_cipher(file: Path) -> MultiFernet:
    """The cipher of a file with one key a line; empty lines and those that begin with # do not count.

    Raises ValueError; its text quotes no key.
    """
    try:
        lines = [line.strip() for line in file.read_text(encoding="ascii").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not ASCII text"
        raise ValueError(f"cannot be read: {reason}") from None
    return cipher_of([line for line in lines if line and not line.startswith("#")])


CIPHERS: Final[WeakKeyDictionary[Dialect, MultiFernet]] = WeakKeyDictionary()
"""What encrypts the values of an engine, by its dialect: each engine has one of its own."""


class Encrypted(TypeDecorator[str]):
    """Text that is encrypted in the database where there are keys; the empty text never is. Equal texts differ there,
    so no statement can compare them.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        cipher = CIPHERS.get(dialect)
        return _PREFIX + cipher.encrypt(value.encode()).decode() if value and cipher is not None else value

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Decrypts; raises StoreUnavailable where there is no key, or none fits."""
        if value is None or not value.startswith(_PREFIX):
            return value
        cipher = CIPHERS.get(dialect)
        if cipher is None:
            raise StoreUnavailable(NO_KEY_FITS)
        try:
            return cipher.decrypt(value.removeprefix(_PREFIX)).decode()
        except InvalidToken:
            raise StoreUnavailable(NO_KEY_FITS) from None


def is_encrypted(column: ColumnElement[str]) -> ColumnElement[bool]:
    """Whether the stored value is encrypted."""
    return type_coerce(column, Text).startswith(_PREFIX)


def is_plain(column: ColumnElement[str]) -> ColumnElement[bool]:
    """Whether the stored value should be encrypted and is not."""
    return ~is_encrypted(column) & (type_coerce(column, Text) != "")
