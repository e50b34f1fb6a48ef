"""Gives tokens a rate limit, forced filters, origins and the time of their last use, and indexes refused keys."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_REFUSED = sa.text("refusals > 0 AND response IS NULL")


def upgrade() -> None:
    """Existing tokens are as before."""
    op.add_column("tokens", sa.Column("rate_limit", sa.Integer))
    op.add_column("tokens", sa.Column("filters", sa.Text))
    op.add_column("tokens", sa.Column("origins", sa.Text))
    op.add_column("tokens", sa.Column("last_used_at", sa.BigInteger))
    op.create_index(
        "idempotency_keys_refused",
        "idempotency_keys",
        ["created_at"],
        sqlite_where=_REFUSED,
        postgresql_where=_REFUSED,
    )
