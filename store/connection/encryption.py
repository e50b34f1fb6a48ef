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


class Cipher:
    """Encrypts with the first of its keys and decrypts with any."""

    def __init__(self, keys: Sequence[str]) -> None:
        """Raises ValueError for no keys, and for one that is none; its text quotes no key."""
        if not keys:
            raise ValueError("holds no key: gear-api encryption key makes one")
        try:
            self._fernet = MultiFernet([Fernet(key) for key in keys])
        except ValueError:
            raise ValueError("holds a line that is no key: gear-api encryption key makes one") from None

    def encrypt(self, text: str) -> str:
        """The text as it is stored."""
        return _PREFIX + self._fernet.encrypt(text.encode()).decode()

    def decrypt(self, stored: str) -> str:
        """The text that was encrypted; raises StoreUnavailable where no key fits."""
        try:
            return self._fernet.decrypt(stored.removeprefix(_PREFIX)).decode()
        except InvalidToken:
            raise StoreUnavailable(NO_KEY_FITS) from None


def new_key() -> str:
    """A random key, as a line of the file of keys."""
    return Fernet.generate_key().decode()


def read_cipher(file: Path) -> Cipher:
    """The cipher of a file with one key a line; empty lines and those that begin with # do not count.

    Raises ValueError; its text quotes no key.
    """
    try:
        lines = [line.strip() for line in file.read_text(encoding="ascii").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not ASCII text"
        raise ValueError(f"cannot be read: {reason}") from None
    return Cipher([line for line in lines if line and not line.startswith("#")])


_CIPHERS: Final[WeakKeyDictionary[Dialect, Cipher]] = WeakKeyDictionary()


def use_cipher(dialect: Dialect, cipher: Cipher | None) -> None:
    """Encrypts what engines of this dialect write; each engine has a dialect of its own."""
    if cipher is not None:
        _CIPHERS[dialect] = cipher


class Encrypted(TypeDecorator[str]):
    """Text that is encrypted in the database where there are keys; the empty text never is. Equal texts differ there,
    so no statement can compare them.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        cipher = _CIPHERS.get(dialect)
        return cipher.encrypt(value) if value and cipher is not None else value

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Decrypts; raises StoreUnavailable where there is no key, or none fits."""
        if value is None or not value.startswith(_PREFIX):
            return value
        cipher = _CIPHERS.get(dialect)
        if cipher is None:
            raise StoreUnavailable(NO_KEY_FITS)
        return cipher.decrypt(value)


def is_encrypted(column: ColumnElement[str]) -> ColumnElement[bool]:
    """Whether the stored value is encrypted."""
    return type_coerce(column, Text).startswith(_PREFIX)


def is_plain(column: ColumnElement[str]) -> ColumnElement[bool]:
    """Whether the stored value should be encrypted and is not."""
    return ~is_encrypted(column) & (type_coerce(column, Text) != "")
