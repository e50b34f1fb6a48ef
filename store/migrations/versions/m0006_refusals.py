"""Counts refusals of idempotency keys: a refused request ends those of its key that are still on their way."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nobody has been refused yet."""
    op.add_column("idempotency_keys", sa.Column("refusals", sa.Integer, nullable=False, server_default="0"))
