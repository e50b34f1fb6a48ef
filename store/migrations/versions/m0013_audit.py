"""Names who made each change of an order, and adds the audit. Both only grow: triggers refuse to change a row."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0011"
branch_labels = None
depends_on = None

_TABLES = {
    "audit": ("id", "at", "actor", "actor_name", "action", "subject", "details"),
    # a reason may be erased with the personal data
    "order_events": ("order_id", "n", "state", "at", "actor", "actor_name"),
}
_REFUSAL = "rows of this table are never changed or deleted"


def upgrade() -> None:
    """Events until now keep no actor. On PostgreSQL orders are read, not written, while the index is built."""
    op.add_column("order_events", sa.Column("actor", sa.Text))
    op.add_column("order_events", sa.Column("actor_name", sa.Text))
    op.create_index("order_events_in_time", "order_events", ["at", "order_id", "n"])
    op.create_table(
        "audit",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("actor_name", sa.Text),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("details", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="audit_pk"),
    )
    op.create_index("audit_in_time", "audit", ["at", "id"])
    if op.get_context().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{_REFUSAL}' USING ERRCODE = 'check_violation'; END $$"
        )
    for table, columns in _TABLES.items():
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
