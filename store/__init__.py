"""All SQL: the schema, its migrations, and in sub-packages what reads and writes it."""
