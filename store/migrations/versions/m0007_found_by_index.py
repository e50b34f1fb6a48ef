"""Rebuilds the indexes of orders to be erased, so that SQLite uses them without statistics.

The former ones listed the ended states, and SQLite then scanned all orders in these states instead.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_LISTED = "email <> '' AND state IN ('completed', 'failed', 'cancelled', 'reverted')"
_AT_ITS_END = "state NOT IN ('created', 'processing', 'delivered')"
_FORMER = {"orders_personal": _LISTED, "orders_to_forget": f"forget AND {_LISTED}"}
_PRESENT = {
    "orders_personal_at_end": f"email <> '' AND {_AT_ITS_END}",
    "orders_to_forget_at_end": f"forget AND {_AT_ITS_END}",
}


def upgrade() -> None:
    """The mark goes with what was to be forgotten. On PostgreSQL orders are read, not written, meanwhile."""
    op.execute("UPDATE orders SET forget = false WHERE forget AND email = ''")
    _replace(_FORMER, _PRESENT)


def downgrade() -> None:
    """Older versions look whether there is an address left, and need no mark on those that have none."""
    _replace(_PRESENT, _FORMER)


def _replace(old: dict[str, str], new: dict[str, str]) -> None:
    for name, text in new.items():
        where = sa.text(text)
        op.create_index(name, "orders", ["updated_at"], sqlite_where=where, postgresql_where=where)
    for name in old:  # last: it keeps readers out as well, until the transaction ends
        op.drop_index(name, "orders")
