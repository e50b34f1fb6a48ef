"""Rebuilds the indexes of orders to be erased, so that SQLite uses them without statistics.

The former ones listed the ended states, and SQLite then scanned all orders in these states instead.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_AT_ITS_END = "state NOT IN ('created', 'processing', 'delivered')"
_INDEXES = {
    "orders_personal_at_end": f"email <> '' AND {_AT_ITS_END}",
    "orders_to_forget_at_end": f"forget AND {_AT_ITS_END}",
}


def upgrade() -> None:
    """The mark goes with what was to be forgotten. On PostgreSQL orders are read, not written, meanwhile."""
    op.execute("UPDATE orders SET forget = false WHERE forget AND email = ''")
    for name, text in _INDEXES.items():
        where = sa.text(text)
        op.create_index(name, "orders", ["updated_at"], sqlite_where=where, postgresql_where=where)
    # last: it keeps readers out as well, until the transaction ends
    for name in ("orders_personal", "orders_to_forget"):
        op.drop_index(name, "orders")
