"""Adds the terms that operators add to vocabularies."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """There are none yet."""
    op.create_table(
        "vocabulary_terms",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("platform", sa.Integer, nullable=False),
        sa.Column("term", sa.Text, nullable=False),
        sa.Column("author", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("removed_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="vocabulary_terms_pk"),
    )
