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
_INDEXES = {"masks": "masks_behind", "index_outbox": "index_outbox_pending"}


def upgrade() -> None:
    """Renames `masks` to `index_outbox`, and `answer` to `response`; older versions cannot run beside it."""
    _rename("masks", "index_outbox")
    op.execute("ALTER TABLE idempotency_keys RENAME COLUMN answer TO response")


def downgrade() -> None:
    """Gives both their former names."""
    op.execute("ALTER TABLE idempotency_keys RENAME COLUMN response TO answer")
    _rename("index_outbox", "masks")


def _rename(old: str, new: str) -> None:
    if op.get_context().dialect.name == "postgresql":
        op.rename_table(old, new)
        op.execute(f"ALTER TABLE {new} RENAME CONSTRAINT {old}_pk TO {new}_pk")
        op.execute(f"ALTER INDEX {_INDEXES[old]} RENAME TO {_INDEXES[new]}")
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
    rows = op.create_table(new, *columns, sa.PrimaryKeyConstraint("platform", "item", name=f"{new}_pk"))
    former = sa.table(old, *(sa.column(column.name) for column in columns))
    op.execute(rows.insert().from_select([column.name for column in columns], sa.select(former)))
    op.drop_table(old)
    op.create_index(_INDEXES[new], new, ["updated_at"], sqlite_where=_PENDING)
