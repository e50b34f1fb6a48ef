"""Faults of the databases below the store."""
