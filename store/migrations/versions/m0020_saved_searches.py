"""Adds saved searches, what they match, and their callbacks in the outbox of those of orders.

A row of `deliveries` is an order's event or a search's matches, so its reference to the event goes.
"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_PENDING = sa.text("state = 'pending'")
_LIVE = sa.text("removed_at IS NULL")
_REMOVED = sa.text("removed_at IS NOT NULL")


def upgrade() -> None:
    """There are none yet. SQLite's outbox is written anew, because it changes no constraint of a table."""
    op.create_table(
        "saved_searches",
        *(sa.Column(name, sa.Text, nullable=False) for name in ("id", "token_id", "name", "body", "body_digest")),
        sa.Column("callback_url", sa.Text, nullable=False),
        sa.Column("sandbox", sa.Boolean, nullable=False),
        sa.Column("since", sa.BigInteger, nullable=False),
        sa.Column("matches", sa.Integer, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        *(sa.Column(name, sa.BigInteger) for name in ("gap_at", "removed_at")),
        sa.PrimaryKeyConstraint("id", name="saved_searches_pk"),
        sa.ForeignKeyConstraint(["token_id"], ["tokens.id"], name="saved_searches_token"),
    )
    op.create_index(
        "saved_searches_once",
        "saved_searches",
        ["token_id", "body_digest"],
        unique=True,
        sqlite_where=_LIVE,
        postgresql_where=_LIVE,
    )
    op.create_index("saved_searches_of_token", "saved_searches", ["token_id", "created_at", "id"])
    op.create_index(
        "saved_searches_to_erase",
        "saved_searches",
        ["removed_at"],
        sqlite_where=_REMOVED,
        postgresql_where=_REMOVED,
    )
    op.create_table(
        "search_matches",
        sa.Column("search_id", sa.Text, nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("changes", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("search_id", "n", name="search_matches_pk"),
        sa.ForeignKeyConstraint(["search_id"], ["saved_searches.id"], name="search_matches_search"),
    )
    op.create_index("search_matches_in_time", "search_matches", ["at"])
    op.create_table(
        "search_matchers",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("owner", sa.Text),
        sa.Column("leased_until", sa.BigInteger),
        sa.Column("segment", sa.Text),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("name", name="search_matchers_pk"),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.drop_constraint("deliveries_event", "deliveries", type_="foreignkey")
    else:
        _rewrite_deliveries()


def _rewrite_deliveries() -> None:
    op.create_table(
        "deliveries_new",
        sa.Column("order_id", sa.Text, nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("receiver", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        *(sa.Column(name, sa.BigInteger) for name in ("next_attempt_at", "leased_until", "last_attempt_at")),
        sa.PrimaryKeyConstraint("order_id", "n", name="deliveries_pk"),
        sa.CheckConstraint("state IN ('pending', 'delivered', 'failed')", name="deliveries_state"),
    )
    op.execute("INSERT INTO deliveries_new SELECT * FROM deliveries")
    op.drop_table("deliveries")
    op.rename_table("deliveries_new", "deliveries")
    op.create_index("deliveries_pending", "deliveries", ["next_attempt_at"], sqlite_where=_PENDING)
