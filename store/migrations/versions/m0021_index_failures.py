"""Adds how often an index update has failed by a fault of the service, so that none is tried for ever."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """None has failed so; an older version leaves the column alone."""
    op.add_column("index_outbox", sa.Column("failures", sa.Integer, nullable=False, server_default="0"))
