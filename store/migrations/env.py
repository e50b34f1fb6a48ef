"""Alembic's entry: runs the migrations on the connection that store.migrate opened, in its transaction."""

from alembic import context

from store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite changes a table by rebuilding it
    transactional_ddl=True,
)
context.run_migrations()
