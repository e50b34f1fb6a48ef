"""Marks orders whose buyer is to be forgotten, and indexes them."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_TO_FORGET = sa.text("forget AND email <> '' AND state IN ('completed', 'failed', 'cancelled', 'reverted')")


def upgrade() -> None:
    """Nobody is to be forgotten yet."""
    op.add_column("orders", sa.Column("forget", sa.Boolean, nullable=False, server_default=sa.false()))
    op.create_index("orders_to_forget", "orders", ["updated_at"], sqlite_where=_TO_FORGET, postgresql_where=_TO_FORGET)
