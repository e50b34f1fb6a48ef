"""All SQL: orders, claims, tokens and what is still to be told to the index."""
