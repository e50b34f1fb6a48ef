"""Items that orders claim in the store, bound in the index. What binds them, or finds a wrong one, goes here."""
