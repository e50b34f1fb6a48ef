"""All SQL: the schema, its migrations, and in sub-packages what reads and writes it. A statement goes to the folder or
the module of its table. INSERT … ON CONFLICT is PostgreSQL's construct for both: SQLite has the same, word for word.
"""
