"""The first schema: tokens, orders, their events, and the outbox of the search index (then `masks`)."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_STATES = "state IN ('created', 'processing', 'delivered', 'completed', 'failed', 'cancelled', 'reverted')"
_ACTIVE = sa.text("state NOT IN ('failed', 'cancelled', 'reverted')")
_PENDING = sa.text("applied_version < version")


def upgrade() -> None:
    """Makes the tables. Times are microseconds since 1970 in UTC."""
    _make_tokens()
    _make_orders()
    op.create_table(
        "order_events",
        sa.Column("order_id", sa.Text, sa.ForeignKey("orders.id", name="order_events_order"), nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("reason", sa.Text),
        sa.PrimaryKeyConstraint("order_id", "n", name="order_events_pk"),
        sa.CheckConstraint(_STATES, name="order_events_state"),
    )
    op.create_table(
        "masks",
        sa.Column("platform", sa.Integer, nullable=False),
        sa.Column("item", sa.BigInteger, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("applied_version", sa.BigInteger, nullable=False),
        sa.Column("leased_until", sa.BigInteger),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("platform", "item", name="masks_pk"),
    )
    op.create_index("masks_behind", "masks", ["updated_at"], sqlite_where=_PENDING, postgresql_where=_PENDING)


def _make_tokens() -> None:
    op.create_table(
        "tokens",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("sandbox", sa.Boolean, nullable=False),
        sa.Column("webhook_secret", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger),
        sa.Column("revoked_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="tokens_pk"),
        sa.UniqueConstraint("sha256", name="tokens_sha256"),
    )


def _make_orders() -> None:
    op.create_table(
        "orders",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("token_id", sa.Text, sa.ForeignKey("tokens.id", name="orders_token"), nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("platform", sa.Integer, nullable=False),
        sa.Column("item", sa.BigInteger, nullable=False),
        sa.Column("item_name", sa.Text, nullable=False),
        sa.Column("item_image", sa.Text),
        sa.Column("account", sa.Text, nullable=False),
        sa.Column("email", sa.Text, nullable=False),
        *(sa.Column(name, sa.Text) for name in ("platform_user_id", "trade_link", "code")),
        sa.Column("fee_mode", sa.Text, nullable=False),
        sa.Column("currency", sa.Text, nullable=False),
        *(sa.Column(f"{name}_minor", sa.BigInteger, nullable=False) for name in ("price", "fee", "total")),
        *(sa.Column(f"utm_{name}", sa.Text) for name in ("source", "medium")),
        *(sa.Column(f"{name}_url", sa.Text) for name in ("success", "failure", "callback")),
        sa.Column("status_key", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="orders_pk"),
        sa.UniqueConstraint("status_key", name="orders_status_key"),
        sa.CheckConstraint(_STATES, name="orders_state"),
        sa.CheckConstraint("fee_mode IN ('excluded', 'included')", name="orders_fee_mode"),
        sa.CheckConstraint("price_minor >= 0 AND fee_minor >= 0 AND total_minor >= 0", name="orders_amounts"),
    )
    op.create_index(
        "orders_one_active",
        "orders",
        ["platform", "item"],
        unique=True,
        sqlite_where=_ACTIVE,
        postgresql_where=_ACTIVE,
    )
    op.create_index("orders_of_token", "orders", ["token_id", "created_at", "id"])
