"""Driver errors: which errors of a driver mean "try later", which mean a bug, and that their texts never leak."""

import sqlite3

import asyncpg
import pytest
from sqlalchemy import exc

from store.connection.errors import ConstraintBroken, StoreUnavailable, map_driver_error

SECRET = "s3cret"


def sqlite_error(code: int, message: str = SECRET) -> exc.DBAPIError:
    error = sqlite3.OperationalError(message)
    error.sqlite_errorcode = code
    return exc.OperationalError("SELECT 1", None, error)


def postgres_error(state: str | None, lost: bool = False) -> exc.DBAPIError:
    original = Exception(SECRET)
    original.sqlstate = state  # type: ignore[attr-defined]  # as asyncpg's errors have it
    return exc.DBAPIError("SELECT 1", None, original, connection_invalidated=lost)


@pytest.mark.parametrize(
    "error",
    [
        exc.TimeoutError(SECRET),
        TimeoutError(SECRET),
        ConnectionRefusedError(SECRET),
        OSError(SECRET),
        *(sqlite_error(code) for code in (5, 5 | 2 << 8, 6, 7, 8, 9, 10, 10 | 3 << 8, 11, 13, 14, 26)),
        *(postgres_error(state) for state in ("08006", "28P01", "3D000", "40001", "40P01", "53100", "53300")),
        *(postgres_error(state) for state in ("55P03", "57P01", "57014", "58030", "25006", "XX000", "42P01", "42703")),
        sqlite_error(1, f"no such table: orders {SECRET}"),
        postgres_error(None, lost=True),
        exc.InternalError("SELECT 1", None, Exception(SECRET)),
        asyncpg.InterfaceError(SECRET),
    ],
    ids=lambda error: f"{type(error).__name__}-{getattr(error, 'orig', error).__dict__}",
)
def test_a_fault_of_the_database_is_unavailable_in_our_own_words(error: Exception) -> None:
    mapped = map_driver_error(error)
    assert isinstance(mapped, StoreUnavailable)
    assert SECRET not in str(mapped)
    assert str(mapped) == f"the database is unavailable: {mapped.cause}"


@pytest.mark.parametrize(
    "error",
    [
        sqlite_error(1, "near SELEC: syntax error"),
        sqlite_error(20),
        postgres_error("42601"),
        postgres_error("22003"),
        postgres_error("25P02"),
        postgres_error(None),
        exc.ArgumentError("wrong use"),
        exc.StatementError("no original", "SELECT 1", None, None),
        ValueError("anything else"),
    ],
    ids=lambda error: str(error)[:30],
)
def test_a_bug_of_ours_is_not_hidden_as_unavailable(error: Exception) -> None:
    assert map_driver_error(error) is None


def test_a_broken_constraint_is_named() -> None:
    error = sqlite3.IntegrityError("UNIQUE constraint failed: tokens.sha256")
    error.sqlite_errorcode = 2067
    broken = map_driver_error(exc.IntegrityError("INSERT", None, error))
    assert isinstance(broken, ConstraintBroken)
    assert "tokens.sha256" in str(broken)
    assert isinstance(map_driver_error(postgres_error("23505")), ConstraintBroken)
