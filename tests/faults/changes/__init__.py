"""Faults below the change feed: servers that are killed under its readers."""
