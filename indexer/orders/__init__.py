"""Items that orders bind, marked in the index and compared with the store."""
