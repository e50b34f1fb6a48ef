"""Adds the counts of texts that found nothing, or only after they were read more loosely."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """There are none yet."""
    op.create_table(
        "unanswered_searches",
        sa.Column("day", sa.Text, nullable=False),
        sa.Column("platform", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("reading", sa.Text, nullable=False),
        sa.Column("count", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("day", "platform", "text", "reading", name="unanswered_searches_pk"),
    )
