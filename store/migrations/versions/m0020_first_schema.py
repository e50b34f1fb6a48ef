"""The first schema, frozen: what `store/schema.py` has since then is added by the revisions after it.

Times are microseconds since 1970 in UTC. The 17 revisions up to this one were of no release and are joined here.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = None
branch_labels = None
depends_on = None

_STATES = "state IN ('created', 'processing', 'delivered', 'completed', 'failed', 'cancelled', 'reverted')"
_HOLDS = "state NOT IN ('failed', 'cancelled', 'reverted')"
_AT_ITS_END = "state NOT IN ('created', 'processing', 'delivered')"

_APPEND_ONLY = {
    "audit": ("id", "at", "actor", "actor_name", "action", "subject", "details"),
    # a reason may be erased with the personal data
    "order_events": ("order_id", "n", "state", "at", "actor", "actor_name"),
}
_REFUSAL = "rows of this table are never changed or deleted"


def upgrade() -> None:
    """Makes the tables, their indexes and their triggers."""
    _make_tokens()
    _make_orders()
    _index_orders()
    _make_order_events()
    _make_idempotency_keys()
    _make_sandbox_moves()
    _make_index_outbox()
    _make_deliveries()
    _make_audit()
    _make_vocabulary()
    _make_feeds()
    _make_saved_searches()


def _required(type_: type[sa.types.TypeEngine[Any]], *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, type_, nullable=False) for name in names]


def _optional(type_: type[sa.types.TypeEngine[Any]], *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, type_) for name in names]


def _make_index(name: str, table: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


def _make_tokens() -> None:
    op.create_table(
        "tokens",
        *_required(sa.Text, "id", "name", "sha256", "scopes"),
        *_required(sa.Boolean, "sandbox"),
        *_required(sa.Text, "webhook_secret"),
        *_required(sa.BigInteger, "created_at"),
        *_optional(sa.BigInteger, "expires_at", "revoked_at"),
        *_optional(sa.Text, "previous_webhook_secret"),
        *_optional(sa.BigInteger, "previous_webhook_secret_until", "callbacks_stopped_at"),
        sa.Column("callbacks_failed", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("max_active", sa.Integer, nullable=False, server_default="1000"),
        *_optional(sa.Integer, "max_active_per_account", "rate_limit"),
        *_optional(sa.Text, "filters", "origins"),
        *_optional(sa.BigInteger, "last_used_at"),
        sa.PrimaryKeyConstraint("id", name="tokens_pk"),
        sa.UniqueConstraint("sha256", name="tokens_sha256"),
    )
    op.create_table(
        "webhook_endpoints",
        *_required(sa.Text, "id", "token_id", "url"),
        *_required(sa.Boolean, "exact"),
        *_required(sa.Text, "secret"),
        *_optional(sa.Text, "previous_secret"),
        *_optional(sa.BigInteger, "previous_secret_until"),
        *_required(sa.BigInteger, "created_at"),
        sa.PrimaryKeyConstraint("id", name="webhook_endpoints_pk"),
        sa.ForeignKeyConstraint(["token_id"], ["tokens.id"], name="webhook_endpoints_token"),
        sa.UniqueConstraint("token_id", "url", name="webhook_endpoints_url"),
    )
    op.create_table(
        "signing_keys",
        *_required(sa.Text, "name", "value"),
        *_required(sa.BigInteger, "created_at"),
        sa.PrimaryKeyConstraint("name", name="signing_keys_pk"),
    )


def _make_orders() -> None:
    op.create_table(
        "orders",
        *_required(sa.Text, "id", "token_id", "state"),
        *_required(sa.Integer, "platform"),
        *_required(sa.BigInteger, "item"),
        *_required(sa.Text, "item_name"),
        *_optional(sa.Text, "item_image"),
        *_required(sa.Text, "account", "email"),
        *_optional(sa.Text, "platform_user_id", "trade_link", "code"),
        *_required(sa.Text, "fee_mode", "currency"),
        *_required(sa.BigInteger, "price_minor", "fee_minor", "total_minor"),
        *_optional(sa.Text, "utm_source", "utm_medium", "success_url", "failure_url", "callback_url"),
        *_required(sa.Text, "status_key"),
        *_required(sa.BigInteger, "created_at", "updated_at"),
        sa.Column("sandbox", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("body_digest", sa.Text),
        sa.Column("forget", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.PrimaryKeyConstraint("id", name="orders_pk"),
        sa.ForeignKeyConstraint(["token_id"], ["tokens.id"], name="orders_token"),
        sa.UniqueConstraint("status_key", name="orders_status_key"),
        sa.CheckConstraint(_STATES, name="orders_state"),
        sa.CheckConstraint("fee_mode IN ('excluded', 'included')", name="orders_fee_mode"),
        sa.CheckConstraint("price_minor >= 0 AND fee_minor >= 0 AND total_minor >= 0", name="orders_amounts"),
    )
    op.create_table(
        "held_items",
        *_required(sa.Integer, "platform"),
        *_required(sa.BigInteger, "item", "held_at"),
        sa.PrimaryKeyConstraint("platform", "item", name="held_items_pk"),
    )


def _index_orders() -> None:
    _make_index("orders_one_active", "orders", ["platform", "item"], f"NOT sandbox AND {_HOLDS}", unique=True)
    _make_index("orders_one_tried", "orders", ["token_id", "platform", "item"], f"sandbox AND {_HOLDS}", unique=True)
    lists = {
        "orders_of_token": ["token_id"],
        "orders_of_token_in_state": ["token_id", "state"],
        "orders_in_time": [],
        "orders_in_state": ["state"],
        "orders_of_account": ["account"],
        "orders_of_item": ["item"],
    }
    for name, columns in lists.items():
        op.create_index(name, "orders", [*columns, "created_at", "id"])
    _make_index("orders_personal_at_end", "orders", ["updated_at"], f"email <> '' AND {_AT_ITS_END}")
    _make_index("orders_to_forget_at_end", "orders", ["updated_at"], f"forget AND {_AT_ITS_END}")
    _make_index("orders_undelivered", "orders", ["token_id", "account"], "state IN ('created', 'processing')")


def _make_order_events() -> None:
    op.create_table(
        "order_events",
        *_required(sa.Text, "order_id"),
        *_required(sa.Integer, "n"),
        *_required(sa.Text, "state"),
        *_required(sa.BigInteger, "at"),
        *_optional(sa.Text, "reason", "actor", "actor_name"),
        sa.PrimaryKeyConstraint("order_id", "n", name="order_events_pk"),
        sa.ForeignKeyConstraint(["order_id"], ["orders.id"], name="order_events_order"),
        sa.CheckConstraint(_STATES, name="order_events_state"),
    )
    op.create_index("order_events_in_time", "order_events", ["at", "order_id", "n"])


def _make_idempotency_keys() -> None:
    op.create_table(
        "idempotency_keys",
        *_required(sa.Text, "token_id", "key", "body_digest"),
        *_optional(sa.Text, "order_id", "response"),
        *_required(sa.BigInteger, "created_at"),
        sa.Column("refusals", sa.Integer, nullable=False, server_default="0"),
        sa.PrimaryKeyConstraint("token_id", "key", name="idempotency_keys_pk"),
        sa.ForeignKeyConstraint(["token_id"], ["tokens.id"], name="idempotency_keys_token"),
        sa.ForeignKeyConstraint(["order_id"], ["orders.id"], name="idempotency_keys_order"),
    )
    op.create_index("idempotency_keys_in_time", "idempotency_keys", ["created_at"])
    op.create_index("idempotency_keys_of_order", "idempotency_keys", ["order_id"])
    _make_index("idempotency_keys_refused", "idempotency_keys", ["created_at"], "refusals > 0 AND response IS NULL")


def _make_sandbox_moves() -> None:
    op.create_table(
        "sandbox_moves",
        *_required(sa.Text, "order_id"),
        *_required(sa.Integer, "n"),
        *_required(sa.Text, "from_state", "to_state"),
        *_optional(sa.Text, "reason"),
        *_required(sa.BigInteger, "due_at"),
        sa.PrimaryKeyConstraint("order_id", "n", name="sandbox_moves_pk"),
        sa.ForeignKeyConstraint(["order_id"], ["orders.id"], name="sandbox_moves_order"),
    )
    op.create_index("sandbox_moves_due", "sandbox_moves", ["due_at"])


def _make_index_outbox() -> None:
    op.create_table(
        "index_outbox",
        *_required(sa.Integer, "platform"),
        *_required(sa.BigInteger, "item", "version", "applied_version"),
        *_optional(sa.BigInteger, "leased_until"),
        *_required(sa.Integer, "attempts"),
        *_required(sa.BigInteger, "updated_at"),
        sa.PrimaryKeyConstraint("platform", "item", name="index_outbox_pk"),
    )
    _make_index("index_outbox_pending", "index_outbox", ["updated_at"], "applied_version < version")


def _make_deliveries() -> None:
    op.create_table(
        "deliveries",
        *_required(sa.Text, "order_id"),
        *_required(sa.Integer, "n"),
        *_required(sa.Text, "receiver", "state"),
        *_required(sa.Integer, "tries"),
        *_optional(sa.BigInteger, "next_attempt_at", "leased_until", "last_attempt_at"),
        sa.PrimaryKeyConstraint("order_id", "n", name="deliveries_pk"),
        sa.CheckConstraint("state IN ('pending', 'delivered', 'failed')", name="deliveries_state"),
    )
    _make_index("deliveries_pending", "deliveries", ["next_attempt_at"], "state = 'pending'")
    op.create_table(
        "delivery_attempts",
        *_required(sa.Text, "order_id"),
        *_required(sa.Integer, "n", "attempt"),
        *_required(sa.BigInteger, "at"),
        *_required(sa.Text, "outcome"),
        *_optional(sa.Integer, "status_code"),
        *_required(sa.Integer, "milliseconds"),
        sa.PrimaryKeyConstraint("order_id", "n", "attempt", name="delivery_attempts_pk"),
        sa.ForeignKeyConstraint(
            ["order_id", "n"], ["deliveries.order_id", "deliveries.n"], name="delivery_attempts_delivery"
        ),
        sa.CheckConstraint(
            "outcome IN ('delivered', 'rejected', 'timeout', 'unreachable', 'refused')",
            name="delivery_attempts_outcome",
        ),
    )


def _make_audit() -> None:
    op.create_table(
        "audit",
        *_required(sa.Text, "id"),
        *_required(sa.BigInteger, "at"),
        *_required(sa.Text, "actor"),
        *_optional(sa.Text, "actor_name"),
        *_required(sa.Text, "action", "subject", "details"),
        sa.PrimaryKeyConstraint("id", name="audit_pk"),
    )
    op.create_index("audit_in_time", "audit", ["at", "id"])
    if op.get_context().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{_REFUSAL}' USING ERRCODE = 'check_violation'; END $$"
        )
    for table, columns in _APPEND_ONLY.items():
        _refuse_changes(table, f"UPDATE OF {', '.join(columns)}")


def _refuse_changes(table: str, update: str) -> None:
    if op.get_context().dialect.name == "postgresql":
        op.execute(
            f"CREATE TRIGGER {table}_append_only BEFORE {update} OR DELETE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION refuse_change()"
        )
        return
    for name, change in (("update", update), ("delete", "DELETE")):
        op.execute(
            f"CREATE TRIGGER {table}_no_{name} BEFORE {change} ON {table} BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
        )


def _make_vocabulary() -> None:
    op.create_table(
        "vocabulary_terms",
        *_required(sa.Text, "id"),
        *_required(sa.Integer, "platform"),
        *_required(sa.Text, "term"),
        *_optional(sa.Text, "author"),
        *_required(sa.BigInteger, "created_at"),
        *_optional(sa.BigInteger, "removed_at"),
        sa.PrimaryKeyConstraint("id", name="vocabulary_terms_pk"),
    )
    op.create_table(
        "unanswered_searches",
        *_required(sa.Text, "day"),
        *_required(sa.Integer, "platform"),
        *_required(sa.Text, "text", "reading"),
        *_required(sa.BigInteger, "count"),
        sa.PrimaryKeyConstraint("day", "platform", "text", "reading", name="unanswered_searches_pk"),
    )


def _make_feeds() -> None:
    op.create_table(
        "feeds",
        *_required(sa.Text, "name"),
        *_required(sa.Integer, "term"),
        *_optional(sa.Text, "owner"),
        *_optional(sa.BigInteger, "leased_until"),
        *_required(sa.BigInteger, "read_at", "committed"),
        *_optional(sa.Text, "state"),
        sa.PrimaryKeyConstraint("name", name="feeds_pk"),
    )
    op.create_table(
        "feed_segments",
        *_required(sa.Text, "feed", "id"),
        *_required(sa.BigInteger, "first", "last", "opened_at"),
        *_optional(sa.BigInteger, "closed_at"),
        sa.PrimaryKeyConstraint("feed", "id", name="feed_segments_pk"),
    )


def _make_saved_searches() -> None:
    op.create_table(
        "saved_searches",
        *_required(sa.Text, "id", "token_id", "name", "body", "body_digest", "callback_url"),
        *_required(sa.Boolean, "sandbox"),
        *_required(sa.BigInteger, "since"),
        *_required(sa.Integer, "matches"),
        *_required(sa.BigInteger, "created_at"),
        *_optional(sa.BigInteger, "gap_at", "removed_at"),
        sa.PrimaryKeyConstraint("id", name="saved_searches_pk"),
        sa.ForeignKeyConstraint(["token_id"], ["tokens.id"], name="saved_searches_token"),
    )
    _make_index("saved_searches_once", "saved_searches", ["token_id", "body_digest"], "removed_at IS NULL", unique=True)
    op.create_index("saved_searches_of_token", "saved_searches", ["token_id", "created_at", "id"])
    _make_index("saved_searches_to_erase", "saved_searches", ["removed_at"], "removed_at IS NOT NULL")
    op.create_table(
        "search_matches",
        *_required(sa.Text, "search_id"),
        *_required(sa.Integer, "n"),
        *_required(sa.BigInteger, "at"),
        *_required(sa.LargeBinary, "changes"),
        sa.PrimaryKeyConstraint("search_id", "n", name="search_matches_pk"),
        sa.ForeignKeyConstraint(["search_id"], ["saved_searches.id"], name="search_matches_search"),
    )
    op.create_index("search_matches_in_time", "search_matches", ["at"])
    op.create_table(
        "search_matchers",
        *_required(sa.Text, "name"),
        *_optional(sa.Text, "owner"),
        *_optional(sa.BigInteger, "leased_until"),
        *_optional(sa.Text, "segment"),
        *_required(sa.BigInteger, "seq"),
        sa.PrimaryKeyConstraint("name", name="search_matchers_pk"),
    )
