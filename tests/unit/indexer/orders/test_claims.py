"""A swap and what is published after it: where both fail, both are said."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from opensearchpy.exceptions import AuthorizationException

from indexer.engine.retry import RetryPolicy
from indexer.errors import CommandError
from indexer.orders.claims import Claims, reenqueue_after_swap
from indexer.orders.database import OrdersDatabase

FORBIDDEN = AuthorizationException(403, "security_exception", {"error": {"reason": "no permissions"}})


@pytest.fixture
def unreadable(tmp_path: Path) -> Iterator[Claims]:
    """The claims of a database that cannot be read."""
    file = tmp_path / "orders.db"
    file.write_bytes(b"this is no database" * 100)
    with OrdersDatabase(f"sqlite:///{file}") as database:
        yield Claims(730, database, RetryPolicy(0.1))


@pytest.mark.parametrize(
    ("error", "message"),
    [(CommandError("it is not known what serves"), "it is not known what serves"), (FORBIDDEN, "no permissions")],
)
def test_where_the_swap_and_the_orders_fail_both_are_said(unreadable: Claims, error: Exception, message: str) -> None:
    repair = "gear-indexer doctor --platform 730 --fix"
    both = rf"{message}; what was ordered during the swap could not be recorded .*`{repair}`"
    with pytest.raises(CommandError, match=both), reenqueue_after_swap(unreadable, datetime.now(UTC), set()):
        raise error


def test_an_interruption_stays_one_where_the_orders_fail(unreadable: Claims) -> None:
    with pytest.raises(KeyboardInterrupt), reenqueue_after_swap(unreadable, datetime.now(UTC), set()):
        raise KeyboardInterrupt
