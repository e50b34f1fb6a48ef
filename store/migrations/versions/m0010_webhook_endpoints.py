"""Adds registered endpoints of callbacks; whether a token's callbacks are stopped, and how many were given up."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """No token has endpoints yet, and every token's callbacks are sent."""
    op.create_table(
        "webhook_endpoints",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("token_id", sa.Text, sa.ForeignKey("tokens.id", name="webhook_endpoints_token"), nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("exact", sa.Boolean, nullable=False),
        sa.Column("secret", sa.Text, nullable=False),
        sa.Column("previous_secret", sa.Text),
        sa.Column("previous_secret_until", sa.BigInteger),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="webhook_endpoints_pk"),
        sa.UniqueConstraint("token_id", "url", name="webhook_endpoints_url"),
    )
    op.add_column("tokens", sa.Column("callbacks_stopped_at", sa.BigInteger))
    op.add_column("tokens", sa.Column("callbacks_failed", sa.BigInteger, nullable=False, server_default="0"))
