"""Names the outbox of the search index, and the responses stored for retries, by the field's words.

PostgreSQL renames at once. SQLite cannot rename a constraint, so its rows go into a new table.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_PENDING = sa.text("applied_version < version")


def upgrade() -> None:
    """Renames `masks` to `index_outbox`, and `answer` to `response`; older versions cannot run beside it."""
    _rename_outbox()
    op.execute("ALTER TABLE idempotency_keys RENAME COLUMN answer TO response")


def _rename_outbox() -> None:
    if op.get_context().dialect.name == "postgresql":
        op.rename_table("masks", "index_outbox")
        op.execute("ALTER TABLE index_outbox RENAME CONSTRAINT masks_pk TO index_outbox_pk")
        op.execute("ALTER INDEX masks_behind RENAME TO index_outbox_pending")
        return
    columns = [
        sa.Column("platform", sa.Integer, nullable=False),
        sa.Column("item", sa.BigInteger, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("applied_version", sa.BigInteger, nullable=False),
        sa.Column("leased_until", sa.BigInteger),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    ]
    key = sa.PrimaryKeyConstraint("platform", "item", name="index_outbox_pk")
    rows = op.create_table("index_outbox", *columns, key)
    former = sa.table("masks", *(sa.column(column.name) for column in columns))
    op.execute(rows.insert().from_select([column.name for column in columns], sa.select(former)))
    op.drop_table("masks")
    op.create_index("index_outbox_pending", "index_outbox", ["updated_at"], sqlite_where=_PENDING)
