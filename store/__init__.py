"""All SQL: the schema, its migrations, and in sub-packages what reads and writes it. A statement goes to the folder or
the module of its table.
"""
