"""Adds what idempotency keys, order lists, the sandbox and erasure need."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_HOLDS = "state NOT IN ('failed', 'cancelled', 'reverted')"
_ACTIVE = sa.text(f"NOT sandbox AND {_HOLDS}")
_TRIED = sa.text(f"sandbox AND {_HOLDS}")
_PERSONAL = sa.text("email <> '' AND state IN ('completed', 'failed', 'cancelled', 'reverted')")

# name: the columns that an order is found by; time and id follow
_LISTS = {
    "orders_of_token_in_state": ["token_id", "state"],
    "orders_in_time": [],
    "orders_in_state": ["state"],
    "orders_of_account": ["account"],
    "orders_of_item": ["item"],
}


def upgrade() -> None:
    """Orders that are there already are real ones, and none of them has a digest: their retries need a key."""
    op.add_column("orders", sa.Column("sandbox", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("orders", sa.Column("body_digest", sa.Text))
    op.drop_index("orders_one_active", "orders")
    _make_claim("orders_one_active", ["platform", "item"], _ACTIVE)
    _make_claim("orders_one_tried", ["token_id", "platform", "item"], _TRIED)
    for name, columns in _LISTS.items():
        op.create_index(name, "orders", [*columns, "created_at", "id"])
    op.create_index("orders_personal", "orders", ["updated_at"], sqlite_where=_PERSONAL, postgresql_where=_PERSONAL)
    _make_keys()
    _make_moves()


def _make_claim(name: str, columns: list[str], where: sa.TextClause) -> None:
    op.create_index(name, "orders", columns, unique=True, sqlite_where=where, postgresql_where=where)


def _make_keys() -> None:
    op.create_table(
        "idempotency_keys",
        sa.Column("token_id", sa.Text, sa.ForeignKey("tokens.id", name="idempotency_keys_token"), nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("body_digest", sa.Text, nullable=False),
        sa.Column("order_id", sa.Text, sa.ForeignKey("orders.id", name="idempotency_keys_order")),
        sa.Column("answer", sa.Text),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("token_id", "key", name="idempotency_keys_pk"),
    )
    op.create_index("idempotency_keys_in_time", "idempotency_keys", ["created_at"])
    op.create_index("idempotency_keys_of_order", "idempotency_keys", ["order_id"])


def _make_moves() -> None:
    op.create_table(
        "sandbox_moves",
        sa.Column("order_id", sa.Text, sa.ForeignKey("orders.id", name="sandbox_moves_order"), nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("from_state", sa.Text, nullable=False),
        sa.Column("to_state", sa.Text, nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("due_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("order_id", "n", name="sandbox_moves_pk"),
    )
    op.create_index("sandbox_moves_due", "sandbox_moves", ["due_at"])
