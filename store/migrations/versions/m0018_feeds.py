"""Adds the change feed: its recorder's state, and the logs of its changes."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nobody reads it yet."""
    op.create_table(
        "feeds",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("term", sa.Integer, nullable=False),
        sa.Column("owner", sa.Text),
        sa.Column("leased_until", sa.BigInteger),
        sa.Column("read_at", sa.BigInteger, nullable=False),
        sa.Column("committed", sa.BigInteger, nullable=False),
        sa.Column("state", sa.Text),
        sa.PrimaryKeyConstraint("name", name="feeds_pk"),
    )
    op.create_table(
        "feed_segments",
        sa.Column("feed", sa.Text, nullable=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("first", sa.BigInteger, nullable=False),
        sa.Column("last", sa.BigInteger, nullable=False),
        sa.Column("opened_at", sa.BigInteger, nullable=False),
        sa.Column("closed_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("feed", "id", name="feed_segments_pk"),
    )
