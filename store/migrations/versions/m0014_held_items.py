"""Adds the items that are held without an order."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """None is held yet."""
    op.create_table(
        "held_items",
        sa.Column("platform", sa.Integer, nullable=False),
        sa.Column("item", sa.BigInteger, nullable=False),
        sa.Column("held_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("platform", "item", name="held_items_pk"),
    )
