"""Connections to each kind of database, its files, and encryption."""
