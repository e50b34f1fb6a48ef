"""Gives each token its quotas of open orders, and indexes these orders."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_OPEN = sa.text("state IN ('created', 'processing')")


def upgrade() -> None:
    """Existing tokens get the default quota; `gear-api token limit` changes it."""
    op.add_column("tokens", sa.Column("max_active", sa.Integer, nullable=False, server_default="1000"))
    op.add_column("tokens", sa.Column("max_active_per_account", sa.Integer))
    op.create_index("orders_undelivered", "orders", ["token_id", "account"], sqlite_where=_OPEN, postgresql_where=_OPEN)
