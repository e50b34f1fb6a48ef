"""Adds callback deliveries, their attempts, and the previous webhook secret.

Orders placed before have no deliveries: nobody was told to expect any.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_PENDING = sa.text("state = 'pending'")


def upgrade() -> None:
    """Makes the two tables and gives each token room for the secret before."""
    op.create_table(
        "deliveries",
        sa.Column("order_id", sa.Text, nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("receiver", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        *(sa.Column(name, sa.BigInteger) for name in ("next_attempt_at", "leased_until", "last_attempt_at")),
        sa.PrimaryKeyConstraint("order_id", "n", name="deliveries_pk"),
        sa.ForeignKeyConstraint(
            ["order_id", "n"], ["order_events.order_id", "order_events.n"], name="deliveries_event"
        ),
        sa.CheckConstraint("state IN ('pending', 'delivered', 'failed')", name="deliveries_state"),
    )
    op.create_index(
        "deliveries_pending", "deliveries", ["next_attempt_at"], sqlite_where=_PENDING, postgresql_where=_PENDING
    )
    op.create_table(
        "delivery_attempts",
        sa.Column("order_id", sa.Text, nullable=False),
        *(sa.Column(name, sa.Integer, nullable=False) for name in ("n", "attempt")),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("status_code", sa.Integer),
        sa.Column("milliseconds", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("order_id", "n", "attempt", name="delivery_attempts_pk"),
        sa.ForeignKeyConstraint(
            ["order_id", "n"], ["deliveries.order_id", "deliveries.n"], name="delivery_attempts_delivery"
        ),
        sa.CheckConstraint(
            "outcome IN ('delivered', 'rejected', 'timeout', 'unreachable', 'refused')",
            name="delivery_attempts_outcome",
        ),
    )
    op.add_column("tokens", sa.Column("previous_webhook_secret", sa.Text))
    op.add_column("tokens", sa.Column("previous_webhook_secret_until", sa.BigInteger))
