"""Alembic's entry: runs the migrations on the connection that store.migrate opened, in its transaction."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
context.run_migrations()
