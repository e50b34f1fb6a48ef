"""Orders whose buyers are to be forgotten are found by the indices made for them, whatever statistics there are.

The former ones named the states of an end, and SQLite then looked through all orders in these states instead.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_BEFORE = "email <> '' AND state IN ('completed', 'failed', 'cancelled', 'reverted')"
_NOW = "state NOT IN ('created', 'processing', 'delivered')"


def upgrade() -> None:
    """The mark goes with what was to be forgotten."""
    op.execute("UPDATE orders SET forget = false WHERE forget AND email = ''")
    _found_by(personal=f"email <> '' AND {_NOW}", to_forget=f"forget AND {_NOW}")


def downgrade() -> None:
    """Older versions look whether there is an address left, and need no mark on those that have none."""
    _found_by(personal=_BEFORE, to_forget=f"forget AND {_BEFORE}")


def _found_by(personal: str, to_forget: str) -> None:
    for name, text in (("orders_personal", personal), ("orders_to_forget", to_forget)):
        where = sa.text(text)
        op.drop_index(name, "orders")
        op.create_index(name, "orders", ["updated_at"], sqlite_where=where, postgresql_where=where)
